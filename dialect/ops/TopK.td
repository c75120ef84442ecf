//===- TopK.td - places of the largest values --------------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_TopKOp : Hybrid_PureOp<"top_k", [Hybrid_Positions, Hybrid_Cost]> {
  let summary = "places of the largest values of the last dimension";
  let description = [{
    `result[..., j]` is the index of the j-th largest of `x[..., :]`; of equal values the lowest index comes first, so that runs
    are reproducible. NaN counts as the smallest. A choice has no gradient: `take` gives the chosen values with theirs.

    - C1: x has at least one dimension
    - C2: k is at least 1 and at most the last dimension of x, which is below 2^31

    ```mlir
    %i = hybrid.top_k %scores of 2 : tensor<2x8x4xf32> -> tensor<2x8x2xi32>
    ```

    Poli et al. 2024 (MAD), section 3.3.
  }];
  let language = (operator $x, $k);
  let arguments = (ins Hybrid_FloatTensor:$x, I64Attr:$k);
  let results = (outs Hybrid_IntTensor:$result);
  let assemblyFormat = "$x `of` $k attr-dict `:` type($x) `->` type($result)";
}
