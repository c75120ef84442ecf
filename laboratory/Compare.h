//===- Compare.h - what two studies have in common, and what not -------------------===//
#pragma once
#include "laboratory/Results.h"
#include <array>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

/// A score in the first and in the second study; one that is missing is a number that is none.
struct Both {
  std::array<double, 2> value;
  double difference() const { return value[1] - value[0]; } // of the second from the first
};

struct ComparedSetting {
  std::string architecture, task, setting, title;
  Both score;
};

struct ComparedArchitecture {
  std::string name;
  std::array<bool, 2> present;
  Both overall;
  std::vector<Both> tasks; // in the order of Comparison::tasks
  int64_t settings = 0;    // compared; 0: in one study alone
};

struct Comparison {
  std::string measure; // "micro accuracy", "macro accuracy"
  /// What forbids to compare the numbers at all, and what else is not alike. Plain sentences.
  std::vector<std::string> unlike, differences;
  std::vector<std::string> tasks;
  std::vector<ComparedArchitecture> architectures;
  std::vector<ComparedSetting> settings; // the largest difference first
};

/// An architecture that only one study has is scored over what that study has.
Comparison compare(const Study &a, const Study &b);

/// A table for a terminal of 100 columns, behind it what differs most. `first` and `second` name
/// the studies, as their folders do.
std::string compareText(const Study &a, const Study &b, const std::string &first = "A",
                        const std::string &second = "B");

} // namespace hybrid::rt::lab
