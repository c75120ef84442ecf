//===- LayerNorm.td - mean and variance normalisation ------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_LayerNormOp : Hybrid_PureOp<"layernorm", [RowwiseOp, AttrSizedOperandSegments, Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "mean and variance normalisation of the last dimension";
  let description = [{
    `y = (x - mean)/sqrt(var + epsilon) w + b`, var the biased variance. Without `weight` w = 1, without `bias` b = 0.

    - C1: weight and bias have as many elements as the last dimension of x
    - C2: epsilon is not negative

    ```mlir
    %y = hybrid.layernorm %x weight(%w : tensor<4xf32>) bias(%b : tensor<4xf32>) : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
    ```

    Ba, Kiros and Hinton 2016, section 3.
  }];
  let language = (operator $x, $weight, $bias, "eps":$epsilon);
  let arguments = (ins Hybrid_FloatTensor:$x, Optional<Hybrid_FloatTensor>:$weight, Optional<Hybrid_FloatTensor>:$bias,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = [{ $x oilist(`weight` `(` $weight `:` type($weight) `)` | `bias` `(` $bias `:` type($bias) `)`) attr-dict `:` type($x) `->` type($result) }];
  let hasVerifier = 1;
}

def Hybrid_LayerNormGradOp : Hybrid_PureOp<"layernorm_grad", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowOperand", "isRowResult"]>, RowGradientOp, Hybrid_Cost]> {
  let summary = "gradients of layernorm with respect to x, weight and bias";
  let description = [{
    With n = (x - mean)/s, s = sqrt(var + epsilon) and g = dy ⊙ w: `dx = (g - mean(g) - n mean(g ⊙ n))/s`,
    `dweight = Σ dy ⊙ n`, `dbias = Σ dy` over all positions.

    - C1: weight has as many elements as the last dimension of x
    - C2: cotangent has the type of x

    ```mlir
    %dx, %dw, %db = hybrid.layernorm_grad %x weight(%w : tensor<4xf32>), %dy {epsilon = 1.0e-5 : f64} : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Optional<Hybrid_FloatTensor>:$weight, Hybrid_FloatTensor:$cotangent, F64Attr:$epsilon);
  let results = (outs Hybrid_FloatTensor:$dx, Hybrid_FloatTensor:$dweight, Hybrid_FloatTensor:$dbias);
  let assemblyFormat = "$x (`weight` `(` $weight^ `:` type($weight) `)`)? `,` $cotangent attr-dict `:` type($x) `,` type($cotangent) `->` type($dx) `,` type($dweight) `,` type($dbias)";
  let hasVerifier = 1;
}
