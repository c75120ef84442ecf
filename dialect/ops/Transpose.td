//===- Transpose.td - dimensions in another order ----------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_TransposeOp : Hybrid_PureOp<"transpose", [Hybrid_ViewOfOperand, Hybrid_Differentiable, Hybrid_SequenceAxis]> {
  let summary = "dimensions in another order";
  let description = [{
    Dimension i of `result` is dimension `permutation[i]` of x.

    - C1: permutation is one of x's dimensions

    ```mlir
    %y = hybrid.transpose %x by [2, 0, 1] : tensor<2x8x4xf32> -> tensor<4x2x8xf32>
    ```
  }];
  let language = (operator $x, $permutation);
  let arguments = (ins Hybrid_Tensor:$x, Hybrid_AxesAttr:$permutation);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `by` $permutation attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}
