//===- SharedRanges.h - bytes of a space, as ranges ------------------------===//
#pragma once
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cstdint>
#include <optional>

namespace hybrid {

/// [begin, end).
struct ByteRange {
  int64_t begin, end;
};

/// A set of bytes. Ranges that meet, or are parted by less than parameters are aligned to, are one.
class ByteRanges {
public:
  void add(ByteRange added) {
    if (added.begin >= added.end)
      return;
    auto *at =
        llvm::lower_bound(sorted, added.begin - alignment,
                          [](const ByteRange &range, int64_t begin) { return range.end <= begin; });
    auto *last = at;
    for (; last != sorted.end() && last->begin < added.end + alignment; ++last) {
      added.begin = std::min(added.begin, last->begin);
      added.end = std::max(added.end, last->end);
    }
    at = sorted.erase(at, last);
    sorted.insert(at, added);
  }
  void add(const ByteRanges &others) {
    for (const ByteRange &range : others.sorted)
      add(range);
  }

  llvm::ArrayRef<ByteRange> ranges() const { return sorted; }
  size_t count() const { return sorted.size(); }
  bool contains(ByteRange wanted) const {
    return llvm::any_of(sorted, [&](const ByteRange &range) {
      return range.begin <= wanted.begin && wanted.end <= range.end;
    });
  }
  /// Bytes of both; the first of them.
  std::optional<ByteRange> common(const ByteRanges &others) const {
    for (const ByteRange &a : sorted)
      for (const ByteRange &b : others.sorted)
        if (std::max(a.begin, b.begin) < std::min(a.end, b.end))
          return ByteRange{std::max(a.begin, b.begin), std::min(a.end, b.end)};
    return {};
  }

private:
  static constexpr int64_t alignment = 64; // of parameters in their space
  llvm::SmallVector<ByteRange> sorted;
};

} // namespace hybrid
