//===- Fused.td - elementwise ops as one kernel ------------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_FusedOp : Hybrid_Op<"fused", [Pure, SingleBlock, IsolatedFromAbove, BodyOp, DeclareOpInterfaceMethods<RowwiseOp, ["isRowwise", "getRowCount", "isRowOperand"]>]> {
  let summary = "elementwise ops that run as one kernel";
  let description = [{
    The body's arguments are the operands, its `hybrid.yield` names the results; all values of the iteration shape are computed
    element by element without touching memory in between. Made by `hybrid-fuse-elementwise`.

    - C1: the body's arguments have the operands' types
    - C2: the body yields values of the result types
    - C3: the body holds elementwise ops and constants only
    - C4: there is a result, and all results have one shape

    ```mlir
    %y = hybrid.fused(%g, %u) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
      %s = hybrid.unary silu %a : tensor<4x8xf32>
      %p = hybrid.binary mul %s, %b : tensor<4x8xf32>, tensor<4x8xf32>
      hybrid.yield %p : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Hybrid_Tensor>:$operands_);
  let results = (outs Variadic<Hybrid_ProductOperand>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $operands_ `)` attr-dict `:` functional-type($operands_, $results_) $body";
  let hasVerifier = 1;
}
