//===- Prepare.h - documents into a folder of token files -------------------===//
#pragma once
#include "training/data/TokenSet.h"
#include <functional>

namespace hybrid::rt {

struct PreparedCounts {
  uint64_t tokens = 0, documents = 0, bytes = 0;
};
struct PrepareReport {
  PreparedCounts train, validation;
};

/// Makes the folder `out`, whole or not at all: train.bin and validation.bin (bare tokens of 16
/// bits, 32 if the vocabulary needs them, as nanoGPT reads them), *.documents (where each begins,
/// 64 bits), tokenizer.json and data.json, which says what they are. `out` must not be there.
Result<PrepareReport> prepareTokens(const DataSpec &spec, const std::string &out, uint64_t seed);

} // namespace hybrid::rt
