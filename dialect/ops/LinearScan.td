//===- LinearScan.td - scan of a decayed outer-product state *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_LinearScanOp : Hybrid_PureOp<"linear_scan", [AttrSizedOperandSegments, Hybrid_Differentiable,
    Hybrid_Cost, Hybrid_Stateful, ResumableOp]> {
  let summary = "scan of an outer-product state with decay: linear attention and its relatives";
  let description = [{
    Per head, with a state S of [K, V] that starts as `initial_state` or zero:

    `S_t = diag(exp(g_t)) S_{t-1} + k_t v_tᵀ`, `result_t = scale S_tᵀ q_t`

    Heads are contiguous blocks of channels. `decay` holds g <= 0, natural logarithms: [B, L, H*K] for each key channel and time, [B, L, H]
    for each head and time, [H*K] or [H] when it is constant in time; without it nothing decays. `exclusive` reads the state before
    the token: `result_t = scale S_{t-1}ᵀ q_t`. With `segments` the state starts from zero wherever the id changes; the initial state
    belongs to the segment of position 0. `final_state` (with the unit attribute `return_state`) is the state after the last position.
    However strong the decay, nothing overflows: the recurrence is computed as it stands.

    - C1: q and k are [B, L, H*K] and v is [B, L, H*V]
    - C2: heads is at least 1 and divides the channels
    - C3: decay is [B, L, H*K], [B, L, H], [H*K] or [H]
    - C4: segments is [B, L]
    - C5: initial_state is [B, H, K, V]

    ```mlir
    %o = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2x8x4xf32>) {scale = 0.5} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
    %p, %last = hybrid.linear_scan %q, %k, %v heads 2 initial_state(%s : tensor<2x2x2x3xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
    ```

    Katharopoulos et al. 2020, section 3.3; Sun et al. 2023 (RetNet), section 2.1; Yang et al. 2024 (GLA), section 4.
  }];
  let language = (operator $q, $k, $v, $heads, $decay, $scale, $exclusive, $segments, $initial_state, $return_state);
  let arguments = (ins Hybrid_FloatTensor:$q, Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Optional<Hybrid_FloatTensor>:$decay,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state, I64Attr:$heads,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale, UnitAttr:$exclusive, UnitAttr:$return_state);
  let results = (outs Hybrid_FloatTensor:$result, Optional<Hybrid_FloatTensor>:$final_state);
  let assemblyFormat = [{ $q `,` $k `,` $v `heads` $heads oilist(`decay` `(` $decay `:` type($decay) `)` |
    `segments` `(` $segments `:` type($segments) `)` | `initial_state` `(` $initial_state `:` type($initial_state) `)`)
    attr-dict `:` type($q) `,` type($k) `,` type($v) `->` type(results) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getKeySize();
    int64_t getValueSize();
  }];
}

def Hybrid_LinearScanGradOp : Hybrid_PureOp<"linear_scan_grad", [AttrSizedOperandSegments, Hybrid_Cost, DeclareOpInterfaceMethods<ReadsResultsOp>]> {
  let summary = "gradients of linear_scan with respect to q, k, v, decay and initial state";
  let description = [{
    With dS_t the gradient of S_t, which starts at `state_cotangent` or zero and runs backwards, and dy the cotangent:

    `dS_t = scale q_t dy_tᵀ + diag(exp(g_{t+1})) dS_{t+1}`, `dq_t = scale S_t dy_t`, `dk_t = dS_t v_t`, `dv_t = dS_tᵀ k_t`,
    `dg_t = exp(g_t) ⊙ Σ_v S_{t-1} ⊙ dS_t`

    (`exclusive`: q_{t+1} dy_{t+1} and S_{t-1} in the first two). Results: dq, dk, dv, then ddecay, of the shape of decay, and
    dinitial_state for those that are present. States are computed again from one kept every few steps.

    - C1: q and k are [B, L, H*K] and v is [B, L, H*V]
    - C2: heads is at least 1 and divides the channels
    - C3: decay is [B, L, H*K], [B, L, H], [H*K] or [H]
    - C4: segments is [B, L]
    - C5: initial_state and state_cotangent are [B, H, K, V]
    - C6: cotangent has the type of v

    ```mlir
    %dq, %dk, %dv, %dg = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 decay(%g : tensor<2x8x4xf32>) {scale = 0.5} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$q, Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Optional<Hybrid_FloatTensor>:$decay,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state,
                       Hybrid_FloatTensor:$cotangent, Optional<Hybrid_FloatTensor>:$state_cotangent, I64Attr:$heads,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale, UnitAttr:$exclusive);
  let results = (outs Hybrid_FloatTensor:$dq, Hybrid_FloatTensor:$dk, Hybrid_FloatTensor:$dv, Variadic<Hybrid_FloatTensor>:$optional_gradients);
  let assemblyFormat = [{ $q `,` $k `,` $v `,` $cotangent `heads` $heads oilist(`decay` `(` $decay `:` type($decay) `)` |
    `segments` `(` $segments `:` type($segments) `)` | `initial_state` `(` $initial_state `:` type($initial_state) `)` |
    `state_cotangent` `(` $state_cotangent `:` type($state_cotangent) `)`)
    attr-dict `:` type($q) `,` type($k) `,` type($v) `,` type($cotangent) `->` type(results) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getKeySize();
    int64_t getValueSize();
    /// Null when there is no decay.
    ::mlir::Value getDdecay();
    /// Null when there is no initial state.
    ::mlir::Value getDinitialState();
  }];
}
