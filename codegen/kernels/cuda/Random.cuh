//===- Random.cuh - initial values from a counter-based generator -----------===//
#pragma once
#include "codegen/kernels/Random.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Philox4x32-10 (Salmon et al. 2011): four words of block number `number` of a stream.
struct PhiloxBlock {
  uint32_t words[4];

  HYBRID_DEVICE PhiloxBlock(uint64_t number, uint64_t stream, uint32_t key0, uint32_t key1) {
    words[0] = static_cast<uint32_t>(number);
    words[1] = static_cast<uint32_t>(number >> 32);
    words[2] = static_cast<uint32_t>(stream);
    words[3] = static_cast<uint32_t>(stream >> 32);
    for (int round = 0; round < 10; ++round) {
      uint64_t product0 = static_cast<uint64_t>(words[0]) * 0xD2511F53u,
               product1 = static_cast<uint64_t>(words[2]) * 0xCD9E8D57u;
      words[0] = static_cast<uint32_t>(product1 >> 32) ^ words[1] ^ key0;
      words[2] = static_cast<uint32_t>(product0 >> 32) ^ words[3] ^ key1;
      words[1] = static_cast<uint32_t>(product1);
      words[3] = static_cast<uint32_t>(product0);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
  }
  /// In [0, 1), all 24 bits of f32.
  HYBRID_DEVICE float fraction(int i) const {
    return static_cast<float>(words[i] >> 8) * (1.0f / 16777216.0f);
  }
};

template <typename T, RandomParams P>
HYBRID_DEVICE void random(int64_t item, const int32_t *seed, T *out) {
  constexpr float a = static_cast<float>(P.a), b = static_cast<float>(P.b);
  const int64_t first = item * randomElements + threadIdx.x * 4; // 256 threads, four elements each
  if (first >= P.elements)
    return; // there is no barrier
  PhiloxBlock block(static_cast<uint64_t>(first / 4), static_cast<uint64_t>(P.stream),
                    static_cast<uint32_t>(seed[0]), static_cast<uint32_t>(seed[1]));
  float values[4];
  if constexpr (P.distribution == 0) {
    for (int k = 0; k < 4; ++k) {
      float value = block.fraction(k) * (b - a) + a;
      values[k] = value < b ? value : a; // rounding may reach b
    }
  } else { // Box-Muller
    for (int k = 0; k < 4; k += 2) {
      float radius = squareRoot(logarithm(block.fraction(k) + 1.0f / 16777216.0f) * -2.0f) * b;
      float angle = block.fraction(k + 1) * 6.283185307179586f;
      values[k] = radius * cosine(angle) + a;
      values[k + 1] = radius * sine(angle) + a;
    }
  }
  for (int k = 0; k < 4; ++k)
    if (first + k < P.elements)
      out[first + k] = static_cast<T>(values[k]);
}

} // namespace hybrid::cuda
