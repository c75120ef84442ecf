//===- Reverse.td - a dimension from its end to its start --*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_ReverseOp : Hybrid_PureOp<"reverse", [Hybrid_Differentiable, Hybrid_SequenceAxis, Hybrid_Positions]> {
  let summary = "a dimension from its end to its start";
  let description = [{
    Element i along `axis` of the result is element n - 1 - i of x.

    - C1: axis is a dimension of x

    ```mlir
    %y = hybrid.reverse %x along 1 : tensor<2x8x4xf32>
    ```
  }];
  let language = (operator $x, $axis);
  let arguments = (ins Hybrid_Tensor:$x, Hybrid_AxisAttr:$axis);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `along` $axis attr-dict `:` type($x)";
}
