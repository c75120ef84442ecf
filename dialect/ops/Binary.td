//===- Binary.td - elementwise function of two tensors -----*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_BinaryOp : Hybrid_PureOp<"binary", [Hybrid_FusableElementwise, SequenceAxisOp, Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "elementwise function of two tensors, with broadcasting";
  let description = [{
    Shapes are aligned at the last dimension; a missing dimension or one of size 1 is repeated. `equal` and `less` give 1 or 0 and have no gradient;
    `atan2` is the angle of the point (rhs, lhs) in (-π, π].

    - C1: the shapes broadcast

    ```mlir
    %y = hybrid.binary add %x, %bias : tensor<4x8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Hybrid_BinaryKindAttr:$kind, Hybrid_FloatTensor:$lhs, Hybrid_FloatTensor:$rhs);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "`` $kind $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let hasFolder = 1;
}
