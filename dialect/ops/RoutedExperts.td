//===- RoutedExperts.td - a mixture of experts ------------------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RoutedExpertsOp : Hybrid_Op<"routed_experts", [Pure, SingleBlock, Hybrid_OneFloatType, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<BodyOp, ["getBodyArgumentTypes"]>, DeclareOpInterfaceMethods<PositionsOp, ["getBodyRows", "getBodyStates"]>,
    DeclareOpInterfaceMethods<CostOp, ["getBytesMoved", "getActiveElements"]>]> {
  let summary = "the weighted sum of what each token's experts make of it";
  let description = [{
    `result[t] = Σ_j weights[t, j] expert_e(x)[t]` with `e = choices[t, j]`, t the leading dimensions of x (all but the last). The body is one expert: its
    first argument is x, each further one is the expert's own part of a tensor of `own`, which has the experts as first dimension. Values from
    outside are the same for all experts. Choices that are no expert add nothing; with `capacity_factor` f > 0 an expert takes its first
    ceil(f · choices / experts) choices, and the others add nothing either.

    `hybrid-expand-experts` makes `route`, `dispatch`, `grouped_linear` and `collect` of it: where the body looks at one row of x at a time, with own tensors as
    weights and biases of `linear` and as vectors of elementwise ops, an expert computes the rows that chose it and no other. A body that mixes positions is run whole for every
    expert, since a token may read any of them: then there is no capacity.

    - C1: x is [..., channels]
    - C2: choices has the leading dimensions of x and one more
    - C3: weights has the shape of choices
    - C4: experts is at least 1, and the first dimension of all own tensors
    - C5: the body takes x and a part of each own tensor
    - C6: the body yields one value, with the leading dimensions of x
    - C7: capacity_factor is not negative

    ```mlir
    %y = hybrid.routed_experts %x to %choices weighted %weights own(%up, %down : tensor<4x16x8xf32>, tensor<4x8x16xf32>) among 4 : tensor<2x8x8xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x8xf32> {
    ^bb0(%e: tensor<2x8x8xf32>, %w1: tensor<16x8xf32>, %w2: tensor<8x16xf32>):
      %h = hybrid.linear %e, %w1 : tensor<2x8x8xf32>, tensor<16x8xf32> -> tensor<2x8x16xf32>
      %a = hybrid.unary silu %h : tensor<2x8x16xf32>
      %z = hybrid.linear %a, %w2 : tensor<2x8x16xf32>, tensor<8x16xf32> -> tensor<2x8x8xf32>
      hybrid.yield %z : tensor<2x8x8xf32>
    }
    ```

    Shazeer et al. 2017, section 2; Poli et al. 2024 (MAD), section 3.3.
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, Hybrid_IntTensor:$choices, Hybrid_FloatTensor:$weights, Variadic<Hybrid_FloatTensor>:$own,
                       I64Attr:$experts, DefaultValuedAttr<F64Attr, "0.0">:$capacity_factor);
  let results = (outs Hybrid_FloatTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{ $x `to` $choices `weighted` $weights (`own` `(` $own^ `:` type($own) `)`)? `among` $experts attr-dict
    `:` type($x) `,` type($choices) `,` type($weights) `->` type($result) $body }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// An op of the body that needs more of x than the rows an expert is chosen for, or of an own tensor than a product takes; null when an
    /// expert can be computed sparsely.
    ::mlir::Operation *findDenseOp();
  }];
}
