//===- CompletionService.h - completions of several clients at once ----------------===//
//
// One thread owns the model. Requests in work take turns to read their prompts, a part each; then
// they go on together, each in a row of the model and all by a token at a time, whenever each of
// them began; one that is alone stays in the model that reads. A model without rows, and a text
// that is too long for one, takes turns for every token; the model's states of the others wait in
// memory. A client that does not take its pieces is passed over once some wait for it, and holds up
// nobody else.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/serve/CompletionSequence.h"
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace hybrid::rt {

struct ServiceLimits {
  size_t inWork = 8;                  // requests that go on together, or as many as there are rows
  size_t waiting = 64;                // requests behind them
  size_t bytesHeld = size_t{1} << 18; // of pieces that a streaming client has not taken
};

class CompletionService {
public:
  /// The model is this object's alone until it is gone.
  CompletionService(LanguageModel &model, const ServiceLimits &limits);
  /// Ends what is in work.
  ~CompletionService();

  /// A request in work or waiting. Whoever lets go of it gives it up.
  class Job {
  public:
    ~Job();
    /// The next piece; waits for it. False: there are no more, and failure() says whether that is
    /// the end.
    bool next(CompletionPiece &piece);
    const std::optional<Error> &failure() const { return fault; }
    const CompletionRequest &request() const;

  private:
    friend class CompletionService;
    struct Work;
    Job(CompletionService &service, std::shared_ptr<Work> work)
        : service(service), work(std::move(work)) {}
    CompletionService &service;
    std::shared_ptr<Work> work;
    std::optional<Error> fault;
  };

  /// Null: too many wait already, or the service ends.
  std::unique_ptr<Job> submit(CompletionRequest request);
  size_t requests() const;
  /// Fails all requests, and takes no more.
  void stop();

private:
  using WorkList = std::list<std::shared_ptr<Job::Work>>;
  void run();
  /// Those that can go on, in the order of their turns. The lock is held.
  WorkList choose();
  /// Lets each of them go on: one by the model, and by a token those that know what is expected.
  void cycle(const WorkList &works);
  void askModel(Job::Work &work);
  void add(Job::Work &work);
  void step(const WorkList &works);
  bool canStep(const Job::Work &work) const;
  void deliver(Job::Work &work, CompletionPiece piece);
  void fail(Job::Work &work, Error error);
  void end(Job::Work &work, std::optional<Error> fault);
  Result<void> goTo(Job::Work &work);
  Result<void> leaveModel();
  Result<void> enterRow(Job::Work &work);
  Result<void> leaveRow(Job::Work &work);

  LanguageModel &model;
  const ServiceLimits limits;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Job::Work>> waiting;
  WorkList inWork;               // the one whose turn it is first
  Job::Work *current = nullptr;  // whose text the model is at
  std::vector<Job::Work *> rows; // whose text a row of the model is at; null: nobody's
  bool isStopped = false;
  std::thread thread;
};

} // namespace hybrid::rt
