//===- Dispatch.td - rows into expert order, and back ------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_DispatchOp : Hybrid_PureOp<"dispatch", [Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "rows in expert order";
  let description = [{
    Row `slots[p]` of the result is row p of x, where p counts the leading dimensions (all but the last of x) in row-major order. `slots` is a
    permutation, as `route` makes it. The inverse and the adjoint of `collect`.

    - C1: slots has the leading dimensions of x

    ```mlir
    %s = hybrid.dispatch %x by %slots : tensor<2x8x2x16xf32>, tensor<2x8x2xi32> -> tensor<2x8x2x16xf32>
    ```
  }];
  let language = (operator $x, $slots);
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_IntTensor:$slots);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `by` $slots attr-dict `:` type($x) `,` type($slots) `->` type($result)";
}

def Hybrid_CollectOp : Hybrid_PureOp<"collect", [Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "rows back from expert order";
  let description = [{
    Row p of the result is row `slots[p]` of x. The inverse and the adjoint of `dispatch`.

    - C1: slots has the leading dimensions of x

    ```mlir
    %y = hybrid.collect %s by %slots : tensor<2x8x2x16xf32>, tensor<2x8x2xi32> -> tensor<2x8x2x16xf32>
    ```
  }];
  let language = (operator $x, $slots);
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_IntTensor:$slots);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `by` $slots attr-dict `:` type($x) `,` type($slots) `->` type($result)";
}
