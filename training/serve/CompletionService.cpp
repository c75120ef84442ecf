//===- CompletionService.cpp - completions of several clients at once ---------------===//
#include "training/serve/CompletionService.h"
#include <algorithm>
#include <utility>

namespace hybrid::rt {

/// What client and service share; the service's lock guards all that is not only the thread's.
struct CompletionService::Job::Work {
  const CompletionRequest request;
  // The thread's alone.
  std::optional<CompletionSequence> sequence; // the one in work
  size_t next = 0;                            // number of the one behind it
  NextToken::Place place; // of the sequence, while it is neither in the model nor in a row
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

static ServiceLimits withinRows(ServiceLimits limits, TokenRows *rows) {
  if (rows)
    limits.inWork = std::min(limits.inWork, static_cast<size_t>(rows->rows()));
  return limits;
}

CompletionService::CompletionService(LanguageModel &model, const ServiceLimits &given)
    : model(model), limits(withinRows(given, model.rows())),
      rows(model.rows() ? static_cast<size_t>(model.rows()->rows()) : 0),
      thread([this] { run(); }) {}

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

CompletionService::WorkList CompletionService::choose() {
  auto isOver = [this](const std::shared_ptr<Job::Work> &work) {
    const bool over = work->isEnded || work->isGivenUp;
    if (over && current == work.get())
      current = nullptr;
    if (over)
      std::replace(rows.begin(), rows.end(), work.get(), static_cast<Job::Work *>(nullptr));
    return over;
  };
  std::erase_if(waiting, isOver);
  inWork.remove_if(isOver);
  while (inWork.size() < limits.inWork && !waiting.empty()) {
    inWork.push_back(std::move(waiting.front()));
    waiting.pop_front();
  }
  WorkList able;
  std::copy_if(inWork.begin(), inWork.end(), std::back_inserter(able),
               [this](const auto &work) { return work->bytes < limits.bytesHeld; });
  return able;
}

void CompletionService::run() {
  std::unique_lock lock(mutex);
  while (!isStopped) {
    const WorkList works = choose();
    if (works.empty()) {
      changed.wait(lock);
      continue;
    }
    lock.unlock();
    cycle(works);
    lock.lock();
  }
}

void CompletionService::cycle(const WorkList &works) {
  const bool isAlone = works.size() == 1; // a step of one row is less than one of all rows
  auto asks = std::find_if(works.begin(), works.end(), [&](const auto &work) {
    return !work->sequence || (!work->sequence->isAhead() && (isAlone || !canStep(*work)));
  });
  if (asks != works.end()) {
    askModel(**asks);
    const std::lock_guard lock(mutex);
    inWork.remove(*asks); // to the end of the line
    inWork.push_back(*asks);
  }
  for (const auto &work : works)
    if (work->sequence && work->sequence->isAhead())
      add(*work);
  if (!isAlone && !rows.empty())
    step(works);
}

void CompletionService::deliver(Job::Work &work, CompletionPiece piece) {
  const bool isLast = piece.finish != nullptr;
  if (isLast) {
    work.sequence.reset();
    work.place = {};
    std::replace(rows.begin(), rows.end(), &work, static_cast<Job::Work *>(nullptr));
  }
  const std::lock_guard lock(mutex);
  work.bytes += bytesOf(piece);
  work.pieces.push_back(std::move(piece));
  if (isLast && work.next == work.request.sequences())
    end(work, std::nullopt);
  changed.notify_all();
}

void CompletionService::fail(Job::Work &work, Error error) {
  const std::lock_guard lock(mutex);
  end(work, std::move(error));
  changed.notify_all();
}

//===-- one by one -------------------------------------------------------------------===//

Result<void> CompletionService::goTo(Job::Work &work) {
  if (current == &work)
    return {};
  if (auto left = leaveModel(); !left)
    return left;
  if (auto left = leaveRow(work); !left)
    return left;
  if (work.sequence)
    if (auto there = model.restore(work.place); !there)
      return there; // the model is at no text's place
  current = &work;
  return {};
}

Result<void> CompletionService::leaveModel() {
  Job::Work *work = std::exchange(current, nullptr);
  if (!work || !work->sequence)
    return {};
  auto place = model.save();
  if (!place)
    return place.error();
  work->place = std::move(*place);
  return {};
}

void CompletionService::askModel(Job::Work &work) {
  if (auto there = goTo(work); !there)
    return fail(work, there.error());
  if (!work.sequence) {
    auto begun = CompletionSequence::begin(work.request, work.next++, model.tokenizer());
    if (!begun)
      return fail(work, begun.error());
    work.sequence.emplace(std::move(*begun));
    model.restart();
  }
  auto piece = work.sequence->expect(model);
  if (!piece)
    return fail(work, piece.error());
  work.place = model.where();
  if (*piece)
    deliver(work, std::move(**piece));
}

void CompletionService::add(Job::Work &work) {
  auto piece = work.sequence->add();
  if (!piece)
    return fail(work, piece.error());
  deliver(work, std::move(*piece));
}

//===-- together -----------------------------------------------------------------------===//

bool CompletionService::canStep(const Job::Work &work) const {
  return !rows.empty() && !work.sequence->isReading() && model.rows()->hasRoom(work.place);
}

/// While a text is in a row, as in the model, its place has no states but the number of its
/// position.
Result<void> CompletionService::enterRow(Job::Work &work) {
  if (std::find(rows.begin(), rows.end(), &work) != rows.end())
    return {};
  if (current == &work)
    if (auto left = leaveModel(); !left)
      return left;
  auto free = std::find(rows.begin(), rows.end(), nullptr); // as many are in work as there are rows
  if (auto put = model.rows()->put(free - rows.begin(), work.place); !put)
    return put;
  *free = &work;
  work.place.states.states.clear();
  return {};
}

Result<void> CompletionService::leaveRow(Job::Work &work) {
  auto row = std::find(rows.begin(), rows.end(), &work);
  if (row == rows.end())
    return {};
  auto place = model.rows()->save(row - rows.begin());
  if (!place)
    return place.error();
  work.place = std::move(*place);
  *row = nullptr;
  return {};
}

void CompletionService::step(const WorkList &works) {
  std::vector<std::optional<int32_t>> tokens(rows.size());
  bool isAny = false;
  for (const auto &work : works) {
    if (!work->sequence || work->sequence->isAhead() || !canStep(*work))
      continue;
    if (auto entered = enterRow(*work); !entered) {
      fail(*work, entered.error());
      continue;
    }
    const auto row = std::find(rows.begin(), rows.end(), work.get()) - rows.begin();
    tokens[static_cast<size_t>(row)] = work->sequence->last();
    isAny = true;
  }
  if (!isAny)
    return;
  for (size_t row = 0; row < rows.size(); ++row) // what stands still would lose its place
    if (Job::Work *work = rows[row]; work && !tokens[row])
      if (auto left = leaveRow(*work); !left)
        fail(*work, left.error());
  auto stepped = model.rows()->step(tokens, [&](int64_t row, std::span<const double> logits) {
    Job::Work &work = *rows[static_cast<size_t>(row)];
    ++work.place.states.position;
    auto read = model.readRow(logits);
    if (read)
      work.sequence->give(*read);
    else
      fail(work, read.error());
  });
  if (!stepped)
    for (size_t row = 0; row < rows.size(); ++row)
      if (tokens[row])
        fail(*rows[row], stepped.error());
}

} // namespace hybrid::rt
