//===- Linear.td - linear projection of the last dimension -*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_LinearOp : Hybrid_ProductOp<"linear", [RowwiseOp, Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "linear projection of the last dimension";
  let description = [{
    `y = x Wᵀ + b`, with `x: [..., in]`, `weight: [out, in]`, `bias: [out]`. x and weight may both be bf16: sums, bias and result are f32 then.

    - C1: the last dimension of x is `in`
    - C2: bias has `out` elements

    ```mlir
    %y = hybrid.linear %x, %w bias(%b : tensor<16xf32>) : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
    ```
  }];
  let language = (operator $x, $weight, $bias);
  let arguments = (ins Hybrid_ProductOperand:$x, Hybrid_ProductOperand:$weight, Optional<Hybrid_FloatTensor>:$bias);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = [{ $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `:` type($x) `,` type($weight) `->` type($result) }];
  let hasVerifier = 1;
}
