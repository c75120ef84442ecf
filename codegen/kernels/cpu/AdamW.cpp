//===- AdamW.cpp - gradient norm, clipping and the AdamW update ---------===//
//
// One pass over parameters, gradients and both moments: 28 bytes of traffic an f32 element, bound
// by memory. Chunks are stretches that share decay and learning rate; their norms add up in double
// and in order. Loshchilov and Hutter 2019, with eps outside the corrected root.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/AdamW.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

typedef double Doubles __attribute__((ext_vector_type(8)));

HYBRID_INLINE Doubles squaresInDouble(Vector<float> v) {
  Doubles low = __builtin_convertvector(v.lo, Doubles),
          high = __builtin_convertvector(v.hi, Doubles);
  return low * low + high * high;
}
HYBRID_INLINE Doubles squaresInDouble(Vector<double> v) { return v * v; }

/// Whether a stretch lies in a space of so many elements.
HYBRID_INLINE bool isWithin(const ParameterChunk &chunk, int64_t elements) {
  return chunk.offset >= 0 && chunk.offset <= elements && chunk.count >= 0 &&
         chunk.count <= elements - chunk.offset;
}

template <typename T>
HYBRID_INLINE void squared_norm(int64_t item, Buffers buffers, const AdamWParams &params) {
  const ParameterChunk *chunks = buffers.at<const ParameterChunk>(0);
  double *partial = buffers.at<double>(2);
  if (!isWithin(chunks[item], params.elements)) {
    partial[item] = __builtin_nan("");
    return;
  }
  const T *gradients = buffers.at<const T>(1) + chunks[item].offset;
  int64_t count = chunks[item].count, i = 0;
  Doubles sum0 = (Doubles)(0.0), sum1 = sum0;
  for (; i + 2 * lanes<T> <= count; i += 2 * lanes<T>) {
    sum0 += squaresInDouble(load(gradients + i));
    sum1 += squaresInDouble(load(gradients + i + lanes<T>));
  }
  for (; i < count; i += lanes<T>)
    sum0 += squaresInDouble(loadPart(gradients + i, count - i));
  partial[item] = sumOfLanes(sum0 + sum1);
}

template <typename T>
HYBRID_INLINE void gradient_norm(int64_t, Buffers buffers, const AdamWParams &params) {
  const double *partial = buffers.at<const double>(0);
  double sum = 0;
  for (int64_t i = 0; i < params.chunks; ++i)
    sum += partial[i];
  *buffers.at<T>(1) = static_cast<T>(__builtin_sqrt(sum));
}

template <typename T>
HYBRID_INLINE void adamw(int64_t item, Buffers buffers, const AdamWParams &params) {
  const ParameterChunk *chunks = buffers.at<const ParameterChunk>(0);
  const double *hyper = buffers.at<const double>(1);
  const double norm = static_cast<double>(*buffers.at<const T>(2));
  if (!(norm - norm == 0) || !isWithin(chunks[item], params.elements)) // infinite or not a number
    return;
  double clip = hyper[5], factor = 1;
  if (clip > 0)
    factor = __builtin_fmin(1.0, clip / (norm + 1e-6));
  const T clipping = static_cast<T>(factor);
  const T beta1 = static_cast<T>(hyper[2]), rest1 = static_cast<T>(1 - hyper[2]);
  const T beta2 = static_cast<T>(hyper[3]), rest2 = static_cast<T>(1 - hyper[3]);
  const T eps = static_cast<T>(hyper[4]), correction2 = static_cast<T>(1 / hyper[7]);
  const ParameterChunk &chunk = chunks[item];
  double rate = hyper[0] * chunk.lrScale;
  const T keep = static_cast<T>(1 - rate * hyper[1] * chunk.decay);
  const T step = static_cast<T>(rate / hyper[6]);
  T *parameters = buffers.at<T>(3) + chunk.offset;
  const T *gradients = buffers.at<const T>(4) + chunk.offset;
  T *moments1 = buffers.at<T>(5) + chunk.offset;
  T *moments2 = buffers.at<T>(6) + chunk.offset;
  for (int64_t i = 0; i < chunk.count; i += lanes<T>) {
    int64_t count = minimum(lanes<T>, chunk.count - i);
    Vector<T> g = loadPart(gradients + i, count) * clipping;
    Vector<T> m = loadPart(moments1 + i, count) * beta1 + g * rest1;
    Vector<T> v = loadPart(moments2 + i, count) * beta2 + g * g * rest2;
    storePart(moments1 + i, m, count);
    storePart(moments2 + i, v, count);
    Vector<T> update = m * step / (squareRoot<T>(v * correction2) + eps);
    storePart(parameters + i, loadPart(parameters + i, count) * keep - update, count);
  }
}

} // namespace

HYBRID_KERNEL(squared_norm, AdamWParams)
HYBRID_KERNEL(gradient_norm, AdamWParams)
HYBRID_KERNEL(adamw, AdamWParams)
