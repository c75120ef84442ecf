//===- Reshape.td - the same elements under another shape --*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_ReshapeOp : Hybrid_PureOp<"reshape", [Hybrid_ViewOfOperand, Hybrid_Differentiable, Hybrid_SequenceAxis, Hybrid_Positions]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    `result` and x, flattened in row-major order, are the same list.

    - C1: the number of elements is the same

    ```mlir
    %y = hybrid.reshape %x to [2, 32] : tensor<2x8x4xf32> -> tensor<2x32xf32>
    ```
  }];
  let arguments = (ins Hybrid_Tensor:$x, Hybrid_ShapeAttr:$shape);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `to` $shape attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
