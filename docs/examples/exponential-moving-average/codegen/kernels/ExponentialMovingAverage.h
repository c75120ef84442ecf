//===- ExponentialMovingAverage.h - contract of averages that forget --------===//
//
// y_t = a y_{t-1} + (1 - a) x_t for each channel, a being its decay. x, y: [batch, length,
// channels]; decay: [channels]; states: [batch, channels]. With segments (int32 [batch, length])
// y_{t-1} is zero where the id changes; the initial state belongs to the segment of t = 0.
//
// An item is blockRows rows of some channels of one sequence. When a sequence is divided over time,
// timeBlocks > 1, each item finds the state that it starts from itself: the summary kernel has
// found before what each block does to a state, y -> decay y + offset, and an item goes through
// those before its own, or, for gradients, behind it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

struct ExponentialMovingAverageParams {
  int64_t batch, length, channels, timeBlocks, blockRows;
  int64_t xStride, yStride, dyStride, dxStride;
  int64_t hasSegments, hasState, hasFinalState;
  int64_t reverse /* the summary is of gradients */, stateGradient /* dInitialState is wanted */;
  HYBRID_FIELDS(batch, length, channels, timeBlocks, blockRows, xStride, yStride, dyStride,
                dxStride, hasSegments, hasState, hasFinalState, reverse, stateGradient)
};

/// Channels of an item: on the CPU four vectors, which hide each other's latency and read a stretch
/// of four cache lines; on CUDA one a thread.
struct ExponentialMovingAverageWidth {
  template <typename T> static constexpr int64_t onCpu(const ExponentialMovingAverageParams &) {
    return 4 * lanes<T>;
  }
  template <typename T> static constexpr int64_t onCuda(const ExponentialMovingAverageParams &) {
    return 128;
  }
};

/// Divides sequences over time where there are too few items for the device. Decided by sizes
/// alone: results have the same bits for any number of threads.
struct ExponentialMovingAverageDivision {
  using Params = ExponentialMovingAverageParams;

  template <typename T> static constexpr void onCpu(Params &p) {
    divide(p, ExponentialMovingAverageWidth::onCpu<T>(p), 32, 256);
  }
  /// 132 multiprocessors with half of their warps each.
  template <typename T> static constexpr void onCuda(Params &p) {
    divide(p, ExponentialMovingAverageWidth::onCuda<T>(p), 132 * 8, 64);
  }

private:
  static constexpr void divide(Params &p, int64_t width, int64_t wantedItems, int64_t leastRows) {
    const int64_t items = p.batch * ceilDiv(p.channels, width),
                  wanted = ceilDiv(wantedItems, items), most = p.length / leastRows;
    // The summary reads all of x again: below a quarter of what is wanted that pays.
    const int64_t blocks = 4 * items > wantedItems || most < 2 ? 1 : wanted < most ? wanted : most;
    p.blockRows = ceilDiv(p.length, blocks);
    p.timeBlocks = ceilDiv(p.length, p.blockRows);
  }
};

/// A block of rows of some channels of a sequence.
constexpr int64_t exponentialMovingAverageItems(const ExponentialMovingAverageParams &p,
                                                int64_t width) {
  return p.batch * p.timeBlocks * ceilDiv(p.channels, width);
}

/// What each block of rows does to a state, or with `reverse` to the gradient a g_t that passes
/// from its first row to the row before. Buffers: x (reverse: dy), decay, segments (optional),
/// blockDecay, offset, both [timeBlocks, batch, channels].
struct ExponentialMovingAverageSummary
    : KernelOf<ExponentialMovingAverageParams, "exponential_moving_average_summary", 3, 4> {
  using Width = ExponentialMovingAverageWidth;
  HYBRID_ON_CPU(exponentialMovingAverageItems(p, Width::onCpu<T>(p)))
  HYBRID_ON_CUDA(exponentialMovingAverageItems(p, Width::onCuda<T>(p)), Width::onCuda<T>(p))
};

/// Buffers: x, decay, segments (optional), initialState (optional), blockDecay and offset (with
/// timeBlocks > 1), finalState (optional), y, a store.
struct ExponentialMovingAverageForward
    : KernelOf<ExponentialMovingAverageParams, "exponential_moving_average_forward", 6> {
  HYBRID_ON_CPU(ExponentialMovingAverageSummary::onCpu<T>(p))
  HYBRID_ON_CUDA(ExponentialMovingAverageSummary::onCuda<T>(p))
};

/// Buffers: x, decay, segments (optional), initialState (optional), y, dy, blockDecay and offset of
/// a reverse summary (with timeBlocks > 1), dFinalState (optional), dInitialState (optional),
/// partial [timeBlocks * batch, channels], sums of the gradient of the decay over the rows of an
/// item, to be reduced by sum_partials, dx, a store.
struct ExponentialMovingAverageBackward
    : KernelOf<ExponentialMovingAverageParams, "exponential_moving_average_backward", 9, 10> {
  HYBRID_ON_CPU(ExponentialMovingAverageSummary::onCpu<T>(p))
  HYBRID_ON_CUDA(ExponentialMovingAverageSummary::onCuda<T>(p))
};

} // namespace hybrid
