//===- Unary.td - elementwise function of one tensor -------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_UnaryOp : Hybrid_PureOp<"unary", [Hybrid_FusableElementwise, SequenceAxisOp, Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "elementwise function of one tensor";
  let description = [{
    `silu(a) = a σ(a)`, `gelu` is the exact form with erf, `gelu_tanh` its tanh approximation, `softplus(a) = max(a,0) + log1p(exp(-|a|))`;
    `sign(0) = 0`; `elu(a) = a` for a > 0, else `expm1(a)`.

    ```mlir
    %y = hybrid.unary silu %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Hybrid_UnaryKindAttr:$kind, Hybrid_FloatTensor:$x);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "`` $kind $x attr-dict `:` type($x)";
  let hasFolder = 1;
}
