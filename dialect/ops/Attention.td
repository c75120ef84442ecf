//===- Attention.td - softmax attention of many heads ------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_AttentionOp : Hybrid_PureOp<"attention", [AttrSizedOperandSegments, Hybrid_Differentiable,
    Hybrid_Cost, IsolatedFromAbove, DeclareOpInterfaceMethods<BodyOp, ["getBodyArgumentTypes", "getBodyResultTypes"]>,
    DeclareOpInterfaceMethods<StatefulOp, ["getDynamicStateElements"]>, Hybrid_Positions, DeclareOpInterfaceMethods<CarriedOp>,
    DeclareOpInterfaceMethods<HeadwiseOp, ["getHeadObstacle"]>]> {
  let summary = "softmax attention of many heads";
  let description = [{
    `o_t = Σ_s softmax_s(f(scale q_t·k_s)) v_s` per head; heads are contiguous blocks of channels. `kv_heads` divides
    `heads` (grouped query). `causal`: s <= t. `window` w >= 0: also s >= t-w. `rotary_dims` R: the first R dims of each
    head of q and k are rotated by position (`rotary_base`, pairs (i, i+R/2) or `rotary_interleaved`), with `xpos_base` > 0
    also scaled as xPos does, which is refused when compiled for more positions than the element type has scales for. Positions of q are the last L of k's (a state: the keys and values that came before).
    Result 1, `lse`, is the log of the softmax denominators [B, heads, L]; a row that sees no key has the result 0 and the lse -inf.

    `f` is the region `score`, none by default: what a logit is made of. Its arguments are numbers: the product, the positions of
    query and key, the head, what `query_terms` holds of the query and `key_terms` of the key; it holds elementwise ops and yields the
    logit, before the mask.

    - C1: q is [B, L, heads*M], k is [B, S, kv_heads*M] and v is [B, S, kv_heads*V]
    - C2: heads is at least 1 and kv_heads divides it
    - C3: rotary_dims is even and at most M
    - C4: segments is [B, L] and S = L, without a past
    - C5: past_k and past_v come together and are [B, P, kv_heads*M]
    - C6: window is at least -1 (none)
    - C7: rotary_base is above 0 and xpos_base is not below
    - C8: query_terms is [B, N, heads, L] and key_terms [B, N, heads, P+S], with 1 to 8 terms; there are terms with a score only
    - C9: score takes a number for each of its arguments, yields one, and holds elementwise ops and constants only

    ```mlir
    %y, %lse = hybrid.attention %q, %k, %v heads 4 kv_heads 2 {rotary_dims = 2 : i64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
    %z, %logs = hybrid.attention %q, %k, %v heads 4 kv_heads 2 key_terms(%g : tensor<2x1x4x8xf32>) : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32> score {
    ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>, %decay: tensor<f32>):
      %logit = hybrid.binary sub %s, %decay : tensor<f32>, tensor<f32>
      hybrid.yield %logit : tensor<f32>
    }
    ```

    Vaswani et al. 2017, section 3.2; rotation: Su et al. 2021, section 3.4; scales: Sun et al. 2022 (xPos); functions of the score: Dong et al. 2024 (FlexAttention).
  }];
  let language = (operator $q, $k, $v, $heads, "kv_heads = heads":$kv_heads, $causal, $window, $rotary_dims, $rotary_base, $rotary_interleaved,
                           $xpos_base, $segments, $scale);
  let languageResults = (given $result);
  let arguments = (ins Hybrid_FloatTensor:$q, Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Optional<Hybrid_IntTensor>:$segments,
                       Optional<Hybrid_FloatTensor>:$past_k, Optional<Hybrid_FloatTensor>:$past_v,
                       Optional<Hybrid_FloatTensor>:$query_terms, Optional<Hybrid_FloatTensor>:$key_terms, I64Attr:$heads, I64Attr:$kv_heads, DefaultValuedAttr<BoolAttr, "true">:$causal, DefaultValuedAttr<I64Attr, "-1">:$window,
                       DefaultValuedAttr<I64Attr, "0">:$rotary_dims, DefaultValuedAttr<F64Attr, "10000.0">:$rotary_base,
                       DefaultValuedAttr<BoolAttr, "false">:$rotary_interleaved, DefaultValuedAttr<F64Attr, "0.0">:$xpos_base,
                       DefaultValuedAttr<F64Attr, "0.0">:$scale);
  let results = (outs Hybrid_FloatTensor:$result, Hybrid_FloatTensor:$lse);
  let regions = (region AnyRegion:$score);
  let assemblyFormat = [{ $q `,` $k `,` $v `heads` $heads `kv_heads` $kv_heads oilist(`segments` `(` $segments `:` type($segments) `)` |
    `past` `(` $past_k `,` $past_v `:` type($past_k) `,` type($past_v) `)` | `query_terms` `(` $query_terms `:` type($query_terms) `)` |
    `key_terms` `(` $key_terms `:` type($key_terms) `)`) attr-dict `:` type($q) `,` type($k) `,` type($v) `->` type($result) `,` type($lse)
    (`score` $score^)? }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    int64_t getHeadSize();
    int64_t getValueSize();
    /// 1/sqrt(head size) unless given.
    double getSoftmaxScale();
  }];
}

