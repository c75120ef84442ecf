//===- ExpertOps.td - choosing experts and computing them sparsely -*- tablegen -*-===//
//
// A mixture of experts is written in the language out of these: a router's scores give the experts of a
// token (top_k), `route` orders the (token, choice) pairs by expert, `dispatch` brings tokens into that order,
// `grouped_linear` applies each expert's weight to its own rows only, `collect` brings results back.
//
//===----------------------------------------------------------------------===//
#ifndef HYBRID_EXPERT_OPS_TD
#define HYBRID_EXPERT_OPS_TD
include "dialect/HybridBase.td"

def Hybrid_TopKOp : Hybrid_PureOp<"top_k", [DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "places of the largest values of the last dimension";
  let description = [{
    `result[..., j]` is the index of the j-th largest of `x[..., :]`; of equal values the lowest index comes first, so that runs
    are reproducible. NaN counts as the smallest. A choice has no gradient: `take` gives the chosen values with theirs.

    - C1: x has at least one dimension
    - C2: k is at least 1 and at most the last dimension of x

    ```mlir
    %i = hybrid.top_k %scores of 2 : tensor<2x8x4xf32> -> tensor<2x8x2xi32>
    ```

    Poli et al. 2024 (MAD), section 3.3.
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, I64Attr:$k);
  let results = (outs Hybrid_IntTensor:$result);
  let assemblyFormat = "$x `of` $k attr-dict `:` type($x) `->` type($result)";
}

def Hybrid_TakeOp : Hybrid_PureOp<"take", [DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "values of the last dimension at given places";
  let description = [{
    `result[..., j] = x[..., indices[..., j]]`; an index outside gives NaN. The adjoint of `scatter`.

    - C1: x and indices have the same leading dimensions

    ```mlir
    %v = hybrid.take %scores at %i : tensor<2x8x4xf32>, tensor<2x8x2xi32> -> tensor<2x8x2xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_IntTensor:$indices);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `at` $indices attr-dict `:` type($x) `,` type($indices) `->` type($result)";
}

def Hybrid_ScatterOp : Hybrid_PureOp<"scatter", [DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "values put at given places of a last dimension of zeros";
  let description = [{
    `result[..., i] = Σ x[..., j]` over the j with `indices[..., j] = i`, for i < size; indices outside are left out. The adjoint of `take`.

    - C1: x and indices have the same shape
    - C2: size is at least 1

    ```mlir
    %w = hybrid.scatter %v at %i into 4 : tensor<2x8x2xf32>, tensor<2x8x2xi32> -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_IntTensor:$indices, I64Attr:$size);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `at` $indices `into` $size attr-dict `:` type($x) `,` type($indices) `->` type($result)";
}

def Hybrid_RouteOp : Hybrid_PureOp<"route", [DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "order of (token, choice) pairs by expert";
  let description = [{
    `choices[..., j]` is the j-th expert of a token. Its pairs, in row-major order, are sorted by expert, keeping their order within an
    expert: pair p comes to row `slots[p]`, and expert e owns the rows `offsets[e] <= row < offsets[e+1]`. With `capacity_factor` f > 0 an
    expert takes its first ceil(f · pairs / experts) pairs; the others, and choices that are no expert, come to the rows from `offsets[experts]` on, which
    belong to nobody.

    - C1: choices has at least one dimension
    - C2: experts is at least 1
    - C3: capacity_factor is not negative

    ```mlir
    %slots, %offsets = hybrid.route %i among 4 : tensor<2x8x2xi32> -> tensor<2x8x2xi32>, tensor<5xi32>
    ```

    Gale et al. 2022 (MegaBlocks), section 3: without a capacity no token is dropped.
  }];
  let arguments = (ins Hybrid_IntTensor:$choices, I64Attr:$experts, DefaultValuedAttr<F64Attr, "0.0">:$capacity_factor);
  let results = (outs Hybrid_IntTensor:$slots, Hybrid_IntTensor:$offsets);
  let assemblyFormat = "$choices `among` $experts attr-dict `:` type($choices) `->` type($slots) `,` type($offsets)";
  let hasVerifier = 1;
}

def Hybrid_DispatchOp : Hybrid_PureOp<"dispatch", [DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "rows in expert order";
  let description = [{
    Row `slots[p]` of the result is row p of x, where p counts the leading dimensions (all but the last of x) in row-major order. `slots` is a
    permutation, as `route` makes it. The inverse and the adjoint of `collect`.

    - C1: slots has the leading dimensions of x

    ```mlir
    %s = hybrid.dispatch %x by %slots : tensor<2x8x2x16xf32>, tensor<2x8x2xi32> -> tensor<2x8x2x16xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_IntTensor:$slots);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `by` $slots attr-dict `:` type($x) `,` type($slots) `->` type($result)";
}

def Hybrid_CollectOp : Hybrid_PureOp<"collect", [DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "rows back from expert order";
  let description = [{
    Row p of the result is row `slots[p]` of x. The inverse and the adjoint of `dispatch`.

    - C1: slots has the leading dimensions of x

    ```mlir
    %y = hybrid.collect %s by %slots : tensor<2x8x2x16xf32>, tensor<2x8x2xi32> -> tensor<2x8x2x16xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_IntTensor:$slots);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `by` $slots attr-dict `:` type($x) `,` type($slots) `->` type($result)";
}

def Hybrid_GroupedLinearOp : Hybrid_PureOp<"grouped_linear", [DeclareOpInterfaceMethods<DifferentiableOp>,
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
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_FloatTensor:$weight, Hybrid_IntTensor:$offsets, UnitAttr:$transposed);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `,` $weight `,` $offsets attr-dict `:` type($x) `,` type($weight) `,` type($offsets) `->` type($result)";
  let hasVerifier = 1;
}

def Hybrid_GroupedLinearGradOp : Hybrid_PureOp<"grouped_linear_grad", [DeclareOpInterfaceMethods<CostOp>]> {
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
#endif
