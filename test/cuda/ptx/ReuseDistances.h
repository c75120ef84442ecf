//===- ReuseDistances.h - how far back a sector was last read ---------------===//
//
// Whether a cache of any size still has what is read: one that drops what was read the longest time
// ago has a sector if fewer different ones than it holds were read since.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace hybrid::ptx {

/// Sectors (32 bytes) of the largest L1 cache, 256 KiB, are 2 to the power of it: what lies farther
/// back is as never read.
constexpr int reachBits = 13;
/// Kinds of distances: 0, 1, 2, 3, then four for each power of two (4, 5, 6, 7, 8 to 9, 10 to 11,
/// ..., 7168 to 8191), and farther or never.
constexpr std::size_t reachCount = 4 * (reachBits - 1) + 1;
using Reaches = std::array<uint64_t, reachCount>;
std::size_t reachOf(uint64_t distance);

/// Of a block.
class ReuseDistances {
public:
  /// The kind of its distance; it is the one that was read last now.
  std::size_t read(uint64_t sector);
  void clear();

private:
  void forgetOldest();
  void add(uint32_t time, uint32_t value);
  uint32_t sum(uint32_t time) const; ///< of the sectors that were last read before it

  std::unordered_map<uint64_t, uint32_t> last; ///< when each was read
  std::vector<uint32_t> counts;                ///< a Fenwick tree: 1 at those times
  uint32_t now = 0;
};

} // namespace hybrid::ptx
