//===- ScoreSuite.h - a language model on a suite of tasks ---------------------------===//
#pragma once
#include "training/LanguageModel.h"

namespace hybrid::rt {

struct SuiteOptions {
  LanguageModelChoice model;
  std::string suite;      // a file, or a name
  std::string dataFolder; // empty: that of the file
  std::string out;        // keeps the score of each example; empty: nowhere
  bool json = false;
};

/// Scores it and prints the figures.
Result<void> scoreSuite(const SuiteOptions &options);

} // namespace hybrid::rt
