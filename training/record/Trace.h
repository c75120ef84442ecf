//===- Trace.h - where the time of a training goes -----------------------------------===//
//
// Spans of time as a trace that chrome://tracing and Perfetto show: what the loop does, and below
// it the operations of the programs, as the session measures them. Programs run as they always do,
// but one at a time; the trace knows nothing of what it shows.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Session.h"
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

class Trace {
public:
  using Clock = std::chrono::steady_clock;

  /// Of `steps` steps behind the first `ignored`, which warm caches, and of what is done between
  /// any.
  Trace(int64_t ignored, int64_t steps) : ignored(ignored), wanted(steps) {}

  /// A step of the run begins, counted from 1.
  void beginStep(int64_t step);
  /// Whether the operations of this step are wanted.
  bool wantsOperations() const { return seen > ignored && seen <= ignored + wanted; }
  /// Something that was done from `begin` until now.
  void add(const char *name, Clock::time_point begin);
  /// A program that ran from `begin` until now, and its operations one behind the other.
  void addProgram(const char *name, Clock::time_point begin,
                  std::span<const Session::StepTime> operations);

  /// Writes the file whole or not at all.
  Result<void> write(const std::string &path) const;

private:
  void event(const std::string &name, int thread, Clock::time_point begin, double seconds,
             nlohmann::json about);

  int64_t ignored, wanted, seen = 0, step = 0;
  Clock::time_point zero = Clock::now();
  nlohmann::json events = nlohmann::json::array();
};

} // namespace hybrid::rt
