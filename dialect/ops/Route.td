//===- Route.td - order of (token, choice) pairs by expert -*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RouteOp : Hybrid_PureOp<"route", [Hybrid_Cost]> {
  let summary = "order of (token, choice) pairs by expert";
  let description = [{
    `choices[..., j]` is the j-th expert of a token. Its pairs, in row-major order, are sorted by expert, keeping their order within an
    expert: pair p comes to row `slots[p]`, and expert e owns the rows `offsets[e] <= row < offsets[e+1]`. With `capacity_factor` f > 0 an
    expert takes its first ceil(f · pairs / experts) pairs; the others, and choices that are no expert, come to the rows from `offsets[experts]` on, which
    belong to nobody.

    - C1: choices has at least one dimension
    - C2: experts is at least 1 and below 2^31 - 1
    - C3: capacity_factor is not negative

    ```mlir
    %slots, %offsets = hybrid.route %i among 4 : tensor<2x8x2xi32> -> tensor<2x8x2xi32>, tensor<5xi32>
    ```

    Gale et al. 2022 (MegaBlocks), section 3: without a capacity no token is dropped.
  }];
  let language = (operator $choices, $experts, $capacity_factor);
  let arguments = (ins Hybrid_IntTensor:$choices, I64Attr:$experts, DefaultValuedAttr<F64Attr, "0.0">:$capacity_factor);
  let results = (outs Hybrid_IntTensor:$slots, Hybrid_IntTensor:$offsets);
  let assemblyFormat = "$choices `among` $experts attr-dict `:` type($choices) `->` type($slots) `,` type($offsets)";
  let hasVerifier = 1;
}
