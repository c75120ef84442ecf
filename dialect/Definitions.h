//===- Definitions.h - how the functions of ops are written -----------------===//
//
// Most ops implement the same interfaces: in the file of an op,
//
//   HYBRID_INFER(TakeOp) { return give(types, {...}); }
//   HYBRID_VJP(TakeOp) { return give(gradients, {...}); }
//   HYBRID_FLOPS(TakeOp, 0, "0 (a gather)")
//
// define inferReturnTypes() of `adaptor`, with errors by emitOptionalError(location, ...);
// buildVjp() by `builder` of `cotangents`; and getFlops() with the formula behind it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

#define HYBRID_INFER(Op)                                                                           \
  LogicalResult Op::inferReturnTypes(MLIRContext *context, std::optional<Location> location,       \
                                     Adaptor adaptor, SmallVectorImpl<Type> &types)
#define HYBRID_VJP(Op)                                                                             \
  LogicalResult Op::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,                       \
                             SmallVectorImpl<Value> &gradients)
#define HYBRID_FLOPS(Op, count, formula)                                                           \
  int64_t Op::getFlops() { return count; }                                                         \
  StringRef Op::getFlopsFormula() { return formula; }

namespace hybrid {

/// The results of a function that appends them, and its success.
template <typename T>
llvm::LogicalResult give(llvm::SmallVectorImpl<T> &results, llvm::ArrayRef<T> values) {
  results.append(values.begin(), values.end());
  return llvm::success();
}

} // namespace hybrid
