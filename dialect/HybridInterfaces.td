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

def ReadsResultsOp : OpInterface<"ReadsResultsOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    An op of several kernels, of which one reads what another computed, as a difference that nearly cancels: that result stays f32 where
    activations are rounded in memory.
  }];
  let methods = [
    InterfaceMethod<"Whether result `number` is read so.", "bool", "isReadInFull", (ins "unsigned":$number)>
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
    InterfaceMethod<"State that grows with the position, at the op's full length.", "int64_t", "getDynamicStateElements", (ins), [{}],
      [{ return 0; }]>,
    InterfaceMethod<[{
      Whether the state is a short convolution's buffer of its last inputs, which MAD's tables of state leave out.
    }], "bool", "isShortBuffer", (ins), [{}], [{ return false; }]>
  ];
}

def ResumableOp : OpInterface<"ResumableOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    An op along the sequence that starts from `initial_state` and, with `return_state`, gives `final_state` as its last result, from which the next part of
    the sequence goes on. Nothing to implement: operands and attributes of these names are it. Used by `hybrid-carry-state`.
  }];
  let methods = [
    InterfaceMethod<"The state that the op starts from; nothing for zero.", "::mlir::MutableOperandRange", "getInitialStateMutable">,
    InterfaceMethod<"Whether the state after the last position is a result.", "bool", "getReturnState">,
    InterfaceMethod<"Sets the attribute alone: the op has to be made again to have the result.", "void", "setReturnState", (ins "bool":$value)>,
    InterfaceMethod<"Ids of the sequences that are packed into one, or null.", "::mlir::Value", "getSegments">
  ];
}

def SequenceAxisOp : OpInterface<"SequenceAxisOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    An op that works on every position of a sequence alone, wherever the positions are in its operands. Without an implementation it is what all elementwise ops
    are: operands are broadcast from their last dimension. Used by `hybrid-carry-state`; row-wise ops say as much as `RowwiseOp`.
  }];
  let methods = [
    InterfaceMethod<[{
      The dimension of all results that runs along the sequence, given that of each operand, nothing for operands that are the same at every position; one at
      least has one. Fails when positions meet other positions, and says in `why` how.
    }], "::mlir::FailureOr<int64_t>", "getSequenceAxis",
      (ins "::llvm::ArrayRef<std::optional<int64_t>>":$operandAxes, "::llvm::StringRef &":$why), [{}], [{
      return ::hybrid::broadcastSequenceAxis($_op.getOperation(), operandAxes, why);
    }]>
  ];
}

def BodyOp : OpInterface<"BodyOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    An op that runs a body of one block, its first region, which ends in `hybrid.yield`: what is yielded are the op's results, unless the op says
    otherwise. An op whose body is optional has an empty region without it.
  }];
  let methods = [
    InterfaceMethod<"Types of the body's arguments, as they follow from the operands: theirs, unless the op says otherwise.",
      "::llvm::SmallVector<::mlir::Type>", "getBodyArgumentTypes", (ins), [{}], [{
      return ::llvm::to_vector_of<::mlir::Type>($_op->getOperandTypes());
    }]>,
    InterfaceMethod<"Types of what the body yields: the results', unless the op says otherwise.", "::llvm::SmallVector<::mlir::Type>", "getBodyResultTypes",
      (ins), [{}], [{
      return ::llvm::to_vector_of<::mlir::Type>($_op->getResultTypes());
    }]>
  ];
  let verify = [{ return ::hybrid::verifyBody($_op); }];
}

def FreeSizesOp : OpInterface<"FreeSizesOp"> {
  let cppNamespace = "::hybrid";
  let description = "An op whose sizes may name free dimensions, and that cannot have all sizes. Used by `hybrid-specialize`.";
  let methods = [
    InterfaceMethod<"Fails with a message when the sizes that its free dimensions are about to get, by their names, are too large for it.",
      "::mlir::LogicalResult", "verifySizes", (ins "const ::llvm::StringMap<int64_t> &":$sizes)>,
    InterfaceMethod<"Counts from the start what counts from the end of a dimension, now that the operands have their sizes.", "void", "placeEnds">
  ];
}

def IndexingOp : OpInterface<"IndexingOp"> {
  let cppNamespace = "::hybrid";
  let description = "An op that looks up what integers name: a row of a table, a class. Used by `hybrid-bound-ids`.";
  let methods = [
    InterfaceMethod<"What the integers of operand `index` may be; null for an operand that names nothing.", "::hybrid::IdsAttr", "getIdRange",
      (ins "unsigned":$index)>
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

def RowGradientOp : OpInterface<"RowGradientOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    A row-wise gradient whose first result has in each row what it makes of that row of the cotangent. Where all else that it reads is there, what stores
    rows of the cotangent can store these instead. Nothing to implement: an operand of this name is it. Used by the lowering of products.
  }];
  let methods = [
    InterfaceMethod<"The gradient of what was differentiated, in the shape of the first result.", "::mlir::Value", "getCotangent">
  ];
}
#endif
