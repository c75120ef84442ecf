//===- ImportOnnx.h - hybridc model.onnx ------------------------------------===//
#pragma once
#include "frontends/onnx/Import.h"
#include "tools/compiler/Driver.h"

namespace hybrid {

/// The module of an ONNX model, and its weights; `options` takes the batch and length that its
/// inputs have. Null after diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef bytes,
                                             const llvm::StringMap<std::string> &settings,
                                             DriverOptions &options,
                                             std::vector<onnx::frontend::Weight> &weights);

/// Writes them beside an executable, as .safetensors; false after a message.
bool writeWeights(const std::vector<onnx::frontend::Weight> &weights,
                  const std::string &executable);

} // namespace hybrid
