//===- Reduce.td - sum, mean or maximum over dimensions ----*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_ReduceOp : Hybrid_PureOp<"reduce", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowwise", "isRowResult"]>, Hybrid_Differentiable, Hybrid_SequenceAxis, Hybrid_Positions, Hybrid_Cost]> {
  let summary = "sum, mean or maximum over dimensions";
  let description = [{
    The `axes` are removed, or kept with size 1 (`keep`). The gradient of `max` goes to all maxima in equal shares.

    - C1: axes are ascending, distinct and within the rank

    ```mlir
    %y = hybrid.reduce mean %x over [0, 2] {keep} : tensor<4x8x3xf32> -> tensor<1x8x1xf32>
    ```
  }];
  let arguments = (ins Hybrid_ReduceKindAttr:$kind, Hybrid_FloatTensor:$x, DenseI64ArrayAttr:$axes, UnitAttr:$keep);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "`` $kind $x `over` $axes attr-dict `:` type($x) `->` type($result)";
}
