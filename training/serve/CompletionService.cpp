//===- CompletionService.cpp - completions of several clients at once ---------------===//
#include "training/serve/CompletionService.h"
#include <algorithm>

namespace hybrid::rt {

/// What client and service share; the service's lock guards all that is not only the thread's.
struct CompletionService::Job::Work {
  const CompletionRequest request;
  // The thread's alone.
  std::optional<CompletionSequence> sequence; // the one in work
  size_t next = 0;                            // number of the one behind it
  NextToken::Place place;                     // of the sequence, while the model is elsewhere
  // Shared.
  std::deque<CompletionPiece> pieces;
  size_t bytes = 0; // of them, about
  bool isEnded = false, isGivenUp = false;
  std::optional<Error> fault;
};

static size_t bytesOf(const CompletionPiece &piece) {
  size_t bytes = sizeof(piece) + piece.text.size();
  for (const TokenEntry &entry : piece.entries)
    bytes += sizeof(entry) + entry.top.size() * sizeof(entry.top[0]);
  return bytes;
}

CompletionService::CompletionService(LanguageModel &model, const ServiceLimits &limits)
    : model(model), limits(limits), thread([this] { run(); }) {}

CompletionService::~CompletionService() {
  stop();
  thread.join();
}

void CompletionService::stop() {
  const std::lock_guard lock(mutex);
  isStopped = true;
  const Error fault{"the server was stopped"};
  for (const auto &work : waiting)
    end(*work, fault);
  for (const auto &work : inWork)
    end(*work, fault);
  waiting.clear();
  changed.notify_all();
}

size_t CompletionService::requests() const {
  const std::lock_guard lock(mutex);
  return waiting.size() + inWork.size();
}

std::unique_ptr<CompletionService::Job> CompletionService::submit(CompletionRequest request) {
  const std::lock_guard lock(mutex);
  if (isStopped || waiting.size() >= limits.waiting)
    return nullptr;
  auto work = std::make_shared<Job::Work>(std::move(request));
  waiting.push_back(work);
  changed.notify_all();
  return std::unique_ptr<Job>(new Job(*this, std::move(work)));
}

CompletionService::Job::~Job() {
  const std::lock_guard lock(service.mutex);
  work->isGivenUp = true;
  work->pieces.clear();
  service.changed.notify_all();
}

const CompletionRequest &CompletionService::Job::request() const { return work->request; }

bool CompletionService::Job::next(CompletionPiece &piece) {
  std::unique_lock lock(service.mutex);
  service.changed.wait(lock, [&] { return !work->pieces.empty() || work->isEnded; });
  fault = work->fault;
  if (work->pieces.empty())
    return false;
  piece = std::move(work->pieces.front());
  work->pieces.pop_front();
  work->bytes -= bytesOf(piece);
  service.changed.notify_all();
  return true;
}

void CompletionService::end(Job::Work &work, std::optional<Error> fault) {
  if (work.isEnded)
    return;
  work.isEnded = true;
  work.fault = std::move(fault);
}

std::shared_ptr<CompletionService::Job::Work> CompletionService::choose() {
  auto isOver = [this](const std::shared_ptr<Job::Work> &work) {
    const bool over = work->isEnded || work->isGivenUp;
    if (over && current == work.get())
      current = nullptr;
    return over;
  };
  std::erase_if(waiting, isOver);
  inWork.remove_if(isOver);
  while (inWork.size() < limits.inWork && !waiting.empty()) {
    inWork.push_back(std::move(waiting.front()));
    waiting.pop_front();
  }
  auto found = std::find_if(inWork.begin(), inWork.end(),
                            [this](const auto &work) { return work->bytes < limits.bytesHeld; });
  if (found == inWork.end())
    return nullptr;
  inWork.splice(inWork.end(), inWork, found); // to the end of the line
  return inWork.back();
}

void CompletionService::run() {
  std::unique_lock lock(mutex);
  while (!isStopped) {
    const std::shared_ptr<Job::Work> work = choose();
    if (!work) {
      changed.wait(lock);
      continue;
    }
    lock.unlock();
    turn(*work);
    lock.lock();
  }
}

Result<void> CompletionService::goTo(Job::Work &work) {
  if (current == &work)
    return {};
  if (current) {
    auto place = model.save();
    if (!place)
      return place.error();
    current->place = std::move(*place);
  }
  current = &work;
  if (work.sequence)
    return model.restore(work.place);
  return {};
}

void CompletionService::turn(Job::Work &work) {
  auto fail = [&](Error error) {
    const std::lock_guard lock(mutex);
    end(work, std::move(error));
    changed.notify_all();
  };
  if (auto there = goTo(work); !there)
    return fail(there.error());
  if (!work.sequence) {
    auto begun = CompletionSequence::begin(work.request, work.next++, model.tokenizer());
    if (!begun)
      return fail(begun.error());
    work.sequence.emplace(std::move(*begun));
    model.restart();
  }
  auto piece = work.sequence->turn(model);
  if (!piece)
    return fail(piece.error());
  if (!*piece)
    return;
  const bool isLast = (*piece)->finish != nullptr;
  if (isLast)
    work.sequence.reset();
  const std::lock_guard lock(mutex);
  work.bytes += bytesOf(**piece);
  work.pieces.push_back(std::move(**piece));
  if (isLast && work.next == work.request.sequences())
    end(work, std::nullopt);
  changed.notify_all();
}

} // namespace hybrid::rt
