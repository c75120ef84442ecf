//===- Attention.td - softmax attention of many heads ------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_AttentionOp : Hybrid_PureOp<"attention", [AttrSizedOperandSegments, Hybrid_Differentiable,
    Hybrid_Cost, DeclareOpInterfaceMethods<StatefulOp, ["getDynamicStateElements"]>]> {
  let summary = "softmax attention of many heads";
  let description = [{
    `o_t = Σ_s softmax_s(scale q_t·k_s) v_s` per head; heads are contiguous blocks of channels. `kv_heads` divides
    `heads` (grouped query). `causal`: s <= t. `window` w >= 0: also s >= t-w. `rotary_dims` R: the first R dims of each
    head of q and k are rotated by position (`rotary_base`, pairs (i, i+R/2) or `rotary_interleaved`), with `xpos_base` > 0
    also scaled as xPos does. Positions of q are the last L of k's (a state: the keys and values that came before).
    Result 1, `lse`, is the log of the softmax denominators [B, heads, L], kept for the gradient.

    - C1: q is [B, L, heads*M]; k and v are [B, S, kv_heads*M]
    - C2: heads is at least 1 and kv_heads divides it
    - C3: rotary_dims is even and at most M
    - C4: segments is [B, L] and S = L, without a past
    - C5: past_k and past_v come together and are [B, P, kv_heads*M]
    - C6: window is at least -1 (none)
    - C7: rotary_base is above 0 and xpos_base is not below

    ```mlir
    %y, %lse = hybrid.attention %q, %k, %v heads 4 kv_heads 2 {rotary_dims = 2 : i64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
    ```

    Vaswani et al. 2017, section 3.2; rotation: Su et al. 2021, section 3.4; scales: Sun et al. 2022 (xPos).
  }];
  let language = (operator $q, $k, $v, $heads, "kv_heads = heads":$kv_heads, $causal, $window, $rotary_dims, $rotary_base, $rotary_interleaved,
                           $xpos_base, $segments, $scale);
  let languageResults = (given $result);
  let arguments = (ins Hybrid_FloatTensor:$q, Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Optional<Hybrid_IntTensor>:$segments,
                       Optional<Hybrid_FloatTensor>:$past_k, Optional<Hybrid_FloatTensor>:$past_v,
                       I64Attr:$heads, I64Attr:$kv_heads, DefaultValuedAttr<BoolAttr, "true">:$causal, DefaultValuedAttr<I64Attr, "-1">:$window,
                       DefaultValuedAttr<I64Attr, "0">:$rotary_dims, DefaultValuedAttr<F64Attr, "10000.0">:$rotary_base,
                       DefaultValuedAttr<BoolAttr, "false">:$rotary_interleaved, DefaultValuedAttr<F64Attr, "0.0">:$xpos_base,
                       DefaultValuedAttr<F64Attr, "0.0">:$scale);
  let results = (outs Hybrid_FloatTensor:$result, Hybrid_FloatTensor:$lse);
  let assemblyFormat = [{ $q `,` $k `,` $v `heads` $heads `kv_heads` $kv_heads oilist(`segments` `(` $segments `:` type($segments) `)` |
    `past` `(` $past_k `,` $past_v `:` type($past_k) `,` type($past_v) `)`) attr-dict `:` type($q) `,` type($k) `,` type($v) `->` type($result) `,` type($lse) }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    int64_t getHeadSize();
    /// 1/sqrt(head size) unless given.
    double getSoftmaxScale();
  }];
}

def Hybrid_AttentionGradOp : Hybrid_PureOp<"attention_grad", [Hybrid_Cost]> {
  let summary = "gradients of attention with respect to q, k and v";
  let description = [{
    Per head, with P = exp(scale q·k - lse) computed again and D_t = dy_t·output_t: `dS = scale P ⊙ (dy vᵀ - D)`,
    `dq = dS k`, `dk = dSᵀ q`, `dv = Pᵀ dy`; dq and dk are rotated back, dk and dv summed over a group of query heads.

    - C1: q is [B, L, heads*M]; k and v are [B, S, kv_heads*M]
    - C2: kv_heads divides heads
    - C3: rotary_dims is even and at most M
    - C4: segments is [B, L] and S = L
    - C5: output and cotangent have the type of q
    - C6: lse is [B, heads, L]

    ```mlir
    %dq, %dk, %dv = hybrid.attention_grad %q, %k, %v, %y, %lse, %dy heads 4 kv_heads 2 {causal = true, window = -1 : i64, rotary_dims = 2 : i64, rotary_base = 1.0e4 : f64, rotary_interleaved = false, xpos_base = 0.0 : f64, scale = 0.5 : f64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$q, Hybrid_FloatTensor:$k, Hybrid_FloatTensor:$v, Optional<Hybrid_IntTensor>:$segments,
                       Hybrid_FloatTensor:$output, Hybrid_FloatTensor:$lse, Hybrid_FloatTensor:$cotangent,
                       I64Attr:$heads, I64Attr:$kv_heads, BoolAttr:$causal, I64Attr:$window, I64Attr:$rotary_dims, F64Attr:$rotary_base,
                       BoolAttr:$rotary_interleaved, F64Attr:$xpos_base, F64Attr:$scale);
  let results = (outs Hybrid_FloatTensor:$dq, Hybrid_FloatTensor:$dk, Hybrid_FloatTensor:$dv);
  let assemblyFormat = [{ $q `,` $k `,` $v `,` $output `,` $lse `,` $cotangent `heads` $heads `kv_heads` $kv_heads
    (`segments` `(` $segments^ `:` type($segments) `)`)? attr-dict `:` type($q) `,` type($k) `,` type($v) `,` type($output) `,` type($lse) `,` type($cotangent)
    `->` type($dq) `,` type($dk) `,` type($dv) }];
  let hasVerifier = 1;
}
