//===- Record.h - what an imported folder notes of the original -----------------===//
#pragma once
#include "training/exchange/Family.h"
#include "training/exchange/Weights.h"
#include <functional>

namespace hybrid::rt::exchange {

/// Names and types of the original tensors, as exchange.json has them.
struct Record {
  std::string type; // of the model
  std::map<std::string, SafetensorsEntry::Type> tensors;
  /// How many rows tensors have of which config.json does not say it.
  std::map<std::string, int64_t> rows;
};

/// The text of exchange.json.
std::string recordOf(const std::string &type, const Architecture &model, const Weights &weights);
/// Reads it. The error names the file, and what is wrong with it.
Result<Record> readRecord(const std::string &path);

/// How a tensor of the rules is called where `has` says which names there are: as in the rules, or
/// with another beginning; as in the rules if it is not there.
std::string nameInFile(const Architecture &model, const std::string &name,
                       const std::function<bool(const std::string &)> &has);

} // namespace hybrid::rt::exchange
