//===- Rfft.td - Fourier transform of real columns and back *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RfftOp : Hybrid_PureOp<"rfft", [Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "discrete Fourier transform of real columns";
  let description = [{
    Per column of x: [N, C], bins k = 0..N/2: `re[k] = Σ_t x[t] cos(2πkt/N)`, `im[k] = -Σ_t x[t] sin(2πkt/N)`. N is any number. With `weighted`
    bin k is multiplied by c_k/N, c_k = 1 for k = 0 and k = N/2, else 2: then `rfft` is the adjoint of the weighted `irfft`.

    - C1: x is [N, C]

    ```mlir
    %re, %im = hybrid.rfft %x : tensor<10x4xf32> -> tensor<6x4xf32>, tensor<6x4xf32>
    ```
  }];
  let language = (operator $x);
  let arguments = (ins Hybrid_FloatTensor:$x, UnitAttr:$weighted);
  let results = (outs Hybrid_FloatTensor:$re, Hybrid_FloatTensor:$im);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($re) `,` type($im)";
}

def Hybrid_IrfftOp : Hybrid_PureOp<"irfft", [Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "real columns from half of a spectrum";
  let description = [{
    `result[t] = Σ_k w_k (re[k] cos(2πkt/N) - im[k] sin(2πkt/N))` for t < N = `length` and k = 0..N/2. With `weighted` w_k = c_k/N as in `rfft`, which
    makes it the inverse of `rfft` without weights; without, w_k = 1, which makes it the adjoint of that one. The imaginary parts of bin 0 and of bin N/2 do not enter.

    - C1: re and im are [length/2 + 1, C]
    - C2: length is at least 1 and below 2^31

    ```mlir
    %x = hybrid.irfft %re, %im to 10 {weighted} : tensor<6x4xf32>, tensor<6x4xf32> -> tensor<10x4xf32>
    ```
  }];
  let language = (operator $re, $im, $length, 1:$weighted);
  let arguments = (ins Hybrid_FloatTensor:$re, Hybrid_FloatTensor:$im, I64Attr:$length, UnitAttr:$weighted);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$re `,` $im `to` $length attr-dict `:` type($re) `,` type($im) `->` type($result)";
}
