//===- StudyFixture.h - a study that nobody ran --------------------------------===//
//
// Ten architectures on MAD's suite with grids and curves, plausible enough to judge a page by.
// Everything in it is drawn from its seed.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"

namespace hybrid::rt::lab::test {

struct StudyShape {
  uint64_t seed = 1;
  size_t architectures = 10; // at most 10
  bool sweeps = true;        // false: baselines alone
  int64_t seeds = 1;
  bool failures = true; // some failed, diverged and pending runs
};
Study makeStudy(const StudyShape &shape = {});

} // namespace hybrid::rt::lab::test
