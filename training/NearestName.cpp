//===- NearestName.cpp - what somebody may have meant ------------------------===//
#include "training/NearestName.h"
#include <algorithm>
#include <utility>
#include <vector>

namespace hybrid::rt {

// Edit distance with single-character insertions, deletions and substitutions.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearestName(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() > 64)
    return "";
  std::string best;
  size_t bestDistance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string &candidate : candidates) {
    size_t distance = editDistance(word, candidate);
    // "len" for "length" is as plain as a typo.
    if (word.size() >= 3 && candidate.starts_with(word))
      distance = std::min<size_t>(distance, 1);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace hybrid::rt
