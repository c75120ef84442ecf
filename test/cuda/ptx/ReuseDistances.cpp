//===- ReuseDistances.cpp - how far back a sector was last read -------------===//
#include "test/cuda/ptx/ReuseDistances.h"
#include <algorithm>
#include <bit>

namespace hybrid::ptx {

constexpr uint32_t mostTimes = 1u << 16;

size_t reachOf(uint64_t distance) {
  if (distance < 4)
    return static_cast<size_t>(distance);
  const auto bits = static_cast<size_t>(std::bit_width(distance));
  return std::min(4 * (bits - 2) + (distance >> (bits - 3) & 3), reachCount - 1);
}

void ReuseDistances::clear() {
  last.clear();
  counts.assign(mostTimes + 1, 0);
  now = 0;
}

void ReuseDistances::add(uint32_t time, uint32_t value) {
  for (uint32_t i = time + 1; i < counts.size(); i += i & -i)
    counts[i] += value;
}

uint32_t ReuseDistances::sum(uint32_t time) const {
  uint32_t total = 0;
  for (uint32_t i = time; i > 0; i -= i & -i)
    total += counts[i];
  return total;
}

/// Times begin anew, with what a cache can still hold.
void ReuseDistances::forgetOldest() {
  std::vector<std::pair<uint32_t, uint64_t>> kept;
  for (auto [sector, time] : last)
    kept.emplace_back(time, sector);
  std::sort(kept.begin(), kept.end());
  const size_t most = size_t{1} << reachBits;
  kept.erase(kept.begin(), kept.end() - static_cast<long>(std::min(kept.size(), most)));
  clear();
  for (auto [time, sector] : kept) {
    last.emplace(sector, now);
    add(now++, 1);
  }
}

size_t ReuseDistances::read(uint64_t sector) {
  if (counts.empty())
    clear();
  if (now == mostTimes)
    forgetOldest();
  size_t kind = reachCount - 1;
  auto [found, isNew] = last.try_emplace(sector);
  uint32_t &time = found->second;
  if (!isNew) {
    kind = reachOf(sum(now) - sum(time + 1));
    add(time, UINT32_MAX); // 1 less
  }
  time = now;
  add(now++, 1);
  return kind;
}

} // namespace hybrid::ptx
