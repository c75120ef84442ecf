//===- ReuseDistances.cpp - how far back a sector was last read -------------===//
#include "test/cuda/ptx/ReuseDistances.h"
#include <algorithm>
#include <bit>

namespace hybrid::ptx {

constexpr uint32_t mostTimes = 1u << 16;

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
  std::vector<std::pair<uint64_t, Last>> kept(last.begin(), last.end());
  std::sort(kept.begin(), kept.end(),
            [](const auto &a, const auto &b) { return a.second.time > b.second.time; });
  kept.resize(std::min<size_t>(kept.size(), 1u << reachBits));
  clear();
  for (auto one = kept.rbegin(); one != kept.rend(); ++one) {
    one->second.time = now;
    last.insert(*one);
    add(now++, 1);
  }
}

size_t ReuseDistances::read(uint64_t sector) {
  if (counts.empty() || now == mostTimes)
    counts.empty() ? clear() : forgetOldest();
  size_t kind = reachCount - 1;
  auto [found, isNew] = last.try_emplace(sector);
  Last &before = found->second;
  if (!isNew) {
    uint64_t distance = sum(now) - sum(before.time + 1);
    if (before.warp == warp && before.interval == interval)
      distance *= warps;
    kind = std::min<size_t>(static_cast<size_t>(std::bit_width(distance)), kind);
    add(before.time, UINT32_MAX); // 1 less
  }
  before = {now, interval, warp};
  add(now++, 1);
  return kind;
}

} // namespace hybrid::ptx
