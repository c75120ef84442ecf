//===- SpectralOps.td - ops that long filters are made with -----*- tablegen -*-===//
#ifndef HYBRID_SPECTRAL_OPS_TD
#define HYBRID_SPECTRAL_OPS_TD
include "dialect/HybridBase.td"

def Hybrid_RfftOp : Hybrid_PureOp<"rfft", [DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "discrete Fourier transform of real columns";
  let description = [{
    Per column of x: [N, C], bins k = 0..N/2: `re[k] = Σ_t x[t] cos(2πkt/N)`, `im[k] = -Σ_t x[t] sin(2πkt/N)`. N is any number. With `weighted`
    bin k is multiplied by c_k/N, c_k = 1 for k = 0 and k = N/2, else 2: then `rfft` is the adjoint of the weighted `irfft`.

    - C1: x is [N, C]

    ```mlir
    %re, %im = hybrid.rfft %x : tensor<10x4xf32> -> tensor<6x4xf32>, tensor<6x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, UnitAttr:$weighted);
  let results = (outs Hybrid_FloatTensor:$re, Hybrid_FloatTensor:$im);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($re) `,` type($im)";
}

def Hybrid_IrfftOp : Hybrid_PureOp<"irfft", [DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "real columns from half of a spectrum";
  let description = [{
    `result[t] = Σ_k w_k (re[k] cos(2πkt/N) - im[k] sin(2πkt/N))` for t < N = `length` and k = 0..N/2. With `weighted` w_k = c_k/N as in `rfft`, which
    makes it the inverse of `rfft` without weights; without, w_k = 1, which makes it the adjoint of that one. The imaginary parts of bin 0 and of bin N/2 do not enter.

    - C1: re and im are [length/2 + 1, C]
    - C2: length is at least 1

    ```mlir
    %x = hybrid.irfft %re, %im to 10 {weighted} : tensor<6x4xf32>, tensor<6x4xf32> -> tensor<10x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$re, Hybrid_FloatTensor:$im, I64Attr:$length, UnitAttr:$weighted);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$re `,` $im `to` $length attr-dict `:` type($re) `,` type($im) `->` type($result)";
}

def Hybrid_ModalFilterOp : Hybrid_PureOp<"modal_filter", [AllTypesMatch<["log_decay", "angle", "re", "im"]>, DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "long filter that is a sum of damped oscillations";
  let description = [{
    `result[t, c] = Σ_s Re((re + i im)[s, c] · e^((log_decay + i angle)[s, c] · t))` for t < length: the impulse response of a diagonal linear
    recurrence (S4D, DSS, the modal form of Hyena). All operands are [S, C]; `length` is one integer or one free dimension. Nothing of the
    size S × length × C is ever stored.

    - C1: all operands are [S, C]
    - C2: length has one entry

    ```mlir
    %h = hybrid.modal_filter %a, %a, %a, %a to [64] : tensor<4x8xf32> -> tensor<64x8xf32>
    ```

    Gu et al. 2022 (S4D), section 3; Poli et al. 2024 (MAD), appendix B.3.2.
  }];
  let arguments = (ins Hybrid_FloatTensor:$log_decay, Hybrid_FloatTensor:$angle, Hybrid_FloatTensor:$re, Hybrid_FloatTensor:$im,
                       Hybrid_ShapeAttr:$length);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$log_decay `,` $angle `,` $re `,` $im `to` $length attr-dict `:` type($re) `->` type($result)";
}

def Hybrid_ModalFilterGradOp : Hybrid_PureOp<"modal_filter_grad", [AllTypesMatch<["log_decay", "angle", "re", "im"]>, DeclareOpInterfaceMethods<CostOp>]> {
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
#endif
