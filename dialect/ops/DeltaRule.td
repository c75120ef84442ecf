//===- DeltaRule.td - scan of a state that erases before it writes *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_DeltaRuleOp : Hybrid_PureOp<"delta_rule", [AttrSizedOperandSegments, Hybrid_Differentiable,
    Hybrid_Cost, Hybrid_Stateful, ResumableOp]> {
  let summary = "generalized delta rule: scan of an outer-product state with decay and a rank-one transition";
  let description = [{
    Per head, with a state S of [K, V] that starts as `initial_state` or zero:

    `S_t = diag(exp(g_t)) S_{t-1} + b_t (a_tᵀ S_{t-1}) + k_t v_tᵀ`, `result_t = scale S_tᵀ q_t`

    `a` reads the state before it decays. Without `b` it is -k: `S_t = diag(exp(g_t)) S_{t-1} + k_t (v_t - S_{t-1}ᵀ a_t)ᵀ`, where a = k is the
    delta rule of DeltaNet with k of length 1 (both k and v, or a and v, times β), and a = exp(g) ⊙ k that of gated DeltaNet and KDA.

    Heads are contiguous blocks of channels. `decay` holds g <= 0, natural logarithms: [B, L, H*K] for each key channel and time, or [B, L, H]
    for each head and time; without it nothing decays. With `steps` = n a token takes n steps, k, v, a and b holding those of its first step, then those of
    its second, and so on; it decays before the first and is read after the last. With `segments` the state starts from zero wherever the id
    changes; the initial state belongs to the segment of position 0. `final_state` (with the unit attribute `return_state`) is the
    state after the last position. However strong the decay, nothing overflows: only decays of steps that follow one another are multiplied.

    - C1: q is [B, L, H*K]; k, a and b are [B, L, steps*H*K] and v is [B, L, steps*H*V]
    - C2: heads and steps are at least 1, heads divides the channels of q and heads * steps those of v
    - C3: decay is [B, L, H*K] or [B, L, H]
    - C4: segments is [B, L]
    - C5: initial_state is [B, H, K, V]

    ```mlir
    %o = hybrid.delta_rule %q, %k, %v, %a heads 2 decay(%g : tensor<2x8x2xf32>) {scale = 0.5} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
    %p, %last = hybrid.delta_rule %q, %k, %v, %a heads 2 b(%b : tensor<2x8x4xf32>) initial_state(%s : tensor<2x2x2x3xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
    ```

    Schlag et al. 2021, section 4; Yang et al. 2024 (DeltaNet), section 3; Yang et al. 2025 (gated DeltaNet), section 3; Siems et al. 2025 (DeltaProduct), section 3;
    Peng et al. 2025 (RWKV-7), section 4.
  }];
  let language = (operator $q, $k, $v, $a, $heads, $b, $decay, $steps, $scale, $segments, $initial_state, $return_state);
  let arguments = (ins Hybrid_FloatTensor:$q, Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Hybrid_FloatTensor:$a,
                       Optional<Hybrid_FloatTensor>:$b, Optional<Hybrid_FloatTensor>:$decay, Optional<Hybrid_IntTensor>:$segments,
                       Optional<Hybrid_FloatTensor>:$initial_state, I64Attr:$heads, DefaultValuedAttr<I64Attr, "1">:$steps,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale, UnitAttr:$return_state);
  let results = (outs Hybrid_FloatTensor:$result, Optional<Hybrid_FloatTensor>:$final_state);
  let assemblyFormat = [{ $q `,` $k `,` $v `,` $a `heads` $heads oilist(`b` `(` $b `:` type($b) `)` | `decay` `(` $decay `:` type($decay) `)` |
    `segments` `(` $segments `:` type($segments) `)` | `initial_state` `(` $initial_state `:` type($initial_state) `)`)
    attr-dict `:` type($q) `,` type($k) `,` type($v) `,` type($a) `->` type(results) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getKeySize();
    int64_t getValueSize();
  }];
}

def Hybrid_DeltaRuleGradOp : Hybrid_PureOp<"delta_rule_grad", [AttrSizedOperandSegments, Hybrid_Cost]> {
  let summary = "gradients of delta_rule with respect to q, k, v, a, b, decay and initial state";
  let description = [{
    With dS_t the gradient of S_t, which starts at `state_cotangent` or zero and runs backwards, dy the cotangent and u_t = S_{t-1}ᵀ a_t:

    `dS_t = scale q_t dy_tᵀ + diag(exp(g_{t+1})) dS_{t+1} + a_{t+1} (b_{t+1}ᵀ dS_{t+1})`, `dq_t = scale S_t dy_t`, `dk_t = dS_t v_t`,
    `dv_t = dS_tᵀ k_t`, `da_t = S_{t-1} dS_tᵀ b_t`, `db_t = dS_t u_t`, `dg_t = exp(g_t) ⊙ Σ_v S_{t-1} ⊙ dS_t`

    Results: dq, dk, dv, da, then db, ddecay, of the shape of decay, and dinitial_state for those that are present. Without b its gradient
    is part of dk. States are computed again from some that are kept.

    - C1: q is [B, L, H*K]; k, a and b are [B, L, steps*H*K] and v is [B, L, steps*H*V]
    - C2: heads and steps are at least 1, heads divides the channels of q and heads * steps those of v
    - C3: decay is [B, L, H*K] or [B, L, H]
    - C4: segments is [B, L]
    - C5: initial_state and state_cotangent are [B, H, K, V]
    - C6: cotangent is [B, L, H*V]

    ```mlir
    %dq, %dk, %dv, %da, %dg = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 decay(%g : tensor<2x8x4xf32>) {scale = 0.5} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$q, Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Hybrid_FloatTensor:$a,
                       Optional<Hybrid_FloatTensor>:$b, Optional<Hybrid_FloatTensor>:$decay, Optional<Hybrid_IntTensor>:$segments,
                       Optional<Hybrid_FloatTensor>:$initial_state, Hybrid_FloatTensor:$cotangent,
                       Optional<Hybrid_FloatTensor>:$state_cotangent, I64Attr:$heads, DefaultValuedAttr<I64Attr, "1">:$steps,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs Hybrid_FloatTensor:$dq, Hybrid_FloatTensor:$dk, Hybrid_FloatTensor:$dv, Hybrid_FloatTensor:$da,
                      Variadic<Hybrid_FloatTensor>:$optional_gradients);
  let assemblyFormat = [{ $q `,` $k `,` $v `,` $a `,` $cotangent `heads` $heads oilist(`b` `(` $b `:` type($b) `)` |
    `decay` `(` $decay `:` type($decay) `)` | `segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)` | `state_cotangent` `(` $state_cotangent `:` type($state_cotangent) `)`)
    attr-dict `:` type($q) `,` type($k) `,` type($v) `,` type($a) `,` type($cotangent) `->` type(results) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getKeySize();
    int64_t getValueSize();
    /// Null when there is no b.
    ::mlir::Value getDb();
    /// Null when there is no decay.
    ::mlir::Value getDdecay();
    /// Null when there is no initial state.
    ::mlir::Value getDinitialState();
  }];
}
