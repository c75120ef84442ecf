//===- IsoCheck.h - whether architectures can be compared ---------------------===//
//
// The suite compares architectures of equal state and about equal parameters (Poli et al. 2024,
// section 3.2). What differs from the first architecture by more than the tolerance is told, with
// how much. States are those that MAD counts, and only of architectures whose state does not grow
// with the sequence: attention has no other there (appendix B.3.2).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"

namespace hybrid::rt::lab {

/// "4096", "2048 + 32768 growing", "unknown".
std::string stateText(const std::optional<StateSize> &state);

/// Numbers for people, a row an architecture.
std::string costTable(const std::vector<Architecture> &architectures, int width);

/// A sentence for each difference.
struct IsoDifferences {
  std::vector<std::string> ofParameters, ofState;
};

/// `tolerance` 0.25: from 1/1.25 to 1.25 times as many are equal.
IsoDifferences isoDifferences(const std::vector<Architecture> &architectures, double tolerance);

} // namespace hybrid::rt::lab
