//===- ShortConv.td - short depthwise causal convolution ---*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_ShortConvOp : Hybrid_PureOp<"short_conv", [AttrSizedOperandSegments, Hybrid_Differentiable,
    Hybrid_Cost, DeclareOpInterfaceMethods<StatefulOp, ["isShortBuffer"]>, ResumableOp]> {
  let summary = "short depthwise causal convolution";
  let description = [{
    `y[b,t,c] = bias[c] + Σ_j weight[c,j] x[b,t-(K-1)+j,c]`, zero (or `initial_state: [B, K-1, C]`, oldest first) before the
    start; tap K-1 is lag 0. With `segments: [B, L]` only positions of equal id see each other.
    `final_state` (with the unit attribute `return_state`) holds the last K-1 inputs.

    - C1: x is [B, L, C]
    - C2: weight is [C, K] with K >= 1, bias [C]
    - C3: segments is [B, L]
    - C4: initial_state is [B, K-1, C]
    - C5: with return_state K is at least 2

    ```mlir
    %y = hybrid.short_conv %x, %w bias(%b : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
    %z, %last = hybrid.short_conv %y, %w initial_state(%s : tensor<2x2x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x2x4xf32>
    ```

    Poli et al. 2023, appendix A.2.
  }];
  let language = (operator $x, $weight, $bias, $segments, $initial_state, $return_state);
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$weight, Optional<Hybrid_FloatTensor>:$bias,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state, UnitAttr:$return_state);
  let results = (outs Hybrid_FloatTensor:$result, Optional<Hybrid_FloatTensor>:$final_state);
  let assemblyFormat = [{ $x `,` $weight oilist(`bias` `(` $bias `:` type($bias) `)` | `segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)`) attr-dict `:` type($x) `,` type($weight) `->` type(results) }];
  let hasVerifier = 1;
}

def Hybrid_ShortConvGradOp : Hybrid_PureOp<"short_conv_grad", [AttrSizedOperandSegments, Hybrid_Cost]> {
  let summary = "gradients of short_conv with respect to x, weight, bias and initial state";
  let description = [{
    `dx[t] = Σ_j weight[j] dy[t+(K-1)-j]`, `dweight[:, j] = Σ dy[t] x[t-(K-1)+j]`, `dbias = Σ dy`; `state_cotangent` adds to dx where an
    input is also in the final state. `dinitial_state` is there when `initial_state` is. Where x has fewer channels than weight and
    cotangent, those read x again and again, channel c its channel c modulo D, and dx is the sum of what all of them send back.

    - C1: x is [B, L, D]
    - C2: weight is [C, K] with K >= 1, C a multiple of D
    - C3: segments is [B, L]
    - C4: initial_state and state_cotangent are [B, K-1, C], and C is D where one of them is there
    - C5: cotangent is [B, L, C]

    ```mlir
    %dx, %dw, %db = hybrid.short_conv_grad %x, %w, %dy : tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$weight, Optional<Hybrid_IntTensor>:$segments,
                       Optional<Hybrid_FloatTensor>:$initial_state, Hybrid_FloatTensor:$cotangent, Optional<Hybrid_FloatTensor>:$state_cotangent);
  let results = (outs Hybrid_FloatTensor:$dx, Hybrid_FloatTensor:$dweight, Hybrid_FloatTensor:$dbias, Optional<Hybrid_FloatTensor>:$dinitial_state);
  let assemblyFormat = [{ $x `,` $weight `,` $cotangent oilist(`segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)` | `state_cotangent` `(` $state_cotangent `:` type($state_cotangent) `)`)
    attr-dict `:` type($x) `,` type($weight) `,` type($cotangent) `->` type(results) }];
  let hasVerifier = 1;
}
