//===- GroupedLinear.td - each expert's projection of its own rows *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_GroupedLinearOp : Hybrid_PureOp<"grouped_linear", [Hybrid_Differentiable,
                                                             DeclareOpInterfaceMethods<CostOp, ["getActiveElements"]>]> {
  let summary = "each expert's projection of its own rows";
  let description = [{
    With the leading dimensions of x as rows, row r of expert e (`offsets[e] <= r < offsets[e+1]`) becomes `x[r] weight[e]ᵀ`; rows that belong
    to nobody become 0. `weight: [experts, out, in]`; with `transposed` it is [experts, in, out] and not transposed.

    - C1: the last dimension of x is `in`, and x has rows
    - C2: weight has rank 3
    - C3: offsets has experts + 1 elements

    ```mlir
    %y = hybrid.grouped_linear %x, %w, %offsets : tensor<2x8x2x16xf32>, tensor<4x32x16xf32>, tensor<5xi32> -> tensor<2x8x2x32xf32>
    ```
  }];
  let language = (operator $x, $weight, $offsets);
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$weight, Hybrid_IntTensor:$offsets, UnitAttr:$transposed);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `,` $weight `,` $offsets attr-dict `:` type($x) `,` type($weight) `,` type($offsets) `->` type($result)";
  let hasVerifier = 1;
}

def Hybrid_GroupedLinearGradOp : Hybrid_PureOp<"grouped_linear_grad", [Hybrid_Cost]> {
  let summary = "gradient of grouped_linear with respect to the weights";
  let description = [{
    `result[e] = Σ cotangent[r]ᵀ x[r]` over the rows of expert e: [experts, out, in].

    - C1: x and cotangent have the same leading dimensions
    - C2: offsets has rank 1 and at least two elements

    ```mlir
    %dw = hybrid.grouped_linear_grad %x, %dy, %offsets : tensor<2x8x2x16xf32>, tensor<2x8x2x32xf32>, tensor<5xi32> -> tensor<4x32x16xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$cotangent, Hybrid_IntTensor:$offsets);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `,` $cotangent `,` $offsets attr-dict `:` type($x) `,` type($cotangent) `,` type($offsets) `->` type($result)";
}
