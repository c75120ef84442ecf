//===- Take.td - values at given places, and back ----------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_TakeOp : Hybrid_PureOp<"take", [Hybrid_Differentiable, Hybrid_Indexing, Hybrid_Positions, Hybrid_Cost]> {
  let summary = "values of the last dimension at given places";
  let description = [{
    `result[..., j] = x[..., indices[..., j]]`; an index outside gives NaN. The adjoint of `scatter`.

    - C1: x and indices have the same leading dimensions
    - C2: the last dimension of x is below 2^31

    ```mlir
    %v = hybrid.take %scores at %i : tensor<2x8x4xf32>, tensor<2x8x2xi32> -> tensor<2x8x2xf32>
    ```
  }];
  let language = (operator $x, $indices);
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_IntTensor:$indices);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `at` $indices attr-dict `:` type($x) `,` type($indices) `->` type($result)";
}

def Hybrid_ScatterOp : Hybrid_PureOp<"scatter", [Hybrid_Differentiable, Hybrid_Positions, Hybrid_Cost]> {
  let summary = "values put at given places of a last dimension of zeros";
  let description = [{
    `result[..., i] = Σ x[..., j]` over the j with `indices[..., j] = i`, for i < size; indices outside are left out. The adjoint of `take`.

    - C1: x and indices have the same shape
    - C2: size is at least 1 and below 2^31

    ```mlir
    %w = hybrid.scatter %v at %i into 4 : tensor<2x8x2xf32>, tensor<2x8x2xi32> -> tensor<2x8x4xf32>
    ```
  }];
  let language = (operator $x, $indices, $size);
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_IntTensor:$indices, I64Attr:$size);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `at` $indices `into` $size attr-dict `:` type($x) `,` type($indices) `->` type($result)";
}
