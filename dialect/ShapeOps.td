//===- ShapeOps.td - ops that rearrange without arithmetic ------*- tablegen -*-===//
#ifndef HYBRID_SHAPE_OPS_TD
#define HYBRID_SHAPE_OPS_TD
include "dialect/HybridBase.td"

def Hybrid_ReshapeOp : Hybrid_PureOp<"reshape", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "the same elements in row-major order under another shape";
  let description = "- C1: the number of elements is the same";
  let arguments = (ins Hybrid_Tensor:$x, Hybrid_ShapeAttr:$shape);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `to` $shape attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_TransposeOp : Hybrid_PureOp<"transpose", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "dimensions in another order";
  let description = "`result` dimension i is dimension `permutation[i]` of x.\n- C1: permutation is one of the rank";
  let arguments = (ins Hybrid_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `by` $permutation attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_BroadcastOp : Hybrid_PureOp<"broadcast", [Hybrid_FusableElementwise, DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "a tensor repeated to a larger shape";
  let description = "Aligned at the last dimension, as `hybrid.binary`.\n- C1: x broadcasts to the shape";
  let arguments = (ins Hybrid_Tensor:$x, Hybrid_ShapeAttr:$shape);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `to` $shape attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_SplitOp : Hybrid_PureOp<"split", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "consecutive parts along a dimension";
  let description = "Part i has `sizes[i]` elements along `axis`.\n- C1: the sizes add up to the size of x along `axis`";
  let arguments = (ins Hybrid_Tensor:$x, I64Attr:$axis, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<Hybrid_Tensor>:$parts);
  let assemblyFormat = "$x `along` $axis `sizes` $sizes attr-dict `:` type($x) `->` type($parts)";
  let hasVerifier = 1;
}

def Hybrid_ConcatOp : Hybrid_PureOp<"concat", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "tensors one after the other along a dimension";
  let description = "- C1: all sizes but the one along `axis` are equal";
  let arguments = (ins Variadic<Hybrid_Tensor>:$parts, I64Attr:$axis);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$parts `along` $axis attr-dict `:` type($parts) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_SliceOp : Hybrid_PureOp<"slice", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "a rectangular part";
  let description = "Elements `starts[i] <= index_i < starts[i] + sizes[i]`.\n- C1: the part lies inside x";
  let arguments = (ins Hybrid_Tensor:$x, DenseI64ArrayAttr:$starts, Hybrid_ShapeAttr:$sizes);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `from` $starts `size` $sizes attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_PadOp : Hybrid_PureOp<"pad", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "zeros around a tensor";
  let description = "`result` has `shape`; x stands at `starts`, zeros elsewhere.\n- C1: x fits";
  let arguments = (ins Hybrid_FloatTensor:$x, DenseI64ArrayAttr:$starts, Hybrid_ShapeAttr:$shape);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `at` $starts `in` $shape attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}
#endif
