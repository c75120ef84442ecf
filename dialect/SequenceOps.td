//===- SequenceOps.td - ops that mix along the sequence ---------*- tablegen -*-===//
#ifndef HYBRID_SEQUENCE_OPS_TD
#define HYBRID_SEQUENCE_OPS_TD
include "dialect/HybridBase.td"

def Hybrid_ShortConvOp : Hybrid_PureOp<"short_conv", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<DifferentiableOp>,
    DeclareOpInterfaceMethods<CostOp>, DeclareOpInterfaceMethods<StatefulOp, ["isShortBuffer"]>]> {
  let summary = "short depthwise causal convolution";
  let description = [{
    `y[b,t,c] = bias[c] + Σ_j weight[c,j] x[b,t-(K-1)+j,c]`, zero (or `initial_state: [B, K-1, C]`, oldest first) before the
    start; tap K-1 is lag 0. With `segments: [B, L]` only positions of equal id see each other.
    `final_state` (with the unit attribute `return_state`) holds the last K-1 inputs.

    - C1: x is [B, L, C]
    - C2: weight is [C, K] with K >= 1, bias [C]
    - C3: segments is [B, L]
    - C4: initial_state is [B, K-1, C]

    ```mlir
    %y = hybrid.short_conv %x, %w bias(%b : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
    %z, %last = hybrid.short_conv %y, %w initial_state(%s : tensor<2x2x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x2x4xf32>
    ```

    Poli et al. 2023, appendix A.2.
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$weight, Optional<Hybrid_FloatTensor>:$bias,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state, UnitAttr:$return_state);
  let results = (outs Hybrid_FloatTensor:$result, Optional<Hybrid_FloatTensor>:$final_state);
  let assemblyFormat = [{ $x `,` $weight oilist(`bias` `(` $bias `:` type($bias) `)` | `segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)`) attr-dict `:` type($x) `,` type($weight) `->` type(results) }];
  let hasVerifier = 1;
}

def Hybrid_ShortConvGradOp : Hybrid_PureOp<"short_conv_grad", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "gradients of short_conv with respect to x, weight, bias and initial state";
  let description = [{
    `dx[t] = Σ_j weight[j] dy[t+(K-1)-j]`, `dweight[:, j] = Σ dy[t] x[t-(K-1)+j]`, `dbias = Σ dy`; `state_cotangent` adds to dx where an
    input is also in the final state. `dinitial_state` is there when `initial_state` is.

    - C1: x is [B, L, C]
    - C2: weight is [C, K] with K >= 1
    - C3: segments is [B, L]
    - C4: initial_state and state_cotangent are [B, K-1, C]
    - C5: cotangent has the type of x

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

def Hybrid_FFTConvOp : Hybrid_PureOp<"fftconv", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<DifferentiableOp>,
    DeclareOpInterfaceMethods<CostOp>, DeclareOpInterfaceMethods<StatefulOp>]> {
  let summary = "gated causal long convolution";
  let description = [{
    `y = (conv(w, filter) + skip ⊙ w) ⊙ gate_out` with `w = x ⊙ gate_in`, per channel:
    `conv(w, h)[t] = Σ_{s<=t} h[s] w[t-s]`. `filter: [K, C]`, K <= L, is zero beyond its length. Gates are usually put in by `hybrid-fuse-gates`.
    With `segments: [B, L]` each run of equal ids is convolved alone. `initial_state: [B, S, C]` holds the S values of w before the start;
    with `return_state` the result `final_state: [B, S + L, C]` is that history continued.

    - C1: x is [B, L, C]
    - C2: filter is [K, C] with K <= L (K <= L + S with an initial state)
    - C3: skip is [C]
    - C4: gates have the type of x
    - C5: segments is [B, L]
    - C6: initial_state is [B, S, C]

    ```mlir
    %y = hybrid.fftconv %x, %h skip(%d : tensor<4xf32>) gate_in(%p : tensor<2x8x4xf32>) gate_out(%q : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
    ```

    Poli et al. 2023, sections 2.1 and 3.1.
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$filter, Optional<Hybrid_FloatTensor>:$skip,
                       Optional<Hybrid_FloatTensor>:$gate_in, Optional<Hybrid_FloatTensor>:$gate_out,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state, UnitAttr:$return_state);
  let results = (outs Hybrid_FloatTensor:$result, Optional<Hybrid_FloatTensor>:$final_state);
  let assemblyFormat = [{ $x `,` $filter oilist(`skip` `(` $skip `:` type($skip) `)` | `gate_in` `(` $gate_in `:` type($gate_in) `)` |
    `gate_out` `(` $gate_out `:` type($gate_out) `)` | `segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)`) attr-dict `:` type($x) `,` type($filter) `->` type(results) }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Hybrid_FFTConvGradOp : Hybrid_PureOp<"fftconv_grad", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "gradients of fftconv with respect to x, filter, skip and the gates";
  let description = [{
    With w = x ⊙ gate_in, s = conv(w, filter) + skip ⊙ w, ds = dy ⊙ gate_out and corr(a, b)[i] = Σ_t a[t] b[t-i]:
    `dgate_out = dy ⊙ s`, `dw = corr(ds, filter) + skip ⊙ ds`, `dx = dw ⊙ gate_in`, `dgate_in = dw ⊙ x`, `dfilter = Σ_b corr(ds, w)`,
    `dskip = Σ ds ⊙ w`. Results: dx, dfilter, then dskip, dgate_in and dgate_out for those that are present. One op, so that one
    kernel shares the transforms.

    - C1: x is [B, L, C]
    - C2: filter is [K, C] with K <= L
    - C3: skip is [C]
    - C4: gates have the type of x
    - C5: segments is [B, L]
    - C6: cotangent has the type of x

    ```mlir
    %dx, %dh, %dd = hybrid.fftconv_grad %x, %h, %dy skip(%d : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$filter, Optional<Hybrid_FloatTensor>:$skip,
                       Optional<Hybrid_FloatTensor>:$gate_in, Optional<Hybrid_FloatTensor>:$gate_out,
                       Optional<Hybrid_IntTensor>:$segments, Hybrid_FloatTensor:$cotangent);
  let results = (outs Variadic<Hybrid_FloatTensor>:$gradients);
  let assemblyFormat = [{ $x `,` $filter `,` $cotangent oilist(`skip` `(` $skip `:` type($skip) `)` | `gate_in` `(` $gate_in `:` type($gate_in) `)` |
    `gate_out` `(` $gate_out `:` type($gate_out) `)` | `segments` `(` $segments `:` type($segments) `)`)
    attr-dict `:` type($x) `,` type($filter) `,` type($cotangent) `->` type(results) }];
  let hasVerifier = 1;
}

def Hybrid_AttentionOp : Hybrid_PureOp<"attention", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<DifferentiableOp>,
    DeclareOpInterfaceMethods<CostOp>, DeclareOpInterfaceMethods<StatefulOp>]> {
  let summary = "softmax attention of many heads";
  let description = [{
    `o_t = Σ_s softmax_s(scale q_t·k_s) v_s` per head; heads are contiguous blocks of channels. `kv_heads` divides
    `heads` (grouped query). `causal`: s <= t. `window` w >= 0: also s >= t-w. `rotary_dims` R: the first R dims of each
    head of q and k are rotated by position (`rotary_base`, pairs (i, i+R/2) or `rotary_interleaved`), with `xpos_base` > 0
    also scaled as xPos does. Positions of q are the last L of k's (a state: the keys and values that came before).
    Result 1, `lse`, is the log of the softmax denominators [B, heads, L], kept for the gradient.

    - C1: q is [B, L, heads*M]; k and v are [B, S, kv_heads*M]
    - C2: kv_heads divides heads
    - C3: rotary_dims is even and at most M
    - C4: segments is [B, L] and S = L, without a past
    - C5: past_k and past_v come together and are [B, P, kv_heads*M]
    - C6: window is at least -1 (none)

    ```mlir
    %y, %lse = hybrid.attention %q, %k, %v heads 4 kv_heads 2 {rotary_dims = 2 : i64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
    ```

    Vaswani et al. 2017, section 3.2; rotation: Su et al. 2021, section 3.4; scales: Sun et al. 2022 (xPos).
  }];
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

def Hybrid_AttentionGradOp : Hybrid_PureOp<"attention_grad", [DeclareOpInterfaceMethods<CostOp>]> {
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
#endif
