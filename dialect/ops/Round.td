//===- Round.td - elementwise rounding to bf16 -------------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RoundOp : Hybrid_Op<"round", [Pure, Hybrid_FusableElementwise, SequenceAxisOp, Hybrid_Cost]> {
  let summary = "elementwise rounding to bf16";
  let description = [{
    The nearest bf16 value, ties to even. Made by `hybrid-round-products` for the operands of matrix products, after differentiation.

    - C1: x and the result have one shape

    ```mlir
    %r = hybrid.round %x : tensor<4x8xf32> -> tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$x);
  let results = (outs RankedTensorOf<[BF16]>:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}
