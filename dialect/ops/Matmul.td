//===- Matmul.td - matrix product --------------------------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_MatmulOp : Hybrid_ProductOp<"matmul", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowwise", "isRowOperand", "isRowResult", "accumulatesOverRows"]>, Hybrid_Positions, Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "matrix product";
  let description = [{
    `A·B` of a: [..., k] (leading dimensions flattened to rows) with b: [k, n]; `transpose_b`: b is [n, k].
    With b: [batch..., k, n] there is a product for each matrix of b: a: [batch..., rows..., k] gives [batch..., rows..., n].
    With `transpose_a`: a: [..., m] and b: [..., n] are contracted over all leading dimensions, giving [m, n].
    a and b may both be bf16: sums and result are f32 then.

    - C1: the contracted sizes agree
    - C2: b has a rank of 2 or more, and a begins with its dimensions but the last two, unless transpose_a
    - C3: transpose_a and transpose_b are not both set

    ```mlir
    %y = hybrid.matmul %a, %b {transpose_b} : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
    %g = hybrid.matmul %y, %a {transpose_a} : tensor<2x8x16xf32>, tensor<2x8x4xf32> -> tensor<16x4xf32>
    %s = hybrid.matmul %y, %y {transpose_b} : tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x8xf32>
    ```
  }];
  let arguments = (ins Hybrid_ProductOperand:$a, Hybrid_ProductOperand:$b, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($result)";
}
