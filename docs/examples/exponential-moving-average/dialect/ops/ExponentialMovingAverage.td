//===- ExponentialMovingAverage.td - an average that forgets *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_ExponentialMovingAverageOp : Hybrid_PureOp<"exponential_moving_average", [AttrSizedOperandSegments,
    Hybrid_Differentiable, Hybrid_Cost, Hybrid_Stateful, ResumableOp]> {
  let summary = "exponential moving average along the sequence with a decay a channel";
  let description = [{
    `y_t = a y_{t-1} + (1 - a) x_t` in every channel, a being its `decay`, usually between 0 and 1; y before the start is zero or `initial_state`.

    With `segments: [B, L]` the average starts at zero where the id changes; the initial state belongs to the segment of t = 0.
    `final_state` (with the unit attribute `return_state`) is y after the last token.

    - C1: x is [B, L, D]
    - C2: decay is [D]
    - C3: segments is [B, L]
    - C4: initial_state is [B, D]

    ```mlir
    %y = hybrid.exponential_moving_average %x, %a : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8x4xf32>
    %z, %last = hybrid.exponential_moving_average %y, %a initial_state(%s : tensor<2x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8x4xf32>, tensor<2x4xf32>
    ```
  }];
  let language = (operator $x, $decay, $segments, $initial_state, $return_state);
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$decay, Optional<Hybrid_IntTensor>:$segments,
                       Optional<Hybrid_FloatTensor>:$initial_state, UnitAttr:$return_state);
  let results = (outs Hybrid_FloatTensor:$result, Optional<Hybrid_FloatTensor>:$final_state);
  let assemblyFormat = [{ $x `,` $decay oilist(`segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)`) attr-dict `:` type($x) `,` type($decay) `->` type(results) }];
  let hasVerifier = 1;
}

def Hybrid_ExponentialMovingAverageGradOp : Hybrid_PureOp<"exponential_moving_average_grad", [AttrSizedOperandSegments, Hybrid_Cost]> {
  let summary = "gradients of exponential_moving_average with respect to x, decay and initial state";
  let description = [{
    With `g_t = dy_t + a g_{t+1}`, at the end plus `state_cotangent`: `dx_t = (1 - a) g_t`, `ddecay = Σ_{b,t} g_t (y_{t-1} - x_t)` and
    `dinitial_state = a g_0`, which is there when `initial_state` is. `output` is y. Where a segment starts, y_{t-1} is zero and g does not pass.

    - C1: x is [B, L, D]
    - C2: decay is [D]
    - C3: segments is [B, L]
    - C4: initial_state and state_cotangent are [B, D]
    - C5: output and cotangent have the type of x

    ```mlir
    %dx, %da = hybrid.exponential_moving_average_grad %x, %a, %y, %dy : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$decay, Optional<Hybrid_IntTensor>:$segments,
                       Optional<Hybrid_FloatTensor>:$initial_state, Hybrid_FloatTensor:$output, Hybrid_FloatTensor:$cotangent,
                       Optional<Hybrid_FloatTensor>:$state_cotangent);
  let results = (outs Hybrid_FloatTensor:$dx, Hybrid_FloatTensor:$ddecay, Optional<Hybrid_FloatTensor>:$dinitial_state);
  let assemblyFormat = [{ $x `,` $decay `,` $output `,` $cotangent oilist(`segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)` | `state_cotangent` `(` $state_cotangent `:` type($state_cotangent) `)`)
    attr-dict `:` type($x) `,` type($decay) `,` type($output) `,` type($cotangent) `->` type(results) }];
  let hasVerifier = 1;
}
