//===- Round.td - elementwise rounding to bf16, and back ---*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RoundOp : Hybrid_Op<"round", [Pure, Hybrid_FusableElementwise, SequenceAxisOp, Hybrid_Cost]> {
  let summary = "elementwise rounding to bf16";
  let description = [{
    The nearest bf16 value, ties to even. Made by `hybrid-round-products` for the operands of matrix products, after differentiation. Of what
    `hybrid.widen` gives it is what that was given.

    - C1: x and the result have one shape

    ```mlir
    %r = hybrid.round %x : tensor<4x8xf32> -> tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$x);
  let results = (outs RankedTensorOf<[BF16]>:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_WidenOp : Hybrid_Op<"widen", [Pure, Hybrid_FusableElementwise, SequenceAxisOp, Hybrid_Cost]> {
  let summary = "elementwise bf16 as f32";
  let description = [{
    The same number. Made by `schedule-round-buffers` where f32 is computed of what lies in memory as bf16.

    - C1: x and the result have one shape

    ```mlir
    %r = hybrid.widen %x : tensor<4x8xbf16> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[BF16]>:$x);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}
