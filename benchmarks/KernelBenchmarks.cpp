//===- KernelBenchmarks.cpp - times of the specialised CPU kernels --------===//
//
// One thread; `each` is the time of one of what follows. fftconv: time a (batch, channel), gates
// and skip included, 128 channels. attention: time a batch row, 16 heads. Run with
// --benchmark_filter=... ; the kernels here read their constants at run time, so that what hybridc
// specialises is at least as fast.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/Attention.h"
#include "codegen/kernels/CrossEntropy.h"
#include "codegen/kernels/FFTConv.h"
#include "codegen/kernels/Random.h"
#include "codegen/kernels/RmsNorm.h"
#include "codegen/kernels/ShortConv.h"
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename Params>
using Kernel = void(int64_t, int64_t, void *const *, void *, const Params *);
extern "C" {
Kernel<FFTTableParams> hybrid_fft_table_f32;
Kernel<FFTConvParams> hybrid_fftconv_spectrum_f32, hybrid_fftconv_forward_f32,
    hybrid_fftconv_backward_f32;
Kernel<AttentionParams> hybrid_attention_forward_f32, hybrid_attention_backward_f32;
Kernel<RmsNormParams> hybrid_rmsnorm_forward_f32, hybrid_rmsnorm_backward_f32;
Kernel<ShortConvParams> hybrid_short_conv_forward_f32, hybrid_short_conv_backward_f32;
Kernel<CrossEntropyParams> hybrid_cross_entropy_backward_f32;
Kernel<RandomParams> hybrid_random_f32;
}

struct Free {
  void operator()(float *at) const { std::free(at); }
};

/// Aligned memory with small numbers in it.
struct Buffer {
  std::unique_ptr<float, Free> memory;

  explicit Buffer(int64_t elements) {
    auto count = static_cast<size_t>(elements);
    memory.reset(
        static_cast<float *>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64)));
    for (size_t i = 0; i < count; ++i)
      memory.get()[i] = static_cast<float>((i * 2654435761u >> 8) % 1000) / 1000 - 0.5f;
  }
  operator void *() const { return memory.get(); }
};

void reportPerSignal(benchmark::State &state, int64_t signals) {
  state.counters["each"] = benchmark::Counter(static_cast<double>(signals),
                                              benchmark::Counter::kIsIterationInvariantRate |
                                                  benchmark::Counter::kInvert);
}

void fftconv(benchmark::State &state) {
  bool backward = state.range(1) != 0;
  FFTConvParams p{};
  p.length = p.taps = state.range(0), p.channels = 128;
  p.batch = p.length <= 1024 ? 32 : 4;
  p.points = convolutionPoints(p.length, p.taps);
  // The gates and x are slices of one projection, as in Hyena.
  p.xStride = p.gateInStride = p.gateOutStride = 3 * p.channels;
  p.yStride = p.dxStride = p.dGateInStride = p.dGateOutStride = p.channels;
  p.hasSkip = p.hasGateIn = p.hasGateOut = 1;
  int64_t rows = p.batch * p.length, size = rows * p.channels, blocks = p.channels / 16;
  Buffer projection(3 * size), y(size), dx(size), dGateIn(size), dGateOut(size);
  Buffer filter(p.taps * p.channels), dFilter(p.taps * p.channels), skip(p.channels),
      dSkip(p.channels);
  Buffer twiddles(fftTableElements(p.points));
  Buffer spectrum(FFTConvSpectrumElements::onCpu<float>(p)),
      scratch(FFTConvBackward::onCpu<float>(p).bytes / 4);
  float *x = projection.memory.get();
  void *table[] = {twiddles};
  const FFTTableParams points{p.points};
  hybrid_fft_table_f32(0, 1, table, nullptr, &points, 0);
  void *filters[] = {filter, twiddles, spectrum};
  hybrid_fftconv_spectrum_f32(0, blocks, filters, nullptr, &p, 0);
  void *buffers[] = {x,       spectrum, twiddles, skip, x + p.channels, x + 2 * p.channels,
                     nullptr, filter,   y,        dx,   dFilter,        dSkip,
                     dGateIn, dGateOut};
  for (auto _ : state) {
    if (backward)
      hybrid_fftconv_backward_f32(0, blocks, buffers, scratch, &p, 0);
    else
      hybrid_fftconv_forward_f32(0, blocks * p.batch, buffers, scratch, &p, 0);
  }
  reportPerSignal(state, p.batch * p.channels);
}
BENCHMARK(fftconv)
    ->ArgNames({"length", "backward"})
    ->ArgsProduct({{128, 512, 1024, 8192, 65536}, {0, 1}});

