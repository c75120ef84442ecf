//===- IsoCheck.h - whether architectures can be compared ---------------------===//
//
// The suite compares architectures of equal state and about equal parameters (Poli et al. 2024,
// section 3.2). What differs from the first architecture by more than the tolerance is told, with
// how much.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"

namespace hybrid::rt::lab {

/// Numbers for people, a row an architecture.
std::string costTable(const std::vector<Architecture> &architectures, int width);

/// A sentence for each difference. `tolerance` 0.25: from 1/1.25 to 1.25 times as many are equal.
std::vector<std::string> isoDifferences(const std::vector<Architecture> &architectures,
                                        double tolerance);

} // namespace hybrid::rt::lab
