//===- CrossEntropy.cpp - loss, accuracy and gradient of logits ---------===//
//
// A row is read three times (largest logit, sum of exponentials, and what else is asked for) and
// stays in L1 or L2 for that. Nothing is kept for the backward pass, which finds both again:
// cheaper than writing rows of statistics that every other reader would have to carry. Sums over
// rows run in double.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/CrossEntropy.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T> struct RowStatistics {
  T largest, sumOfExponentials;

  RowStatistics(const T *logits, int64_t classes) {
    // Lanes behind the last class repeat the first logit.
    Vector<T> top = splat(logits[0]);
    for (int64_t c = 0; c < classes; c += lanes<T>) {
      int64_t count = lanesAt<T>(c, classes);
      top = larger<T>(top, kept(loadPart(logits + c, count), count, logits[0]));
    }
    largest = largestLane<T>(top);
    Vector<T> sum = splat(T(0));
    for (int64_t c = 0; c < classes; c += lanes<T>) {
      int64_t count = lanesAt<T>(c, classes);
      sum += kept(exponential(loadPart(logits + c, count) - largest), count, T(0));
    }
    sumOfExponentials = sumOfLanes(sum);
  }

  /// `other` in the lanes from `count` on.
  static Vector<T> kept(Vector<T> v, int64_t count, T other) {
    if (count >= lanes<T>)
      return v;
    Integers<T> limit = (Integers<T>)(static_cast<typename VectorTraits<T>::Integer>(count));
    return VectorTraits<T>::laneNumbers < limit ? v : splat(other);
  }
};

template <typename T>
HYBRID_INLINE void cross_entropy_forward(int64_t item, Buffers buffers,
                                         const CrossEntropyParams &params) {
  const int32_t *targets = buffers.at<const int32_t>(1);
  const T *weights = buffers.at<const T>(2);
  const int64_t classes = params.classes;
  double lossSum = 0, weightSum = 0, correctSum = 0;
  int64_t end = minimum((item + 1) * params.rowsPerItem, params.rows);
  for (int64_t row = item * params.rowsPerItem; row < end; ++row) {
    int64_t target = targets[row];
    if (target == params.ignoreIndex)
      continue;
    double weight = params.hasWeights ? static_cast<double>(weights[row]) : 1.0;
    weightSum += weight;
    if (target < 0 || target >= classes) {
      lossSum = __builtin_nan("");
      continue;
    }
    const T *logits = buffers.at<const T>(0) + row * params.logitsStride;
    RowStatistics<T> statistics(logits, classes);
    // Relative to the largest logit, so that nothing large is ever subtracted.
    double loss =
        static_cast<double>(logarithmOf(statistics.sumOfExponentials)) -
        (1.0 - params.labelSmoothing) * static_cast<double>(logits[target] - statistics.largest);
    if (params.labelSmoothing != 0) {
      Vector<T> sum = splat(T(0));
      for (int64_t c = 0; c < classes; c += lanes<T>) {
        int64_t count = lanesAt<T>(c, classes);
        sum +=
            RowStatistics<T>::kept(loadPart(logits + c, count) - statistics.largest, count, T(0));
      }
      loss -= params.labelSmoothing * static_cast<double>(sumOfLanes(sum)) /
              static_cast<double>(classes);
    }
    lossSum += weight * loss;
    bool correct = logits[target] == statistics.largest;
    for (int64_t c = 0; correct && c < target; ++c)
      correct = logits[c] != statistics.largest;
    correctSum += correct ? weight : 0.0;
  }
  T *partial = buffers.at<T>(3) + item * 3;
  partial[0] = static_cast<T>(lossSum);
  partial[1] = static_cast<T>(weightSum);
  partial[2] = static_cast<T>(correctSum);
}

template <typename T>
HYBRID_INLINE void cross_entropy_finish(int64_t, Buffers buffers,
                                        const CrossEntropyParams &params) {
  const T *partial = buffers.at<const T>(0);
  double loss = 0, weight = 0, correct = 0;
  for (int64_t i = 0; i < ceilDiv(params.rows, params.rowsPerItem); ++i) {
    loss += static_cast<double>(partial[3 * i]);
    weight += static_cast<double>(partial[3 * i + 1]);
    correct += static_cast<double>(partial[3 * i + 2]);
  }
  *buffers.at<T>(1) = static_cast<T>(weight == 0 ? 0.0 : loss / weight);
  *buffers.at<T>(2) = static_cast<T>(weight);
  *buffers.at<T>(3) = static_cast<T>(correct);
}

template <typename T>
HYBRID_INLINE void cross_entropy_backward(int64_t row, Buffers buffers,
                                          const CrossEntropyParams &params) {
  const int32_t *targets = buffers.at<const int32_t>(1);
  const T *weights = buffers.at<const T>(2);
  const T totalWeight = *buffers.at<const T>(3);
  const T dLoss = *buffers.at<const T>(4);
  const int64_t classes = params.classes;
  const T smoothing = static_cast<T>(params.labelSmoothing);
  const T *logits = buffers.at<const T>(0) + row * params.logitsStride;
  T *dLogits = buffers.at<T>(5) + row * params.dLogitsStride;
  int64_t target = targets[row];
  bool known = target >= 0 && target < classes;
  if (target == params.ignoreIndex || totalWeight == T(0) || !known) {
    T fill = target == params.ignoreIndex || totalWeight == T(0)
                 ? T(0)
                 : static_cast<T>(__builtin_nan(""));
    for (int64_t c = 0; c < classes; c += lanes<T>)
      storePart(dLogits + c, splat(fill), lanesAt<T>(c, classes));
    return;
  }
  T factor = dLoss * (params.hasWeights ? weights[row] : T(1)) / totalWeight;
  RowStatistics<T> statistics(logits, classes);
  T scale = factor / statistics.sumOfExponentials;
  T spread = factor * smoothing / static_cast<T>(classes);
  for (int64_t c = 0; c < classes; c += lanes<T>) {
    int64_t count = lanesAt<T>(c, classes);
    Vector<T> value = exponential(loadPart(logits + c, count) - statistics.largest) * scale;
    storePart(dLogits + c, value - spread, count);
  }
  dLogits[target] -= factor * (T(1) - smoothing);
}

} // namespace

HYBRID_KERNEL(cross_entropy_forward, CrossEntropyParams)
HYBRID_KERNEL(cross_entropy_finish, CrossEntropyParams)
HYBRID_KERNEL(cross_entropy_backward, CrossEntropyParams)
