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

/// Sectors (32 bytes) of the largest L1 cache, 256 KiB: what lies farther back is as never read.
constexpr int reachBits = 13;
/// Kinds of distances: 0, 1, 2 to 3, 4 to 7, ..., 4096 to 8191, and farther or never.
constexpr std::size_t reachCount = reachBits + 2;
using Reaches = std::array<uint64_t, reachCount>;

/// Of a block.
class ReuseDistances {
public:
  /// What warp `warp` of `warps` reads between two barriers of the block. They run one after
  /// another here and beside one another on a GPU: what a warp reads again there, between two
  /// barriers, is so many times as far.
  void begin(int ofWarp, int ofWarps, uint32_t ofInterval) {
    warp = ofWarp, warps = static_cast<uint64_t>(ofWarps), interval = ofInterval;
  }
  /// The kind of its distance; it is the one that was read last now.
  std::size_t read(uint64_t sector);
  void clear();

private:
  struct Last {
    uint32_t time, interval;
    int warp;
  };
  void forgetOldest();
  void add(uint32_t time, uint32_t value);
  uint32_t sum(uint32_t time) const; ///< of the sectors that were last read before it

  std::unordered_map<uint64_t, Last> last;
  std::vector<uint32_t> counts; ///< a Fenwick tree over times: 1 where a sector was read last
  uint32_t now = 0, interval = 0;
  uint64_t warps = 1;
  int warp = 0;
};

} // namespace hybrid::ptx
