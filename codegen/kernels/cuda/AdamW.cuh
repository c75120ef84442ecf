//===- AdamW.cuh - the optimizer over one arena -----------------------------===//
#pragma once
#include "codegen/kernels/AdamW.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Whether a stretch lies in a space of so many elements.
HYBRID_DEVICE bool isWithin(const ParameterChunk &chunk, int64_t elements) {
  return chunk.offset >= 0 && chunk.offset <= elements && chunk.count >= 0 &&
         chunk.count <= elements - chunk.offset;
}

template <typename T, AdamWParams P>
HYBRID_DEVICE void squaredNorm(int64_t item, const ParameterChunk *chunks, const T *gradients,
                               double *partial) {
  constexpr int threads = static_cast<int>(sumThreads);
  const bool within = isWithin(chunks[item], P.elements);
  const T *from = gradients + (within ? chunks[item].offset : 0);
  const int64_t count = within ? chunks[item].count : 0;
  double sum = within ? 0 : notANumber<double>();
  for (int64_t i = threadIdx.x; i < count; i += threads)
    sum += static_cast<double>(from[i]) * static_cast<double>(from[i]);
  sum = blockSum<threads>(sum, sharedMemory<double>());
  if (threadIdx.x == 0)
    partial[item] = sum;
}

template <typename T, AdamWParams P>
HYBRID_DEVICE void gradientNorm(int64_t, const double *partial, T *norm) {
  constexpr int threads = static_cast<int>(sumThreads);
  double sum = 0;
  for (int64_t i = threadIdx.x; i < P.chunks; i += threads)
    sum += partial[i];
  sum = blockSum<threads>(sum, sharedMemory<double>());
  if (threadIdx.x == 0)
    *norm = static_cast<T>(squareRoot(sum));
}

/// One launch for all parameters: a block a chunk, 28 bytes an element in f32. What changes from
/// step to step is in `hyper`, so a captured graph stays right.
template <typename T, AdamWParams P>
HYBRID_DEVICE void adamw(int64_t item, const ParameterChunk *chunks, const double *hyper,
                         const T *norm, T *parameters, const T *gradients, T *moments1,
                         T *moments2) {
  constexpr int threads = static_cast<int>(sumThreads);
  if (!isFinite(*norm)) // there is no barrier
    return;
  const ParameterChunk chunk = chunks[item];
  if (!isWithin(chunk, P.elements))
    return;
  const double clip = hyper[5];
  double factor = 1;
  if (clip > 0)
    factor = minimum(1.0, clip / (static_cast<double>(*norm) + 1e-6));
  const T clipping = static_cast<T>(factor);
  const T beta1 = static_cast<T>(hyper[2]), rest1 = static_cast<T>(1 - hyper[2]);
  const T beta2 = static_cast<T>(hyper[3]), rest2 = static_cast<T>(1 - hyper[3]);
  const T eps = static_cast<T>(hyper[4]), correction2 = static_cast<T>(1 / hyper[7]);
  const double rate = hyper[0] * chunk.lrScale;
  const T keep = static_cast<T>(1 - rate * hyper[1] * chunk.decay);
  const T step = static_cast<T>(rate / hyper[6]);
  auto update = [&](T &p, T gradient, T &m, T &v) {
    const T g = gradient * clipping;
    m = m * beta1 + g * rest1;
    v = v * beta2 + g * g * rest2;
    p = p * keep - m * step / (squareRoot(v * correction2) + eps);
  };
  // Chunks start at multiples of 64 bytes.
  constexpr int pack = 16 / sizeof(T);
  parameters += chunk.offset, gradients += chunk.offset;
  moments1 += chunk.offset, moments2 += chunk.offset;
  const int64_t whole = chunk.count / pack * pack;
  for (int64_t i = threadIdx.x * pack; i < whole; i += threads * pack) {
    auto p = loadPack<pack>(parameters + i), m = loadPack<pack>(moments1 + i),
         v = loadPack<pack>(moments2 + i);
    const auto g = loadPack<pack>(gradients + i);
    HYBRID_UNROLL
    for (int j = 0; j < pack; ++j)
      update(p[j], g[j], m[j], v[j]);
    storePack(parameters + i, p);
    storePack(moments1 + i, m);
    storePack(moments2 + i, v);
  }
  const int64_t i = whole + threadIdx.x;
  if (i < chunk.count)
    update(parameters[i], gradients[i], moments1[i], moments2[i]);
}

} // namespace hybrid::cuda
