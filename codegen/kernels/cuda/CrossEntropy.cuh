//===- CrossEntropy.cuh - the loss over classes and its gradient ------------===//
#pragma once
#include "codegen/kernels/CrossEntropy.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Statistics of the rows of a group of `threads` threads: a warp, or the whole block.
template <typename T, CrossEntropyParams P, int threads> struct LogitRow {
  T largest, exponentials, centredSum;
  int64_t best; // first place of the largest

  HYBRID_DEVICE static T sum(T value, T *scratch) {
    if constexpr (threads == warpSize)
      return warpSum(value);
    else
      return blockSum<threads>(value, scratch);
  }
  HYBRID_DEVICE static T max(T value, T *scratch) {
    if constexpr (threads == warpSize)
      return warpMax(value);
    else
      return blockMax<threads>(value, scratch);
  }

  HYBRID_DEVICE LogitRow(const T *logits, int thread, T *scratch) {
    T most = -infinity<T>();
    for (int64_t c = thread; c < P.classes; c += threads)
      most = propagatingMaximum(most, logits[c]); // NaN must reach the loss
    largest = max(most, scratch);
    T total = 0, centred = 0, place = T(P.classes);
    for (int64_t c = thread; c < P.classes; c += threads) {
      total += exponential(logits[c] - largest);
      if constexpr (P.labelSmoothing != 0)
        centred += logits[c] - largest;
      if (logits[c] == largest && place == T(P.classes))
        place = T(c);
    }
    exponentials = sum(total, scratch);
    centredSum = P.labelSmoothing != 0 ? sum(centred, scratch) : T(0);
    best = static_cast<int64_t>(-max(-place, scratch));
  }
};

/// Groups of threads take the rows of the item in turns and add up in double.
template <typename T, CrossEntropyParams P>
HYBRID_DEVICE void crossEntropyForward(int64_t item, const T *logits, const int32_t *targets,
                                       const T *weights, T *partial) {
  constexpr int threads = static_cast<int>(crossEntropyThreads(P));
  constexpr int threadsOfRow = P.classes <= 1024 ? warpSize : threads,
                groups = threads / threadsOfRow;
  const int thread = static_cast<int>(threadIdx.x) % threadsOfRow,
            group = static_cast<int>(threadIdx.x) / threadsOfRow;
  const int64_t end = minimum((item + 1) * P.rowsPerItem, P.rows);
  double losses = 0, weightSum = 0, correct = 0;
  for (int64_t row = item * P.rowsPerItem + group; row < end; row += groups) {
    const int64_t target = targets[row];
    if (target == P.ignoreIndex) // the same for all threads of the row
      continue;
    const double weight = P.hasWeights ? static_cast<double>(weights[row]) : 1.0;
    weightSum += weight;
    if (target < 0 || target >= P.classes) {
      losses = notANumber<double>();
      continue;
    }
    const T *here = logits + row * P.logitsStride;
    LogitRow<T, P, threadsOfRow> statistics(here, thread, sharedMemory<T>());
    double loss = static_cast<double>(logarithm(statistics.exponentials)) -
                  (1.0 - P.labelSmoothing) * static_cast<double>(here[target] - statistics.largest);
    if constexpr (P.labelSmoothing != 0)
      loss -= P.labelSmoothing * static_cast<double>(statistics.centredSum) /
              static_cast<double>(P.classes);
    losses += weight * loss;
    correct += statistics.best == target ? weight : 0.0;
  }
  double *sums = sharedMemory<double>();
  blockBarrier();
  if (thread == 0) {
    sums[3 * group] = losses;
    sums[3 * group + 1] = weightSum;
    sums[3 * group + 2] = correct;
  }
  blockBarrier();
  if (threadIdx.x < 3) {
    double total = 0;
    for (int g = 0; g < groups; ++g)
      total += sums[3 * g + threadIdx.x];
    partial[item * 3 + threadIdx.x] = static_cast<T>(total);
  }
}

template <typename T, CrossEntropyParams P>
HYBRID_DEVICE void crossEntropyFinish(int64_t, const T *partial, T *loss, T *weight, T *correct) {
  constexpr int threads = static_cast<int>(sumThreads);
  constexpr int64_t count = ceilDiv(P.rows, P.rowsPerItem);
  double *scratch = sharedMemory<double>();
  double sums[3];
  HYBRID_UNROLL
  for (int k = 0; k < 3; ++k) {
    double sum = 0;
    for (int64_t i = threadIdx.x; i < count; i += threads)
      sum += static_cast<double>(partial[3 * i + k]);
    sums[k] = blockSum<threads>(sum, scratch);
  }
  if (threadIdx.x == 0) {
    *loss = static_cast<T>(sums[1] == 0 ? 0.0 : sums[0] / sums[1]);
    *weight = static_cast<T>(sums[1]);
    *correct = static_cast<T>(sums[2]);
  }
}

template <typename T, CrossEntropyParams P, typename Store>
HYBRID_DEVICE void crossEntropyBackward(int64_t item, const T *logits, const int32_t *targets,
                                        const T *weights, const T *totalWeight, const T *dLoss,
                                        Store store) {
  constexpr int threads = static_cast<int>(rowThreads(P.classes));
  const int thread = threadIdx.x;
  const T *here = logits + item * P.logitsStride;
  const int64_t target = targets[item];
  const bool scored = target != P.ignoreIndex && *totalWeight != T(0),
             known = target >= 0 && target < P.classes;
  // The same for all threads of the block: no barrier is missed.
  if (!scored || !known) {
    for (int64_t c = thread; c < P.classes; c += threads)
      store(item, c, scored ? notANumber<T>() : T(0));
    return;
  }
  LogitRow<T, P, threads> statistics(here, thread, sharedMemory<T>());
  const T factor = *dLoss * (P.hasWeights ? weights[item] : T(1)) / *totalWeight;
  const T scale = factor / statistics.exponentials;
  const T spread = factor * T(P.labelSmoothing) / T(P.classes);
  const T atTarget = factor * T(1.0 - P.labelSmoothing);
  for (int64_t c = thread; c < P.classes; c += threads)
    store(item, c,
          exponential(here[c] - statistics.largest) * scale - spread -
              (c == target ? atTarget : T(0)));
}

} // namespace hybrid::cuda
