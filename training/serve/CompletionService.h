//===- CompletionService.h - completions of several clients at once ----------------===//
//
// One thread owns the model. Requests that are in work take turns, a token or a part of a prompt
// each; the model's states of the others wait in memory. A client that does not take its pieces is
// passed over once some wait for it, and holds up nobody else.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/serve/CompletionSequence.h"
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

namespace hybrid::rt {

struct ServiceLimits {
  size_t inWork = 8;                  // requests that take turns
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
  void run();
  /// The one whose turn it is; null: none can go on. The lock is held.
  std::shared_ptr<Job::Work> choose();
  void turn(Job::Work &work);
  void end(Job::Work &work, std::optional<Error> fault);
  Result<void> goTo(Job::Work &work);

  LanguageModel &model;
  const ServiceLimits limits;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Job::Work>> waiting;
  std::list<std::shared_ptr<Job::Work>> inWork; // the one whose turn it is first
  Job::Work *current = nullptr;                 // whose text the model is at
  bool isStopped = false;
  std::thread thread;
};

} // namespace hybrid::rt
