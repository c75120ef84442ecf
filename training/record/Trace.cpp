//===- Trace.cpp - where the time of a training goes ---------------------------------===//
#include "training/record/Trace.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/Json.h"

namespace hybrid::rt {
namespace {

constexpr int loopThread = 1, operationThread = 2; // rows of the picture
constexpr size_t mostEvents = 1'000'000;           // a viewer takes no more

double secondsOf(Trace::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

} // namespace

void Trace::beginStep(int64_t number) {
  step = number;
  ++seen;
}

void Trace::add(const char *name, Clock::time_point begin) {
  event(name, loopThread, begin, secondsOf(Clock::now() - begin), nlohmann::json::object());
}

void Trace::addProgram(const char *name, Clock::time_point begin,
                       std::span<const Session::StepTime> operations) {
  add(name, begin);
  Clock::time_point at = begin;
  for (const Session::StepTime &operation : operations) {
    event(operation.op, operationThread, at, operation.seconds, {{"location", operation.location}});
    at += std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(operation.seconds));
  }
}

/// Times in microseconds, as the format has them ("Trace Event Format", complete events).
void Trace::event(const std::string &name, int thread, Clock::time_point begin, double seconds,
                  nlohmann::json about) {
  if (events.size() >= mostEvents)
    return;
  about["step"] = step;
  events.push_back({{"name", name},
                    {"cat", thread == loopThread ? "loop" : "operation"},
                    {"ph", "X"},
                    {"ts", secondsOf(begin - zero) * 1e6},
                    {"dur", seconds * 1e6},
                    {"pid", 1},
                    {"tid", thread},
                    {"args", std::move(about)}});
}

Result<void> Trace::write(const std::string &path) const {
  nlohmann::json all = events;
  for (auto [thread, name] : {std::pair(loopThread, "training"), {operationThread, "operations"}})
    all.push_back({{"name", "thread_name"},
                   {"ph", "M"},
                   {"pid", 1},
                   {"tid", thread},
                   {"args", {{"name", name}}}});
  const nlohmann::json document = {{"traceEvents", std::move(all)}, {"displayTimeUnit", "ms"}};
  return writeFileAtomically(path, jsonLine(document) + "\n");
}

} // namespace hybrid::rt
