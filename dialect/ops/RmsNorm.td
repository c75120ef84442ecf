//===- RmsNorm.td - root-mean-square normalisation ---------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RmsNormOp : Hybrid_PureOp<"rmsnorm", [RowwiseOp, Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "root-mean-square normalisation of the last dimension";
  let description = [{
    `y = x r w`, `r = 1/sqrt(mean(x²) + epsilon)`; with `epsilon_outside`: `r = 1/(rms(x) + epsilon)`, as StripedHyena has it.
    Without `weight`, w = 1.

    - C1: weight has as many elements as the last dimension of x
    - C2: epsilon is not negative

    ```mlir
    %y = hybrid.rmsnorm %x, %w : tensor<4xf32> {epsilon = 1.0e-6 : f64} : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
    ```

    Zhang and Sennrich 2019, section 3.
  }];
  let language = (operator $x, $weight, "eps":$epsilon, "eps_outside":$epsilon_outside);
  let arguments = (ins Hybrid_FloatTensor:$x, Optional<Hybrid_FloatTensor>:$weight, DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon,
                       UnitAttr:$epsilon_outside);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x (`,` $weight^ `:` type($weight))? attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Hybrid_RmsNormGradOp : Hybrid_PureOp<"rmsnorm_grad", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowOperand", "isRowResult"]>, RowGradientOp, Hybrid_Cost]> {
  let summary = "gradients of rmsnorm with respect to x and weight";
  let description = [{
    With g = dy ⊙ w: `dx = r (g - x r² mean(g ⊙ x))`, or with `epsilon_outside` `dx = r g - x (r²/rms) mean(g ⊙ x)`;
    `dweight = Σ dy ⊙ x r` over all positions. r is computed again from x, not saved.

    - C1: weight has as many elements as the last dimension of x
    - C2: cotangent has the type of x

    ```mlir
    %dx, %dw = hybrid.rmsnorm_grad %x weight(%w : tensor<4xf32>), %dy {epsilon = 1.0e-5 : f64} : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Optional<Hybrid_FloatTensor>:$weight, Hybrid_FloatTensor:$cotangent, F64Attr:$epsilon,
                       UnitAttr:$epsilon_outside);
  let results = (outs Hybrid_FloatTensor:$dx, Hybrid_FloatTensor:$dweight);
  let assemblyFormat = "$x (`weight` `(` $weight^ `:` type($weight) `)`)? `,` $cotangent attr-dict `:` type($x) `,` type($cotangent) `->` type($dx) `,` type($dweight)";
  let hasVerifier = 1;
}
