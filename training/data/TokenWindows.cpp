//===- TokenWindows.cpp - tokens as the instances of a training -------------===//
#include "training/data/TokenWindows.h"
#include "executable/Permutation.h"
#include "training/tasks/Task.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {

Result<Packing> packingOf(const std::string &name) {
  if (name == "stream")
    return Packing::Stream;
  if (name == "documents")
    return Packing::Documents;
  if (name == "cut")
    return Packing::Cut;
  return Error{fmt::format("pack={}: expected stream, documents or cut", name)};
}

TokenWindows::TokenWindows(const TokenSplit &split, int64_t length, Packing packing)
    : split(split), length(static_cast<uint64_t>(length)), packing(packing) {
  uint64_t tokens = split.tokens.size();
  if (packing == Packing::Cut)
    count = split.documents.size();
  else
    count = tokens > 0 ? (tokens - 1) / this->length : 0;
}

TokenWindows::Place TokenWindows::place(uint64_t i) const {
  uint64_t tokens = split.tokens.size();
  if (packing != Packing::Cut)
    return {i * length, i * length + length + 1};
  uint64_t begin = split.documents[i];
  uint64_t end = i + 1 < split.documents.size() ? split.documents[i + 1] : tokens;
  return {begin, std::min(end, begin + length + 1)};
}

TokenWindows::Place TokenWindows::trainingPlace(uint64_t number, uint64_t seed) const {
  Place chosen = place(shuffledExample(number, count, seed));
  if (packing == Packing::Cut)
    return chosen;
  // The tokens that no window would reach allow to begin a little later, other in every epoch.
  uint64_t spare = (split.tokens.size() - 1) % length;
  uint64_t shift = mixBits(mixBits(seed) + number / count) % (spare + 1);
  return {chosen.begin + shift, chosen.end + shift};
}

void TokenWindows::copy(Place place, std::span<int32_t> inputs, std::span<int32_t> targets,
                        std::span<int32_t> segments) const {
  const auto &documents = split.documents;
  bool separates = packing == Packing::Documents && !documents.empty();
  auto next = std::upper_bound(documents.begin(), documents.end(), place.begin);
  int32_t segment = 0;
  for (uint64_t t = 0; t < length; ++t) {
    uint64_t at = place.begin + t;
    for (; separates && next != documents.end() && *next <= at; ++next)
      ++segment;
    bool hasToken = at < place.end, hasNext = at + 1 < place.end;
    if (separates && next != documents.end() && *next == at + 1)
      hasNext = false; // it begins another document
    inputs[t] = hasToken ? static_cast<int32_t>(split.tokens[at]) : 0;
    targets[t] = hasNext ? static_cast<int32_t>(split.tokens[at + 1]) : ignoredTarget;
    if (!segments.empty())
      segments[t] = segment;
  }
}

} // namespace hybrid::rt