void attention(benchmark::State &state) {
  bool backward = state.range(2) != 0;
  AttentionParams p{};
  p.batch = 2, p.length = p.keyLength = state.range(0), p.heads = p.kvHeads = 16;
  p.headSize = p.valueSize = state.range(1), p.causal = 1, p.window = -1;
  int64_t columns = p.heads * p.headSize, size = p.batch * p.length * columns;
  p.qStride = p.kStride = p.vStride = 3 * columns;
  p.oStride = p.dqStride = p.dkStride = p.dvStride = columns;
  p.scale = 1 / std::sqrt(static_cast<double>(p.headSize));
  Buffer projection(3 * size), o(size), dO(size), dq(size), dk(size), dv(size);
  Buffer lse(p.batch * p.heads * p.length);
  Buffer scratch(AttentionForward::onCpu<float>(p).bytes / 4 +
                 AttentionBackward::onCpu<float>(p).bytes / 4);
  float *q = projection.memory.get();
  void *forward[] = {q, q + columns, q + 2 * columns, nullptr, nullptr, nullptr, nullptr, o, lse};
  void *gradient[] = {
      q,   q + columns, q + 2 * columns, nullptr, nullptr, nullptr, nullptr, o,
      lse, dO,          nullptr,         dq,      dk,      dv,      nullptr, nullptr};
  hybrid_attention_forward_f32(0, p.batch * p.heads, forward, scratch, &p, 0);
  for (auto _ : state) {
    if (backward)
      hybrid_attention_backward_f32(0, p.batch * p.heads, gradient, scratch, &p, 0);
    else
      hybrid_attention_forward_f32(0, p.batch * p.heads, forward, scratch, &p, 0);
  }
  reportPerSignal(state, p.batch);
}
BENCHMARK(attention)
    ->ArgNames({"length", "head", "backward"})
    ->ArgsProduct({{128, 1024}, {8, 64}, {0, 1}});

void rmsnorm(benchmark::State &state) {
  RmsNormParams p{4096, 128, 128, 128, 128, 64, 1, 0, 1e-5};
  Buffer x(p.rows * p.columns), w(p.columns), y(p.rows * p.columns), dx(p.rows * p.columns);
  Buffer partial(p.rows / p.rowsPerItem * p.columns);
  void *forward[] = {x, w, y}, *backward[] = {x, w, y, partial, dx};
  for (auto _ : state) {
    if (state.range(0))
      hybrid_rmsnorm_backward_f32(0, p.rows / p.rowsPerItem, backward, nullptr, &p, 0);
    else
      hybrid_rmsnorm_forward_f32(0, p.rows, forward, nullptr, &p, 0);
  }
  reportPerSignal(state, p.rows);
}
BENCHMARK(rmsnorm)->ArgName("backward")->Arg(0)->Arg(1);

void shortConv(benchmark::State &state) {
  ShortConvParams p{};
  p.batch = 32, p.length = p.rowsPerItem = 128, p.channels = 384, p.taps = 3, p.hasBias = 1;
  p.xStride = p.yStride = p.dxStride = p.channels;
  int64_t size = p.batch * p.length * p.channels;
  Buffer x(size), w(p.channels * p.taps), b(p.channels), y(size), dx(size);
  Buffer partial(p.batch * (p.taps + 1) * p.channels);
  void *forward[] = {x, w, b, nullptr, nullptr, nullptr, y};
  void *backward[] = {x, w, nullptr, nullptr, y, nullptr, nullptr, partial, b, dx};
  for (auto _ : state) {
    if (state.range(0))
      hybrid_short_conv_backward_f32(0, p.batch, backward, nullptr, &p, 0);
    else
      hybrid_short_conv_forward_f32(0, p.batch, forward, nullptr, &p, 0);
  }
  reportPerSignal(state, p.batch * p.channels);
}
BENCHMARK(shortConv)->ArgName("backward")->Arg(0)->Arg(1);

void randomNormal(benchmark::State &state) {
  RandomParams p{1 << 20, 7, 1, 0, 1};
  Buffer out(p.elements);
  int32_t seed[2] = {1, 2};
  void *buffers[] = {seed, out};
  for (auto _ : state)
    hybrid_random_f32(0, p.elements / 1024, buffers, nullptr, &p, 0);
  reportPerSignal(state, p.elements);
}
BENCHMARK(randomNormal);

} // namespace

BENCHMARK_MAIN();
