//===- CrossEntropy.cuh - the loss over classes and its gradient ------------===//
#pragma once
#include "codegen/kernels/CrossEntropy.h"
#include "codegen/kernels/cuda/Rows.cuh"

namespace hybrid::cuda {

/// Statistics of a row, of which a team of `size` threads has each an element in `size`.
template <typename T, CrossEntropyParams P, typename Team, int size> struct LogitRow {
  T largest, exponentials, centredSum;
  int64_t best; // first place of the largest

  HYBRID_DEVICE explicit LogitRow(const T *logits) {
    const int thread = Team::thread();
    T *scratch = sharedMemory<T>();
    T most = -infinity<T>();
    for (int64_t c = thread; c < P.classes; c += size)
      most = propagatingMaximum(most, logits[c]); // NaN must reach the loss
    largest = Team::max(most, scratch);
    T total = 0, centred = 0, place = T(P.classes);
    for (int64_t c = thread; c < P.classes; c += size) {
      total += exponential(logits[c] - largest);
      if constexpr (P.labelSmoothing != 0)
        centred += logits[c] - largest;
      if (logits[c] == largest && place == T(P.classes))
        place = T(c);
    }
    exponentials = Team::sum(total, scratch);
    centredSum = P.labelSmoothing != 0 ? Team::sum(centred, scratch) : T(0);
    best = static_cast<int64_t>(-Team::max(-place, scratch));
  }
};

/// Teams take the rows of the item in turns and add up in double.
template <typename T, CrossEntropyParams P>
HYBRID_DEVICE void crossEntropyForward(int64_t item, const T *logits, const int32_t *targets,
                                       const T *weights, T *partial) {
  constexpr int size = static_cast<int>(crossEntropyTeam(P));
  using Team = RowTeam<crossEntropyThreads(P), size>;
  const int64_t end = minimum((item + 1) * P.rowsPerItem, P.rows);
  double losses = 0, weightSum = 0, correct = 0;
  for (int64_t first = item * P.rowsPerItem; first < end; first += Team::count) {
    const int64_t row = minimum(first + Team::number(), end - 1);
    const T *here = logits + row * P.logitsStride;
    const LogitRow<T, P, Team, size> statistics(here);
    const int64_t target = targets[row];
    if (first + Team::number() >= end || target == P.ignoreIndex)
      continue;
    const double weight = P.hasWeights ? static_cast<double>(weights[row]) : 1.0;
    weightSum += weight;
    if (target < 0 || target >= P.classes) {
      losses = notANumber<double>();
      continue;
    }
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
  if (Team::thread() == 0) {
    sums[3 * Team::number()] = losses;
    sums[3 * Team::number() + 1] = weightSum;
    sums[3 * Team::number() + 2] = correct;
  }
  blockBarrier();
  if (threadIdx.x < 3) {
    double total = 0;
    for (int team = 0; team < Team::count; ++team)
      total += sums[3 * team + threadIdx.x];
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
  using Rows = RowsOfItem<P.classes, P.rowsPerItem>;
  constexpr int size = static_cast<int>(threadsOfRow(P.classes));
  const int64_t wanted = Rows::row(item, P.rows), row = minimum(wanted, P.rows - 1);
  const T *here = logits + row * P.logitsStride;
  const LogitRow<T, P, Rows, size> statistics(here);
  if (wanted >= P.rows)
    return;
  const int64_t target = targets[row];
  const bool scored = target != P.ignoreIndex && *totalWeight != T(0),
             known = target >= 0 && target < P.classes;
  if (!scored || !known) {
    for (int64_t c = Rows::thread(); c < P.classes; c += size)
      store(row, c, scored ? notANumber<T>() : T(0));
    return;
  }
  const T factor = *dLoss * (P.hasWeights ? weights[row] : T(1)) / *totalWeight;
  const T scale = factor / statistics.exponentials;
  const T spread = factor * T(P.labelSmoothing) / T(P.classes);
  const T atTarget = factor * T(1.0 - P.labelSmoothing);
  for (int64_t c = Rows::thread(); c < P.classes; c += size)
    store(row, c,
          exponential(here[c] - statistics.largest) * scale - spread -
              (c == target ? atTarget : T(0)));
}

} // namespace hybrid::cuda
