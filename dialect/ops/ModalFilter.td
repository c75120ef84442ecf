//===- ModalFilter.td - long filter of damped oscillations -*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_ModalFilterOp : Hybrid_PureOp<"modal_filter", [AllTypesMatch<["log_decay", "angle", "re", "im"]>, Hybrid_Differentiable, Hybrid_Cost,
    DeclareOpInterfaceMethods<RecurrentFilterOp>]> {
  let summary = "long filter that is a sum of damped oscillations";
  let description = [{
    `result[t, c] = Σ_s Re((re + i im)[s, c] · e^((log_decay + i angle)[s, c] · t))` for t < length: the impulse response of a diagonal linear
    recurrence (S4D, DSS, the modal form of Hyena). All operands are [S, C]; `length` is one integer or one free dimension. Nothing of the
    size S × length × C is ever stored.

    - C1: all operands are [S, C]
    - C2: length has one entry, at least 1

    ```mlir
    %h = hybrid.modal_filter %a, %a, %a, %a to [64] : tensor<4x8xf32> -> tensor<64x8xf32>
    ```

    Gu et al. 2022 (S4D), section 3; Poli et al. 2024 (MAD), appendix B.3.2.
  }];
  let language = (operator $log_decay, $angle, $re, $im, $length);
  let arguments = (ins Hybrid_FloatTensor:$log_decay, Hybrid_FloatTensor:$angle, Hybrid_FloatTensor:$re, Hybrid_FloatTensor:$im,
                       Hybrid_SizeAttr:$length);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$log_decay `,` $angle `,` $re `,` $im `to` $length attr-dict `:` type($re) `->` type($result)";
}

def Hybrid_ModalFilterGradOp : Hybrid_PureOp<"modal_filter_grad", [AllTypesMatch<["log_decay", "angle", "re", "im"]>, Hybrid_Cost]> {
  let summary = "gradients of modal_filter";
  let description = [{
    With p^t = e^((log_decay + i angle) t) and R = re + i im: `dre = Σ_t dh[t] Re p^t`, `dim = -Σ_t dh[t] Im p^t`,
    `dlog_decay = Σ_t dh[t] t Re(R p^t)`, `dangle = -Σ_t dh[t] t Im(R p^t)`.

    - C1: all operands but the cotangent are [S, C]
    - C2: cotangent is [length, C]

    ```mlir
    %da, %db, %dre, %dim = hybrid.modal_filter_grad %a, %b, %re, %im, %dh : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<64x8xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$log_decay, Hybrid_FloatTensor:$angle, Hybrid_FloatTensor:$re, Hybrid_FloatTensor:$im,
                       Hybrid_FloatTensor:$cotangent);
  let results = (outs Hybrid_FloatTensor:$dlog_decay, Hybrid_FloatTensor:$dangle, Hybrid_FloatTensor:$dre, Hybrid_FloatTensor:$dim);
  let assemblyFormat = [{ $log_decay `,` $angle `,` $re `,` $im `,` $cotangent attr-dict `:` type($log_decay) `,` type($angle) `,` type($re) `,` type($im) `,`
    type($cotangent) }];
}
