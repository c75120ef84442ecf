//===- DataChoice.h - what a model is trained or scored on --------------------------===//
#pragma once
#include "training/compile/ModelSpec.h"
#include "training/data/DataSpec.h"
#include "training/data/Source.h"
#include <memory>
#include <string>
#include <vector>

namespace hybrid::rt {

/// A task or data sets, one of the two.
struct DataChoice {
  std::string task;              // NAME[:key=value,...]
  std::vector<std::string> data; // KIND:PATH[,option=value]; more than one are mixed
  Convention convention = Convention::Paper;
  uint64_t dataSeed = defaultDataSeed, trainExamples = 0; // 0: fresh ones for ever
  std::string checkpoint; // that is scored: text which names no tokenizer has the one it carries

  /// For a .hyb without length: sets the model's to what the data has. Checks what is given.
  Result<void> chooseLength(ModelSpec &model) const;
  /// The source for a model compiled for `length` positions.
  Result<std::unique_ptr<Source>> open(int64_t length, uint64_t seed) const;

private:
  Result<std::vector<DataSpec>> parsed() const;
};

} // namespace hybrid::rt