def Hybrid_AttentionGradOp : Hybrid_PureOp<"attention_grad", [AttrSizedOperandSegments, Hybrid_Cost, IsolatedFromAbove,
    DeclareOpInterfaceMethods<BodyOp, ["getBodyArgumentTypes", "getBodyResultTypes"]>]> {
  let summary = "gradients of attention with respect to q, k, v and the terms of its score";
  let description = [{
    Per head, with P = exp(f(scale q·k) - lse) computed again, D_t = dy_t·output_t - dlse_t (`lse_cotangent`): `dF = P ⊙ (dy vᵀ - D)`,
    `dS = scale f' dF`, `dq = dS k`, `dk = dSᵀ q`, `dv = Pᵀ dy`; dq and dk are rotated back, dk and dv summed over a group of query heads.
    f' dF and what dF gives each term is the region `score_gradient`: the arguments of `score` and dF; it yields the gradients of the
    product and of the terms. Those of the terms are summed over keys or queries: results 3 and 4, for those present.

    - C1: q is [B, L, heads*M], k is [B, S, kv_heads*M] and v is [B, S, kv_heads*V]
    - C2: kv_heads divides heads
    - C3: rotary_dims is even and at most M
    - C4: segments is [B, L] and S = L
    - C5: output and cotangent are [B, L, heads*V]
    - C6: lse and lse_cotangent are [B, heads, L]
    - C8: query_terms is [B, N, heads, L] and key_terms [B, N, heads, S], with 1 to 8 terms; there are terms with a score only
    - C9: score takes a number for each of its arguments, yields one, and holds elementwise ops and constants only
    - C10: score_gradient comes with score, takes a number more, and yields one for the product and each term

    ```mlir
    %dq, %dk, %dv = hybrid.attention_grad %q, %k, %v, %y, %lse, %dy heads 4 kv_heads 2 {causal = true, window = -1 : i64, rotary_dims = 2 : i64, rotary_base = 1.0e4 : f64, rotary_interleaved = false, xpos_base = 0.0 : f64, scale = 0.5 : f64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$q, Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Optional<Hybrid_IntTensor>:$segments,
                       Hybrid_FloatTensor:$output, Hybrid_FloatTensor:$lse, Hybrid_FloatTensor:$cotangent,
                       Optional<Hybrid_FloatTensor>:$lse_cotangent, Optional<Hybrid_FloatTensor>:$query_terms, Optional<Hybrid_FloatTensor>:$key_terms,
                       I64Attr:$heads, I64Attr:$kv_heads, BoolAttr:$causal, I64Attr:$window, I64Attr:$rotary_dims, F64Attr:$rotary_base,
                       BoolAttr:$rotary_interleaved, F64Attr:$xpos_base, F64Attr:$scale);
  let results = (outs Hybrid_FloatTensor:$dq, Hybrid_FloatTensor:$dk, Hybrid_FloatTensor:$dv, Variadic<Hybrid_FloatTensor>:$dterms);
  let regions = (region AnyRegion:$score, AnyRegion:$score_gradient);
  let assemblyFormat = [{ $q `,` $k `,` $v `,` $output `,` $lse `,` $cotangent `heads` $heads `kv_heads` $kv_heads
    oilist(`segments` `(` $segments `:` type($segments) `)` | `lse_cotangent` `(` $lse_cotangent `:` type($lse_cotangent) `)` |
    `query_terms` `(` $query_terms `:` type($query_terms) `)` | `key_terms` `(` $key_terms `:` type($key_terms) `)`)
    attr-dict `:` type($q) `,` type($k) `,` type($v) `,` type($output) `,` type($lse) `,` type($cotangent)
    `->` type(results) (`score` $score^)? (`score_gradient` $score_gradient^)? }];
  let hasVerifier = 1;
}
