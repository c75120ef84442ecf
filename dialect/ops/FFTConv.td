//===- FFTConv.td - gated causal long convolution ----------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_FFTConvOp : Hybrid_PureOp<"fftconv", [AttrSizedOperandSegments, Hybrid_Differentiable,
    Hybrid_Cost, DeclareOpInterfaceMethods<StatefulOp, ["getDynamicStateElements"]>, ResumableOp, DeclareOpInterfaceMethods<CarriedOp>,
    DeclareOpInterfaceMethods<HeadwiseOp>]> {
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
    - C5: segments is [B, L], without a state
    - C6: initial_state is [B, S, C]

    ```mlir
    %y = hybrid.fftconv %x, %h skip(%d : tensor<4xf32>) gate_in(%p : tensor<2x8x4xf32>) gate_out(%q : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
    ```

    Poli et al. 2023, sections 2.1 and 3.1.
  }];
  let language = (operator $x, $filter, $skip, $segments, $initial_state, $return_state);
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

def Hybrid_FFTConvGradOp : Hybrid_PureOp<"fftconv_grad", [AttrSizedOperandSegments, Hybrid_Cost]> {
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
