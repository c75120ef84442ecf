//===- HybridOps.h - the hybrid dialect in C++ ------------------------------===//
//
// Everything generated from the .td files of this folder, in the order the generator needs.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/SequenceUse.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"

namespace hybrid {
/// An op that computes every element of its result from the elements of its operands at the same
/// (broadcast) index.
template <typename ConcreteOp>
class FusableElementwise : public mlir::OpTrait::TraitBase<ConcreteOp, FusableElementwise> {};

/// An op whose results are views of its first operand, see Hybrid_ViewOfOperand.
template <typename ConcreteOp>
class ViewOfOperand : public mlir::OpTrait::TraitBase<ConcreteOp, ViewOfOperand> {};

/// Where an elementwise op has the sequence, see SequenceAxisOp.
mlir::FailureOr<int64_t> broadcastSequenceAxis(mlir::Operation *op,
                                               llvm::ArrayRef<std::optional<int64_t>> operandAxes,
                                               llvm::StringRef &why);

/// Fails with a message unless all floating point operands and results of `op` have one element
/// type.
llvm::LogicalResult verifyOneFloatType(mlir::Operation *op);

/// Fails with a message unless the first two operands of a matrix product have one floating point
/// type and everything else has the type its sums are kept in.
llvm::LogicalResult verifyProductFloatTypes(mlir::Operation *op);
/// The type that sums of products of `operand` values are kept in: f32 for bf16, else its own.
mlir::Type productResultElement(mlir::Type operand);

/// Bytes of all operands and results; their shapes must be static.
int64_t bytesOfTensors(mlir::Operation *op);

/// An op whose floating point operands and results have one element type.
template <typename ConcreteOp>
class OneFloatType : public mlir::OpTrait::TraitBase<ConcreteOp, OneFloatType> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyOneFloatType(op); }
};

/// A matrix product, see Hybrid_ProductFloatTypes.
template <typename ConcreteOp>
class ProductFloatTypes : public mlir::OpTrait::TraitBase<ConcreteOp, ProductFloatTypes> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyProductFloatTypes(op);
  }
};

/// Fails with a message unless the body of `op`, a BodyOp, takes and yields what it says.
llvm::LogicalResult verifyBody(mlir::Operation *op);

} // namespace hybrid

#include "dialect/HybridDialect.h.inc"
#include "dialect/HybridEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/HybridAttributes.h.inc"
#include "dialect/HybridInterfaces.h.inc"
#include "dialect/SequenceInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialect/HybridOps.h.inc"
