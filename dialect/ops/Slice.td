//===- Slice.td - a rectangular part, and zeros around it --*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_SliceOp : Hybrid_PureOp<"slice", [Hybrid_ViewOfOperand, Hybrid_Differentiable, Hybrid_SequenceAxis, Hybrid_Positions, DeclareOpInterfaceMethods<FreeSizesOp>]> {
  let summary = "a rectangular part";
  let description = [{
    Elements `starts[i] <= index_i < starts[i] + sizes[i]` of x. A start below 0 counts from the end of a dimension that is free: `hybrid-specialize`
    makes it a place.

    - C1: the part lies inside x

    ```mlir
    %y = hybrid.slice %x from [0, 2, 0] size [2, 4, 4] : tensor<2x8x4xf32> -> tensor<2x4x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_Tensor:$x, DenseI64ArrayAttr:$starts, Hybrid_ShapeAttr:$sizes);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `from` $starts `size` $sizes attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_PadOp : Hybrid_PureOp<"pad", [Hybrid_Differentiable, Hybrid_SequenceAxis, Hybrid_Positions]> {
  let summary = "zeros around a tensor";
  let description = [{
    `result` has `shape`; x stands at `starts`, zeros elsewhere.

    - C1: x fits

    ```mlir
    %y = hybrid.pad %x at [0, 2, 0] in [2, 8, 4] : tensor<2x4x4xf32> -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, DenseI64ArrayAttr:$starts, Hybrid_ShapeAttr:$shape);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `at` $starts `in` $shape attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}
