//===- MachineCeilings.cpp - what this machine can compute and move at most -------------===//
//
// Arithmetic from registers (f32 FMA; bf16 dot products where the CPU has them), and bytes read or
// copied from working sets that fit in L2, in L3, or in neither. One thread, then all.
// `benchmarks/run` writes what is measured here beside what the ops reach.
//
//===------------------------------------------------------------------------------------===//
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <thread>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

namespace {

// Vectors of the widest registers; enough of them to hide the latency of two FMA units.
#ifdef __AVX512F__
constexpr int lanes = 16;
#else
constexpr int lanes = 8;
#endif
constexpr int chains = 12, repeats = 1000;
typedef float Vector __attribute__((vector_size(lanes * sizeof(float))));

void rate(benchmark::State &state, const char *name, double perIteration) {
  state.counters[name] = benchmark::Counter(perIteration * static_cast<double>(state.iterations()),
                                            benchmark::Counter::kIsRate);
}

void fmaF32(benchmark::State &state) {
  Vector sum[chains] = {}, a = Vector{} + 0.5f, b = Vector{} + 1e-3f;
  benchmark::DoNotOptimize(a);
  benchmark::DoNotOptimize(b);
  for (auto _ : state) {
    for (int i = 0; i < repeats; ++i)
      for (int c = 0; c < chains; ++c)
        sum[c] = sum[c] * a + b;
    for (int c = 0; c < chains; ++c)
      benchmark::DoNotOptimize(sum[c]);
  }
  rate(state, "flops", 2.0 * repeats * chains * lanes);
}

#ifdef __AVX512BF16__
void dotBF16(benchmark::State &state) {
  __m512 sum[chains] = {};
  __m512bh a = (__m512bh)_mm512_set1_epi16(0x3c00), b = a;
  benchmark::DoNotOptimize(a);
  benchmark::DoNotOptimize(b);
  for (auto _ : state) {
    for (int i = 0; i < repeats; ++i)
      for (int c = 0; c < chains; ++c)
        sum[c] = _mm512_dpbf16_ps(sum[c], a, b);
    for (int c = 0; c < chains; ++c)
      benchmark::DoNotOptimize(sum[c]);
  }
  rate(state, "flops", 4.0 * repeats * chains * 16);
}
#endif

struct Free {
  void operator()(float *at) const { std::free(at); }
};

/// Floats of this thread alone, on huge pages where the system has them.
struct WorkingSet {
  int64_t count;
  std::unique_ptr<float, Free> memory;

  explicit WorkingSet(int64_t bytes) : count(bytes / static_cast<int64_t>(sizeof(float))) {
    constexpr size_t hugePage = size_t{1} << 21;
    size_t size = (static_cast<size_t>(bytes) + hugePage - 1) / hugePage * hugePage;
    memory.reset(static_cast<float *>(std::aligned_alloc(hugePage, size)));
#ifdef MADV_HUGEPAGE
    madvise(memory.get(), size, MADV_HUGEPAGE);
#endif
    std::fill_n(memory.get(), count, 1.0f);
  }
};

void readMemory(benchmark::State &state) {
  WorkingSet set(state.range(0) * 1024);
  for (auto _ : state) {
    Vector sum[8] = {};
    for (int64_t i = 0; i < set.count; i += 8 * lanes)
      for (int c = 0; c < 8; ++c) {
        Vector value;
        std::memcpy(&value, set.memory.get() + i + c * lanes, sizeof(value));
        sum[c] += value;
      }
    for (int c = 0; c < 8; ++c)
      benchmark::DoNotOptimize(sum[c]);
  }
  rate(state, "bytes", static_cast<double>(set.count) * sizeof(float));
}

/// Bytes are those read and those written; half the working set each.
void copyMemory(benchmark::State &state) {
  WorkingSet from(state.range(0) * 512), to(state.range(0) * 512);
  for (auto _ : state) {
    std::memcpy(to.memory.get(), from.memory.get(),
                static_cast<size_t>(from.count) * sizeof(float));
    benchmark::ClobberMemory();
  }
  rate(state, "bytes", 2.0 * static_cast<double>(from.count) * sizeof(float));
}

/// One thread and all of them.
void threads(benchmark::internal::Benchmark *bench) {
  int all = static_cast<int>(std::thread::hardware_concurrency());
  bench->UseRealTime()->Threads(1);
  if (all > 1)
    bench->Threads(all);
}

/// KiB a thread: in L2, in L3, in neither.
void sizes(benchmark::internal::Benchmark *bench) {
  for (int64_t kib : {256, 6 * 1024, 256 * 1024})
    bench->Arg(kib);
  threads(bench);
}

BENCHMARK(fmaF32)->Apply(threads);
#ifdef __AVX512BF16__
BENCHMARK(dotBF16)->Apply(threads);
#endif
BENCHMARK(readMemory)->ArgName("KiB")->Apply(sizes);
BENCHMARK(copyMemory)->ArgName("KiB")->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
