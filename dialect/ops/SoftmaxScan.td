//===- SoftmaxScan.td - softmax-weighted averages of the past *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_SoftmaxScanOp : Hybrid_PureOp<"softmax_scan", [AttrSizedOperandSegments, Hybrid_Differentiable,
    Hybrid_Cost, Hybrid_Stateful, ResumableOp, DeclareOpInterfaceMethods<CarriedOp>]> {
  let summary = "causal average weighted by the softmax of a key and a bias by lag";
  let description = [{
    `y_t = Σ_{s<=t} p_ts v_s` with `p_t = softmax_s(k_s + r(t-s))`, per channel: H keys a token, each for D/H contiguous channels. The bias by
    lag is `r(l) = taps[l]` for l < S and `r(l) = (l-S) decay` beyond; without `taps` S is 0, without `decay` it is 0. RWKV-4's wkv has S = 1,
    taps = time_first and decay = -exp(time_decay); AFT-conv has S taps and no decay, AFT-simple neither.

    With `segments: [B, L]` history starts anew where the id changes; the initial state belongs to the segment of t = 0. Result 1, `lse`, is the
    log of the denominators, kept for the gradient.

    A state is `[B, R, D+H]`, R = max(S, 1): each row a weighted average of values (channels :D) and the log of its weight (channels D:). Row 0
    is everything that has lag S or more as seen from the next token, with that token's bias; rows 1 to R-1 are the last S-1 tokens, oldest
    first. A row without history has a log weight of -1e30.

    - C1: v is [B, L, D]
    - C2: k is [B, L, H] with H dividing D
    - C3: taps is [S, H] with S >= 1
    - C4: decay is [H]
    - C5: segments is [B, L]
    - C6: initial_state is [B, max(S, 1), D + H]

    ```mlir
    %y, %lse = hybrid.softmax_scan %k, %v taps(%u : tensor<1x4xf32>) decay(%w : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>
    %z, %lse2, %state = hybrid.softmax_scan %k2, %y taps(%b : tensor<3x2xf32>) {return_state} : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x3x6xf32>
    ```

    Zhai et al. 2021, section 3 (AFT); Peng et al. 2023, section 3 (RWKV).
  }];
  let language = (operator $k, $v, $taps, $decay, $segments, $initial_state, $return_state);
  let languageResults = (given $result, $final_state);
  let arguments = (ins Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Optional<Hybrid_FloatTensor>:$taps, Optional<Hybrid_FloatTensor>:$decay,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state, UnitAttr:$return_state);
  let results = (outs Hybrid_FloatTensor:$result, Hybrid_FloatTensor:$lse, Optional<Hybrid_FloatTensor>:$final_state);
  let assemblyFormat = [{ $k `,` $v oilist(`taps` `(` $taps `:` type($taps) `)` | `decay` `(` $decay `:` type($decay) `)` |
    `segments` `(` $segments `:` type($segments) `)` | `initial_state` `(` $initial_state `:` type($initial_state) `)`) attr-dict
    `:` type($k) `,` type($v) `->` type(results) }];
  let hasVerifier = 1;
}

def Hybrid_SoftmaxScanGradOp : Hybrid_PureOp<"softmax_scan_grad", [AttrSizedOperandSegments, Hybrid_Cost]> {
  let summary = "gradients of softmax_scan with respect to all its tensors";
  let description = [{
    With `p_ts = exp(k_s + r(t-s) - lse_t)` computed again and `g_ts = p_ts Σ dy_t ⊙ (v_s - output_t)` over the channels of a key:
    `dv_s = Σ_t p_ts dy_t`, `dk_s = Σ_t g_ts`, `dtaps[l] = Σ_s g_{s+l,s}`, `ddecay = Σ (t-s-S) g_ts` over lags of S and more. Sums over the tail run
    backwards with a running maximum of the exponents. A final state and its cotangent act as one more token, which sees the tail alone.
    Results: dk, dv, then dtaps, ddecay and dinitial_state for those that are present.

    - C1: v is [B, L, D]
    - C2: k is [B, L, H] with H dividing D
    - C3: taps is [S, H] with S >= 1
    - C4: decay is [H]
    - C5: segments is [B, L]
    - C6: initial_state, final_state and state_cotangent are [B, max(S, 1), D + H]
    - C7: output and cotangent have the type of v
    - C8: lse has the type of k
    - C9: final_state and state_cotangent come together

    ```mlir
    %dk, %dv, %du, %dw = hybrid.softmax_scan_grad %k, %v, %y, %lse, %dy taps(%u : tensor<1x4xf32>) decay(%w : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<1x4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Optional<Hybrid_FloatTensor>:$taps, Optional<Hybrid_FloatTensor>:$decay,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state,
                       Hybrid_FloatTensor:$output, Hybrid_FloatTensor:$lse, Hybrid_FloatTensor:$cotangent,
                       Optional<Hybrid_FloatTensor>:$final_state, Optional<Hybrid_FloatTensor>:$state_cotangent);
  let results = (outs Variadic<Hybrid_FloatTensor>:$gradients);
  let assemblyFormat = [{ $k `,` $v `,` $output `,` $lse `,` $cotangent oilist(`taps` `(` $taps `:` type($taps) `)` |
    `decay` `(` $decay `:` type($decay) `)` | `segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)` | `final_state` `(` $final_state `:` type($final_state) `)` |
    `state_cotangent` `(` $state_cotangent `:` type($state_cotangent) `)`)
    attr-dict `:` type($k) `,` type($v) `,` type($output) `,` type($lse) `,` type($cotangent) `->` type(results) }];
  let hasVerifier = 1;
}
