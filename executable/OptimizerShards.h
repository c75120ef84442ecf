//===- OptimizerShards.h - which rank owns what of the parameters ------------===//
//
// Ranks that share an optimizer's state (`hybridc --shard-optimizer`) each have some stripes of the
// spaces that are laid out like Parameters: stripe s is that of rank s mod N. So every stretch that
// is longer than N stripes is shared out evenly, whatever tensors are in it, and how many ranks
// there are is known when they run, not when a model is compiled.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <algorithm>
#include <cstdint>

namespace hybrid {

/// The setting of an executable whose ranks share the optimizer's work: "state", or "parameters"
/// where they also hold parameters and gradients in shares.
constexpr const char *optimizerShardsSetting = "shard-optimizer";

/// Bytes of a stripe: whole pages, and one work item of AdamW's.
constexpr uint64_t shardStripe = uint64_t(32) << 10;

/// The rank of `ranks` that has the byte at `offset` of a space.
constexpr int shardOwner(uint64_t offset, int ranks) {
  return static_cast<int>(offset / shardStripe % static_cast<uint64_t>(ranks));
}

/// Calls visit(offset, bytes, rank) for the parts of [offset, offset + bytes) of a space, one a
/// stripe.
template <typename Visit>
void forShards(uint64_t offset, uint64_t bytes, int ranks, Visit &&visit) {
  for (const uint64_t end = offset + bytes; offset < end;) {
    const uint64_t next = std::min(end, (offset / shardStripe + 1) * shardStripe);
    visit(offset, next - offset, shardOwner(offset, ranks));
    offset = next;
  }
}

/// Whether a rank has a byte of [offset, offset + bytes).
constexpr bool ownsAny(uint64_t offset, uint64_t bytes, int rank, int ranks) {
  if (bytes == 0)
    return false;
  const uint64_t first = offset / shardStripe, last = (offset + bytes - 1) / shardStripe;
  const auto count = static_cast<uint64_t>(ranks), own = static_cast<uint64_t>(rank);
  return (own + count - first % count) % count <= last - first;
}

} // namespace hybrid
