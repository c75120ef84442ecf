//===- Broadcast.td - a tensor repeated to a larger shape --*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_BroadcastOp : Hybrid_PureOp<"broadcast", [Hybrid_ViewOfOperand, Hybrid_FusableElementwise, SequenceAxisOp, Hybrid_Differentiable]> {
  let summary = "a tensor repeated to a larger shape";
  let description = [{
    Shapes are aligned at the last dimension, as in `hybrid.binary`; missing dimensions and those of size 1 are repeated.

    - C1: x broadcasts to the shape

    ```mlir
    %y = hybrid.broadcast %x to [2, 8, 4] : tensor<8x1xf32> -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_Tensor:$x, Hybrid_ShapeAttr:$shape);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `to` $shape attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
