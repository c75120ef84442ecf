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

template <typename T>
HYBRID_INLINE void squared_norm(int64_t lo, int64_t hi, void *const *buffers, void *,
                                const AdamWParams &) {
  const ParameterChunk *chunks = static_cast<const ParameterChunk *>(buffers[0]);
  double *partial = static_cast<double *>(buffers[2]);
  for (int64_t item = lo; item < hi; ++item) {
    const T *gradients = static_cast<const T *>(buffers[1]) + chunks[item].offset;
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
}

template <typename T>
HYBRID_INLINE void gradient_norm(int64_t lo, int64_t hi, void *const *buffers, void *,
                                 const AdamWParams &params) {
  if (lo >= hi)
    return;
  const double *partial = static_cast<const double *>(buffers[0]);
  double sum = 0;
  for (int64_t i = 0; i < params.chunks; ++i)
    sum += partial[i];
  *static_cast<T *>(buffers[1]) = static_cast<T>(__builtin_sqrt(sum));
}

template <typename T>
HYBRID_INLINE void adamw(int64_t lo, int64_t hi, void *const *buffers, void *,
                         const AdamWParams &) {
  const ParameterChunk *chunks = static_cast<const ParameterChunk *>(buffers[0]);
  const double *hyper = static_cast<const double *>(buffers[1]);
  const double norm = static_cast<double>(*static_cast<const T *>(buffers[2]));
  if (!(norm - norm == 0)) // infinite or not a number
    return;
  double clip = hyper[5], factor = 1;
  if (clip > 0)
    factor = __builtin_fmin(1.0, clip / (norm + 1e-6));
  const T clipping = static_cast<T>(factor);
  const T beta1 = static_cast<T>(hyper[2]), rest1 = static_cast<T>(1 - hyper[2]);
  const T beta2 = static_cast<T>(hyper[3]), rest2 = static_cast<T>(1 - hyper[3]);
  const T eps = static_cast<T>(hyper[4]), correction2 = static_cast<T>(1 / hyper[7]);
  for (int64_t item = lo; item < hi; ++item) {
    const ParameterChunk &chunk = chunks[item];
    double rate = hyper[0] * chunk.lrScale;
    const T keep = static_cast<T>(1 - rate * hyper[1] * chunk.decay);
    const T step = static_cast<T>(rate / hyper[6]);
    T *parameters = static_cast<T *>(buffers[3]) + chunk.offset;
    const T *gradients = static_cast<const T *>(buffers[4]) + chunk.offset;
    T *moments1 = static_cast<T *>(buffers[5]) + chunk.offset;
    T *moments2 = static_cast<T *>(buffers[6]) + chunk.offset;
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
}

} // namespace

HYBRID_KERNEL(squared_norm, AdamWParams)
HYBRID_KERNEL(gradient_norm, AdamWParams)
HYBRID_KERNEL(adamw, AdamWParams)
