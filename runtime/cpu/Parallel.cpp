//===- Parallel.cpp - threads of the process's one OpenMP runtime ------------===//
//
// oneDNN comes linked with GNU's libgomp. Clang's own -fopenmp would bring a second runtime with a
// second pool of threads, so its entry points are called directly: they are the stable interface
// GCC compiles parallel regions to.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Parallel.h"
#include <sched.h>

extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
void omp_set_num_threads(int threads);
}

namespace hybrid::rt {

int availableThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
  return 1;
}

void setThreads(int threads) { omp_set_num_threads(threads); }

namespace {
struct Region {
  int64_t count;
  RangeFunction function;
  void *context;
};

void runRegion(void *data) {
  auto *region = static_cast<Region *>(data);
  int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
  int64_t lo = region->count * thread / threads, hi = region->count * (thread + 1) / threads;
  if (lo < hi)
    region->function(region->context, lo, hi, static_cast<int>(thread));
}
} // namespace

void parallelRanges(int64_t count, int threads, RangeFunction function, void *context) {
  if (threads > count)
    threads = static_cast<int>(count);
  if (threads <= 1) {
    if (count > 0)
      function(context, 0, count, 0);
    return;
  }
  Region region{count, function, context};
  GOMP_parallel(runRegion, &region, static_cast<unsigned>(threads), 0);
}

} // namespace hybrid::rt
