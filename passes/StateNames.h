//===- StateNames.h - values that programs keep between runs -----------------===//
//
// A state lies with the parameters and is read and written like one, by name; the attribute tells
// them apart, and a colon in the name, which no parameter's has. Programs that decode carry a
// sequence in `state:N`; what they need of the parameters alone is computed once, by `prepare`,
// into `prepared:N`.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/HybridOps.h"

namespace hybrid {

inline constexpr llvm::StringLiteral stateAttribute = "hybrid.state";

inline std::string carriedState(size_t number) { return "state:" + std::to_string(number); }
inline std::string preparedState(size_t number) { return "prepared:" + std::to_string(number); }

inline bool isState(mlir::Operation *op) { return op->hasAttr(stateAttribute); }

inline mlir::Value readState(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                             mlir::Type type) {
  auto read = ParameterOp::create(builder, loc, type, builder.getStringAttr(name), mlir::Value(),
                                  builder.getBoolAttr(false), builder.getBoolAttr(false),
                                  builder.getF64FloatAttr(1));
  read->setAttr(stateAttribute, builder.getUnitAttr());
  return read;
}

inline AssignOp writeState(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                           mlir::Value value) {
  auto write = AssignOp::create(builder, loc, name, value);
  write->setAttr(stateAttribute, builder.getUnitAttr());
  return write;
}

} // namespace hybrid
