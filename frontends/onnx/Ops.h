//===- Ops.h - ops of the dialect for values of a foreign graph -----------------===//
//
// What a file says may be nonsense, so every op is asked for its types and verified before it is
// added. What it says against itself is kept in `fault`, and a scalar takes its place: a node is
// converted to its end and reported once.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "frontends/onnx/Known.h"
#include "mlir/IR/Block.h"

namespace hybrid::onnx::frontend {

class Ops {
public:
  explicit Ops(mlir::MLIRContext &context) : builder(&context), location(builder.getUnknownLoc()) {}

  mlir::OpBuilder builder;
  mlir::Location location; ///< of the node that is being converted
  std::string fault;       ///< of that node; empty: none yet

  void fail(const llvm::Twine &message) {
    if (fault.empty())
      fault = message.str();
  }

  using Operands = llvm::ArrayRef<llvm::SmallVector<mlir::Value, 2>>;
  /// The results of the op called `name`, `wanted` at least; groups of operands are those of its
  /// segments. `body` becomes its region.
  llvm::SmallVector<mlir::Value> add(llvm::StringRef name, Operands groups,
                                     llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                     size_t wanted = 1, mlir::Block *body = nullptr);
  template <typename Op>
  mlir::Value one(llvm::ArrayRef<mlir::Value> operands,
                  llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    llvm::SmallVector<llvm::SmallVector<mlir::Value, 2>> groups;
    for (mlir::Value operand : operands)
      groups.push_back({operand});
    return add(Op::getOperationName(), groups, attributes)[0];
  }

  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape) {
    return tensorOf(shape, builder.getF32Type());
  }
  mlir::NamedAttribute attribute(llvm::StringRef name, mlir::Attribute value) {
    return builder.getNamedAttr(name, value);
  }
  mlir::NamedAttribute integer(llvm::StringRef name, int64_t value) {
    return attribute(name, builder.getI64IntegerAttr(value));
  }
  mlir::NamedAttribute number(llvm::StringRef name, double value) {
    return attribute(name, builder.getF64FloatAttr(value));
  }
  mlir::NamedAttribute sizes(llvm::StringRef name, llvm::ArrayRef<int64_t> shape) {
    return attribute(name, shapeAttr(builder.getContext(), shape));
  }
  mlir::NamedAttribute places(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return attribute(name, builder.getDenseI64ArrayAttr(values));
  }

  mlir::Value constant(double value, llvm::ArrayRef<int64_t> shape = {});
  mlir::Value unary(UnaryKind kind, mlir::Value x);
  mlir::Value binary(BinaryKind kind, mlir::Value a, mlir::Value b);
  mlir::Value plus(mlir::Value x, double value) {
    return binary(BinaryKind::Add, x, constant(value));
  }
  mlir::Value times(mlir::Value x, double factor) {
    return factor == 1 ? x : binary(BinaryKind::Mul, x, constant(factor));
  }
  mlir::Value oneMinus(mlir::Value x) { return binary(BinaryKind::Sub, constant(1), x); }
  mlir::Value reduce(ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> axes, bool keep);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// `size` positions of one dimension.
  mlir::Value part(mlir::Value x, int64_t axis, int64_t start, int64_t size);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis);
  /// Zeros before and behind along one dimension.
  mlir::Value pad(mlir::Value x, int64_t axis, int64_t before, int64_t behind);
  mlir::Value reverse(mlir::Value x, int64_t axis);
  /// x with the dimension `axis` as its last, or the last as `axis` again.
  mlir::Value moveLast(mlir::Value x, int64_t axis);
  mlir::Value moveBack(mlir::Value x, int64_t axis);

private:
  int64_t count = 0;
};

} // namespace hybrid::onnx::frontend
