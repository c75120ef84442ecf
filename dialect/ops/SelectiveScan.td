//===- SelectiveScan.td - the scan of Mamba ----------------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_SelectiveScanOp : Hybrid_PureOp<"selective_scan", [AttrSizedOperandSegments, Hybrid_Differentiable,
    Hybrid_Cost, Hybrid_Stateful, ResumableOp]> {
  let summary = "scan of a diagonal linear recurrence whose step, input and output maps depend on the token";
  let description = [{
    Every channel d has N states: `h_t = exp(dt_t a_d) h_{t-1} + (dt_t x_t) b_t` and `y_t = Σ_n c_t[n] h_t[n]`, h before the start zero
    or `initial_state`. `a` is the negative real diagonal, -exp(A_log). `b` and `c` are given for each token, `[B, L, G*N]`: channel d uses
    group d / (D/G); or they are constant, `[D, N]`.

    `dt_bias: [D]` is added to dt, and with `dt_softplus` the step is softplus(dt + dt_bias); `skip: [D]` adds `skip x_t` to y_t, which then is
    multiplied with `silu(gate_t)`. They are usually put in by `hybrid-fuse-gates`.

    With `segments: [B, L]` the state starts at zero where the id changes; the initial state belongs to the segment of t = 0.
    `final_state` (with the unit attribute `return_state`) is h after the last token.

    - C1: x is [B, L, D]
    - C2: dt has the type of x
    - C3: a is [D, N]
    - C4: b and c are each [D, N] or [B, L, G*N] with G dividing D
    - C5: b and c have the same number of groups when both are given for each token
    - C6: segments is [B, L]
    - C7: initial_state is [B, D, N]
    - C8: dt_bias and skip are [D]
    - C9: gate has the type of x

    ```mlir
    %y = hybrid.selective_scan %x, %dt, %a, %b, %c : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
    %z, %h = hybrid.selective_scan %y, %dt, %a, %b, %c initial_state(%s : tensor<2x4x3xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>, tensor<2x4x3xf32>
    %g = hybrid.selective_scan %x, %dt, %a, %b, %c dt_bias(%r : tensor<4xf32>) skip(%d : tensor<4xf32>) gate(%z : tensor<2x8x4xf32>) {dt_softplus} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
    ```

    Gu and Dao 2023, section 3.2 and algorithm 2; b is discretised as in the published code, dt b.
  }];
  let language = (operator $x, $dt, $a, $b, $c, $segments, $initial_state, $return_state);
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$dt, Hybrid_FloatTensor:$a, Hybrid_FloatTensor:$b, Hybrid_FloatTensor:$c,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state,
                       Optional<Hybrid_FloatTensor>:$dt_bias, Optional<Hybrid_FloatTensor>:$skip, Optional<Hybrid_FloatTensor>:$gate,
                       UnitAttr:$dt_softplus, UnitAttr:$return_state);
  let results = (outs Hybrid_FloatTensor:$result, Optional<Hybrid_FloatTensor>:$final_state);
  let assemblyFormat = [{ $x `,` $dt `,` $a `,` $b `,` $c oilist(`segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)` | `dt_bias` `(` $dt_bias `:` type($dt_bias) `)` |
    `skip` `(` $skip `:` type($skip) `)` | `gate` `(` $gate `:` type($gate) `)`) attr-dict
    `:` type($x) `,` type($dt) `,` type($a) `,` type($b) `,` type($c) `->` type(results) }];
  let hasVerifier = 1;
}

def Hybrid_SelectiveScanGradOp : Hybrid_PureOp<"selective_scan_grad", [AttrSizedOperandSegments, Hybrid_Cost]> {
  let summary = "gradients of selective_scan with respect to all its tensors";
  let description = [{
    With `λ_t = c_t dy_t + exp(dt_{t+1} a) λ_{t+1}` (at the end plus `state_cotangent`) and `g = λ_t exp(dt_t a) h_{t-1}`:
    `dx = dt Σ_n λ b`, `ddt = x Σ_n λ b + Σ_n g a`, `da = Σ_{b,t} g dt`, `db = Σ λ dt x` and `dc = Σ dy h` over the channels of a group (over batch
    and time when they are constant). dy here is the cotangent times silu(gate), `dgate` the cotangent times silu'(gate) and y before the gate, `dskip = Σ_{b,t} dy x`
    with skip dy added to dx; ddt is multiplied with σ(dt + dt_bias) under `dt_softplus`, and `ddt_bias = Σ_{b,t} ddt`. `dinitial_state = exp(dt_0 a) λ_0`.
    The states are computed again. Results: dx, ddt, da, db and dc, then dinitial_state, ddt_bias, dskip and dgate for those that are present.

    - C1: x is [B, L, D]
    - C2: dt has the type of x
    - C3: a is [D, N]
    - C4: b and c are each [D, N] or [B, L, G*N] with G dividing D
    - C5: b and c have the same number of groups when both are given for each token
    - C6: segments is [B, L]
    - C7: initial_state and state_cotangent are [B, D, N]
    - C8: dt_bias and skip are [D]
    - C9: gate has the type of x
    - C10: cotangent has the type of x

    ```mlir
    %dx, %ddt, %da, %db, %dc = hybrid.selective_scan_grad %x, %dt, %a, %b, %c, %dy : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$dt, Hybrid_FloatTensor:$a, Hybrid_FloatTensor:$b, Hybrid_FloatTensor:$c,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state,
                       Optional<Hybrid_FloatTensor>:$dt_bias, Optional<Hybrid_FloatTensor>:$skip, Optional<Hybrid_FloatTensor>:$gate,
                       Hybrid_FloatTensor:$cotangent, Optional<Hybrid_FloatTensor>:$state_cotangent, UnitAttr:$dt_softplus);
  let results = (outs Hybrid_FloatTensor:$dx, Hybrid_FloatTensor:$ddt, Hybrid_FloatTensor:$da, Hybrid_FloatTensor:$db, Hybrid_FloatTensor:$dc,
                      Variadic<Hybrid_FloatTensor>:$optional_gradients);
  let assemblyFormat = [{ $x `,` $dt `,` $a `,` $b `,` $c `,` $cotangent oilist(`segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)` | `dt_bias` `(` $dt_bias `:` type($dt_bias) `)` |
    `skip` `(` $skip `:` type($skip) `)` | `gate` `(` $gate `:` type($gate) `)` |
    `state_cotangent` `(` $state_cotangent `:` type($state_cotangent) `)`)
    attr-dict `:` type($x) `,` type($dt) `,` type($a) `,` type($b) `,` type($c) `,` type($cotangent) `->` type(results) }];
  let hasVerifier = 1;
}
