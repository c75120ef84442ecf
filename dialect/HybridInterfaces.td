//===- HybridInterfaces.td - what the passes ask of an op -------*- tablegen -*-===//
#ifndef HYBRID_INTERFACES_TD
#define HYBRID_INTERFACES_TD
include "mlir/IR/OpBase.td"

def DifferentiableOp : OpInterface<"DifferentiableOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    Builds the vector-Jacobian product of the op out of hybrid ops. Used by `hybrid-differentiate`.
  }];
  let methods = [
    InterfaceMethod<[{
      Appends to `operandCotangents` one value an operand: the gradient of sum(result * cotangent) with
      respect to it, of the operand's type; a null value where there is none (integers, no dependence).
      `cotangents` has one entry a result; a null entry is zero.
    }], "::mlir::LogicalResult", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$cotangents,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandCotangents)>
  ];
}

def CostOp : OpInterface<"CostOp"> {
  let cppNamespace = "::hybrid";
  let description = "Arithmetic of one execution of the op. Used by `--cost` and by scheduling decisions.";
  let methods = [
    InterfaceMethod<"Floating point operations of one call; a multiply-add is two. Shapes must be static.",
      "int64_t", "getFlops">,
    InterfaceMethod<"The formula behind getFlops(), in the papers' letters, for people.",
      "::llvm::StringRef", "getFlopsFormula">,
    InterfaceMethod<[{
      Bytes that one call reads and writes when every tensor is moved once: all operands and results, unless the op touches
      only a part of one.
    }], "int64_t", "getBytesMoved", (ins), [{}], [{
      return ::hybrid::bytesOfTensors($_op.getOperation());
    }]>,
    InterfaceMethod<[{
      Elements of `operand`, a parameter, that one token meets: all, unless the op chooses a part by the token, as routed
      experts do. Sums up to the model's active parameters.
    }], "int64_t", "getActiveElements", (ins "::mlir::OpOperand &":$operand), [{}], [{
      return ::mlir::cast<::mlir::ShapedType>(operand.get().getType()).getNumElements();
    }]>
  ];
}

def StatefulOp : OpInterface<"StatefulOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    An op that carries state along the sequence. Sizes are scalars per sequence, counted as MAD section D.5 does
    (short-convolution buffers are reported too; callers leave them out where the paper does).
  }];
  let methods = [
    InterfaceMethod<"State that does not grow with the position.", "int64_t", "getFixedStateElements">,
    InterfaceMethod<"State that grows with the position, at the op's full length.", "int64_t", "getDynamicStateElements">,
    InterfaceMethod<[{
      Whether the state is a short convolution's buffer of its last inputs, which MAD's tables of state leave out.
    }], "bool", "isShortBuffer", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"The initial state operand, or null when it is zero.", "::mlir::Value", "getStateOperand">,
    InterfaceMethod<"The final state result, or null when it is not asked for.", "::mlir::Value", "getStateResult">
  ];
}

def RowwiseOp : OpInterface<"RowwiseOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    An op that works row by row, a row being one position of one sequence: all dimensions but the last are rows. Row r of a row result needs
    row r of the row operands and the other operands whole; a result that is none is a sum over rows. Such ops can run tile of rows by tile of
    rows, in one pass while the tile is in cache. Used by `hybrid-tile-rows`.
  }];
  let methods = [
    InterfaceMethod<"Whether the op, with its present operands and attributes, works row by row.", "bool", "isRowwise", (ins), [{}],
      [{ return true; }]>,
    InterfaceMethod<"Number of rows.", "int64_t", "getRowCount", (ins), [{}], [{
      auto shape = ::mlir::cast<::mlir::ShapedType>($_op->getOperand(0).getType()).getShape();
      return ::mlir::ShapedType::getNumElements(shape.drop_back());
    }]>,
    InterfaceMethod<"Whether only the same row of operand `index` is needed.", "bool", "isRowOperand", (ins "unsigned":$index), [{}],
      [{ return index == 0; }]>,
    InterfaceMethod<"Whether result `index` has rows; otherwise it is summed over them.", "bool", "isRowResult", (ins "unsigned":$index), [{}],
      [{ return true; }]>,
    InterfaceMethod<"Whether sums over rows grow in one place, so that tiles must follow one another.", "bool", "accumulatesOverRows", (ins),
      [{}], [{ return false; }]>
  ];
}
#endif
