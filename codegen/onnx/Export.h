//===- Export.h - a program of the graph dialect as an ONNX model -----------------===//
#pragma once
#include "dialect/HybridOps.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::onnx {

/// Versions of ONNX's operators that can be written: the least that is enough for everything, and
/// the first with operators for recurrences.
inline constexpr int64_t standardOperators = 20, newOperators = 27;

/// A file beside the model, which has what protobuf has no room for.
struct WeightsFile {
  std::string name; // without a folder
  std::function<void(llvm::StringRef bytes)> append;
};

struct ExportOptions {
  int64_t operatorSet = standardOperators;
  std::string producerVersion;
  /// Kept in the file: names and values.
  std::vector<std::pair<std::string, std::string>> metadata;
  /// The bytes of a parameter, row-major, or failure with a message; without it parameters are
  /// inputs of the graph.
  std::function<mlir::FailureOr<std::string>(ParameterOp)> parameter;
  /// Where the bytes of trained parameters go; otherwise into the model.
  std::optional<WeightsFile> weights;
};

/// The model that computes `function`, whose sizes are bound. Inputs and outputs are called as the
/// function's; a state is an input of its name and an output of that name with `next.` in front.
/// With `asText` as protobuf's text, long data cut, for people and tests. Fails with a message for
/// each op that has no form.
mlir::FailureOr<std::string> exportModel(mlir::func::FuncOp function, const ExportOptions &options,
                                         bool asText);

} // namespace hybrid::onnx
