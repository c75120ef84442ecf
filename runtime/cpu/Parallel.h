//===- Parallel.h - threads of the process's one OpenMP runtime --------------===//
#pragma once
#include <cstdint>

namespace hybrid::rt {

/// Number of CPUs this process may run on.
int availableThreads();
/// Tells the OpenMP runtime (and with it the matrix library) how many threads to use from this
/// thread on.
void setThreads(int threads);

using RangeFunction = void (*)(void *context, int64_t lo, int64_t hi, int thread);
/// Splits [0, count) into one contiguous range a thread. The split depends on count and threads
/// only.
void parallelRanges(int64_t count, int threads, RangeFunction function, void *context);

template <typename Function> void parallelFor(int64_t count, int threads, Function &&function) {
  parallelRanges(
      count, threads,
      [](void *context, int64_t lo, int64_t hi, int thread) {
        (*static_cast<Function *>(context))(lo, hi, thread);
      },
      &function);
}

} // namespace hybrid::rt
