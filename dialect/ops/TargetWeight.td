//===- TargetWeight.td - total weight of the scored positions *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_TargetWeightOp : Hybrid_Op<"target_weight", [Pure, Hybrid_OneFloatType, Hybrid_Cost]> {
  let summary = "total weight of the scored positions";
  let description = [{
    `Σ w_t` over positions whose target is not `ignore_index`; w = `weights` or 1: what `hybrid.cross_entropy` returns as its total weight,
    from the targets alone. The gradient of the loss divides by it, and so need not wait for the loss of the last position.

    - C1: weights have targets' shape
    - C2: the result is a scalar

    ```mlir
    %weight = hybrid.target_weight %targets {ignore_index = -100 : i64} : tensor<2x8xi32> -> tensor<f32>
    ```
  }];
  let arguments = (ins Hybrid_IntTensor:$targets, Optional<Hybrid_FloatTensor>:$weights, I64Attr:$ignore_index);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$targets (`weights` `(` $weights^ `:` type($weights) `)`)? attr-dict `:` type($targets) `->` type($result)";
  let hasVerifier = 1;
}
