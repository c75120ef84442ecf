//===- ChannelOps.td - ops that mix channels --------------------*- tablegen -*-===//
#ifndef HYBRID_CHANNEL_OPS_TD
#define HYBRID_CHANNEL_OPS_TD
include "dialect/HybridBase.td"

def Hybrid_LinearOp : Hybrid_ProductOp<"linear", [DeclareOpInterfaceMethods<RowwiseOp>, DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "linear projection of the last dimension";
  let description = [{
    `y = x Wᵀ + b`, with `x: [..., in]`, `weight: [out, in]`, `bias: [out]`. x and weight may both be bf16: sums, bias and result are f32 then.

    - C1: the last dimension of x is `in`
    - C2: bias has `out` elements

    ```mlir
    %y = hybrid.linear %x, %w bias(%b : tensor<16xf32>) : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins Hybrid_ProductOperand:$x, Hybrid_ProductOperand:$weight, Optional<Hybrid_FloatTensor>:$bias);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = [{ $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `:` type($x) `,` type($weight) `->` type($result) }];
  let hasVerifier = 1;
}

def Hybrid_MatmulOp : Hybrid_ProductOp<"matmul", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowOperand", "isRowResult", "accumulatesOverRows"]>, DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "matrix product";
  let description = [{
    `A·B` of a: [..., k] (leading dimensions flattened to rows) with b: [k, n]; `transpose_b`: b is [n, k].
    With `transpose_a`: a: [..., m] and b: [..., n] are contracted over all leading dimensions, giving [m, n].
    a and b may both be bf16: sums and result are f32 then.

    - C1: the contracted sizes agree
    - C2: b has rank 2 unless transpose_a
    - C3: transpose_a and transpose_b are not both set

    ```mlir
    %y = hybrid.matmul %a, %b {transpose_b} : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
    %g = hybrid.matmul %y, %a {transpose_a} : tensor<2x8x16xf32>, tensor<2x8x4xf32> -> tensor<16x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_ProductOperand:$a, Hybrid_ProductOperand:$b, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($result)";
}

def Hybrid_RmsNormOp : Hybrid_PureOp<"rmsnorm", [DeclareOpInterfaceMethods<RowwiseOp>, DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "root-mean-square normalisation of the last dimension";
  let description = [{
    `y = x r w`, `r = 1/sqrt(mean(x²) + epsilon)`; with `epsilon_outside`: `r = 1/(rms(x) + epsilon)`, as StripedHyena has it.
    Without `weight`, w = 1.

    - C1: weight has as many elements as the last dimension of x

    ```mlir
    %y = hybrid.rmsnorm %x, %w : tensor<4xf32> {epsilon = 1.0e-6 : f64} : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
    ```

    Zhang and Sennrich 2019, section 3.
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Optional<Hybrid_FloatTensor>:$weight, DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon,
                       UnitAttr:$epsilon_outside);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x (`,` $weight^ `:` type($weight))? attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Hybrid_RmsNormGradOp : Hybrid_PureOp<"rmsnorm_grad", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowOperand", "isRowResult"]>, DeclareOpInterfaceMethods<CostOp>]> {
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

def Hybrid_LayerNormOp : Hybrid_PureOp<"layernorm", [DeclareOpInterfaceMethods<RowwiseOp>, AttrSizedOperandSegments, DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "mean and variance normalisation of the last dimension";
  let description = [{
    `y = (x - mean)/sqrt(var + epsilon) w + b`, var the biased variance. Without `weight` w = 1, without `bias` b = 0.

    - C1: weight and bias have as many elements as the last dimension of x

    ```mlir
    %y = hybrid.layernorm %x weight(%w : tensor<4xf32>) bias(%b : tensor<4xf32>) : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
    ```

    Ba, Kiros and Hinton 2016, section 3.
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Optional<Hybrid_FloatTensor>:$weight, Optional<Hybrid_FloatTensor>:$bias,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = [{ $x oilist(`weight` `(` $weight `:` type($weight) `)` | `bias` `(` $bias `:` type($bias) `)`) attr-dict `:` type($x) `->` type($result) }];
  let hasVerifier = 1;
}

def Hybrid_LayerNormGradOp : Hybrid_PureOp<"layernorm_grad", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowOperand", "isRowResult"]>, DeclareOpInterfaceMethods<CostOp>]> {
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
#endif
