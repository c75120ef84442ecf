//===- NearestName.cpp - what somebody may have meant ------------------------===//
#include "executable/NearestName.h"
#include <algorithm>
#include <utility>
#include <vector>

namespace hybrid {
namespace {

/// Characters inserted, left out, exchanged for another, or swapped with their neighbour (the
/// restricted Damerau-Levenshtein distance).
size_t slips(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// One or two letters are near to everything.
size_t mostSlips(size_t letters) {
  return letters < 3 ? 0 : letters < 5 ? 1 : letters < 9 ? 2 : letters / 3;
}

} // namespace

std::string nearestName(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > 64)
    return "";
  std::string best;
  size_t fewest = word.size(); // of slips, and one more
  for (const std::string &candidate : candidates) {
    size_t distance = slips(word, candidate), allowed = mostSlips(word.size());
    // "len" for "length" is as plain as a typo.
    if (word.size() >= 3 && candidate.starts_with(word))
      distance = std::min<size_t>(distance, 1);
    else if (candidate.size() < 3)
      allowed = 0;
    // So is a letter too many.
    if (!candidate.empty() && word.starts_with(candidate))
      allowed = std::max<size_t>(allowed, 1);
    auto isOff = [&](const std::string &name) { // in its length
      return name.size() > word.size() ? name.size() - word.size() : word.size() - name.size();
    };
    const bool better = distance < fewest || (distance == fewest && isOff(candidate) < isOff(best));
    if (distance <= allowed && better) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace hybrid
