//===- Rng.h - random numbers that are a function of their place ------------===//
//
// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). A number
// depends only on (seed, stream, index, counter), never on who draws it or in which order: instance
// i of a data set is the same for any number of workers, and resuming a run needs no generator
// state on disk. Only integer arithmetic, so that every platform draws the same.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Permutation.h"
#include <array>
#include <cstdint>

namespace hybrid::rt {

/// One block of Philox4x32-10: four words that are a bijection of `counter` under `key`.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t{0xD2511F53u} * counter[0];
    uint64_t second = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

using hybrid::mixBits, hybrid::permuted;

/// A sequence of numbers belonging to (seed, stream, index). Cheap to make: make one an instance.
class Rng {
public:
  Rng(uint64_t seed, uint64_t stream, uint64_t index) : index(index) {
    uint64_t mixed = mixBits(mixBits(seed) ^ stream);
    key = {static_cast<uint32_t>(mixed), static_cast<uint32_t>(mixed >> 32)};
  }

  uint32_t next() {
    if (used == 4) {
      block = philox({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                      static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32)},
                     key);
      ++counter;
      used = 0;
    }
    return block[used++];
  }

  uint64_t next64() {
    uint64_t high = next();
    return high << 32 | next();
  }

  /// Uniform in [0, bound), exactly: multiply-shift with rejection (Lemire 2019). `bound` >= 1.
  uint64_t below(uint64_t bound) {
    if (bound <= 1)
      return 0;
    __extension__ using Wide = unsigned __int128;
    Wide product = Wide{next64()} * bound;
    uint64_t low = static_cast<uint64_t>(product);
    if (low < bound) {
      uint64_t threshold = (0 - bound) % bound;
      while (low < threshold) {
        product = Wide{next64()} * bound;
        low = static_cast<uint64_t>(product);
      }
    }
    return static_cast<uint64_t>(product >> 64);
  }

  /// Uniform in [0, 1) with 53 bits.
  double uniform() { return static_cast<double>(next64() >> 11) * 0x1p-53; }
  /// Uniform in [0, 1) with 24 bits.
  float uniformFloat() { return static_cast<float>(next() >> 8) * 0x1p-24f; }

private:
  std::array<uint32_t, 2> key{};
  std::array<uint32_t, 4> block{};
  uint64_t index, counter = 0;
  unsigned used = 4;
};

} // namespace hybrid::rt
