//===- Waiting.h - waiting for a condition, with any C++ library ------------------===//
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace hybrid::rt {

/// condition.wait(lock, predicate). That function itself came with GCC 12 (GLIBCXX_3.4.30), and
/// programs are to run on systems of GCC 11; wait_for() is in the header.
template <typename Predicate>
void waitFor(std::condition_variable &condition, std::unique_lock<std::mutex> &lock,
             Predicate predicate) {
  while (!condition.wait_for(lock, std::chrono::hours(1), predicate))
    continue;
}

} // namespace hybrid::rt
