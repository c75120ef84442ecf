//===- ExportOnnx.h - --emit=onnx -------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"
#include <string>

namespace hybrid {

struct OnnxRequest {
  std::string checkpoint; // .safetensors; empty: parameters become inputs
  int64_t operatorSet;
  std::string compilerVersion;
  bool asText;         // protobuf's, for people
  std::string weights; // the file that gets the weights; empty: they are in the model
};

/// The ONNX model of a module as the front end leaves it: of the forward program, or of the program
/// for the next token (`options.decode`) or chunk (`options.chunked`), whose states are inputs and
/// outputs. Writes `request.weights`. Fails with messages.
mlir::FailureOr<std::string> exportOnnx(mlir::ModuleOp module, const CompileOptions &options,
                                        const OnnxRequest &request);

} // namespace hybrid
