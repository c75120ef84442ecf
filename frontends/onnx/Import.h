//===- Import.h - an ONNX model to the dialect --------------------------------===//
//
// The way in for models of other programs. A graph becomes the function @forward of a module, its
// stored numbers parameters, whose values are given beside: the dialect holds none. What follows
// from sizes alone is computed here, so that no size is left open. See docs/book/exchange.md.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace hybrid::onnx::frontend {

/// Most bytes of a model that are read: protobuf reads no larger message.
inline constexpr uint64_t mostModelBytes = INT32_MAX;

struct ImportOptions {
  std::string path;                 ///< for messages; files of weights lie beside it
  int64_t batch = 1, length = 1;    ///< what the free dimensions of inputs become
  llvm::StringMap<double> settings; ///< inputs that are one number everywhere
};

/// The values of a parameter, row-major, little-endian.
struct Weight {
  std::string name;
  llvm::SmallVector<int64_t> shape;
  bool isWide = false; ///< f64, else f32
  std::string bytes;
};

struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null after diagnostics
  std::vector<Weight> weights;
  int64_t batch = 1, length = 1; ///< of the inputs as they are
};

/// Reads a model. All operators that have no form here are named at once.
ImportedModel importModel(llvm::StringRef bytes, mlir::MLIRContext &context,
                          const ImportOptions &options);

} // namespace hybrid::onnx::frontend
