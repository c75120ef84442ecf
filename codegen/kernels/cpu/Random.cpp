//===- Random.cpp - counter-based random numbers ------------------------===//
//
// Philox4x32-10 (Salmon et al. 2011): the block that holds elements 4 i to 4 i + 3 is a function of
// the counter (i, stream) and of the key, which is the seed. So any element can be drawn by any
// thread, and streams never overlap. Sixteen blocks at a time; numbers have 24 random bits and are
// drawn in f32 whatever the element type, so that f32 and f64 programs start from the same
// parameters.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/Random.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

typedef uint32_t Words __attribute__((ext_vector_type(16)));
typedef uint64_t WideWords __attribute__((ext_vector_type(16)));

/// Four words for each of sixteen consecutive blocks.
struct Blocks {
  Words word[4];

  Blocks(uint64_t firstBlock, uint64_t stream, uint32_t key0, uint32_t key1) {
    const WideWords number = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    WideWords block = number + firstBlock;
    word[0] = __builtin_convertvector(block, Words);
    word[1] = __builtin_convertvector(block >> 32, Words);
    word[2] = (Words)(static_cast<uint32_t>(stream));
    word[3] = (Words)(static_cast<uint32_t>(stream >> 32));
    for (int round = 0; round < 10; ++round) {
      WideWords product0 = __builtin_convertvector(word[0], WideWords) * uint64_t(0xD2511F53);
      WideWords product1 = __builtin_convertvector(word[2], WideWords) * uint64_t(0xCD9E8D57);
      word[0] = __builtin_convertvector(product1 >> 32, Words) ^ word[1] ^ key0;
      word[2] = __builtin_convertvector(product0 >> 32, Words) ^ word[3] ^ key1;
      word[1] = __builtin_convertvector(product1, Words);
      word[3] = __builtin_convertvector(product0, Words);
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
  }
};

/// In [0, 1), multiples of 2^-24.
HYBRID_INLINE Vector<float> fraction(Words words) {
  return __builtin_convertvector(words >> 8, Vector<float>) * 0x1p-24f;
}

HYBRID_INLINE void drawBlocks(const RandomParams &params, const Blocks &blocks,
                              Vector<float> out[4]) {
  const float a = static_cast<float>(params.a), b = static_cast<float>(params.b);
  if (params.distribution == 0) {
    for (int k = 0; k < 4; ++k) {
      Vector<float> value = fraction(blocks.word[k]) * (b - a) + a;
      out[k] = value < b ? value : splat(a); // rounding may reach b
    }
    return;
  }
  for (int k = 0; k < 4; k += 2) {
    Vector<float> nonZero = fraction(blocks.word[k]) + 0x1p-24f, cosine, sine;
    Vector<float> radius = squareRoot<float>(logarithm(nonZero) * -2.0f) * b;
    cosineAndSine(fraction(blocks.word[k + 1]), cosine, sine);
    out[k] = radius * cosine + a;
    out[k + 1] = radius * sine + a;
  }
}

template <typename T>
HYBRID_INLINE void random(int64_t item, Buffers buffers, const RandomParams &params) {
  const int32_t *seed = buffers.at<const int32_t>(0);
  T *out = buffers.at<T>(1);
  int64_t end = minimum((item + 1) * randomElements, params.elements);
  for (int64_t first = item * randomElements; first < end; first += 64) {
    Blocks blocks(static_cast<uint64_t>(first / 4), static_cast<uint64_t>(params.stream),
                  static_cast<uint32_t>(seed[0]), static_cast<uint32_t>(seed[1]));
    Vector<float> drawn[4];
    drawBlocks(params, blocks, drawn);
    float values[64];
    for (int k = 0; k < 4; ++k)
      store(values + 16 * k, drawn[k]);
    int64_t count = minimum(64, end - first);
    for (int64_t i = 0; i < count; ++i)
      out[first + i] = static_cast<T>(values[(i & 3) * 16 + i / 4]);
  }
}

} // namespace

HYBRID_KERNEL(random, RandomParams)
