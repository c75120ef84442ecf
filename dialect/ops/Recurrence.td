//===- Recurrence.td - a step of the model's own, position by position *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RecurrenceOp : Hybrid_PureOp<"recurrence", [AttrSizedOperandSegments, SingleBlock, IsolatedFromAbove, Hybrid_Differentiable,
    Hybrid_Cost, Hybrid_Stateful, ResumableOp, DeclareOpInterfaceMethods<BodyOp, ["getBodyArgumentTypes", "getBodyResultTypes"]>, Hybrid_Positions]> {
  let summary = "a step of the model's own, position by position";
  let description = [{
    `(h_t, y_t) = step(h_{t-1}, x_t, w)`: the body is the step of one sequence. Its arguments are the states before position t, what the `inputs` hold there,
    and the `invariants` as they are; it yields the states behind t and the result there, which is `result[:, t]`. It may be nonlinear in all of them.

    States are zero before position 0, or `initial_state`: all of them as one row a sequence, one behind the other, each in row-major order. With
    `segments` they are zero again wherever the id changes; the initial state belongs to the segment of position 0. `final_state` (with the unit attribute
    `return_state`) are the states behind the last position.

    - C1: there is an input, and inputs are [B, L, ...]
    - C2: the body takes the states, a position of each input, and the invariants
    - C3: the body yields the states, of the types in which it takes them, and the result of a position
    - C4: the body holds elementwise ops, products, reductions and what moves elements, all of known sizes
    - C5: segments is [B, L]
    - C6: initial_state is [B, N], N being the elements of all states

    ```mlir
    %y = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) invariants(%w : tensor<4x4xf32>) -> tensor<2x8x4xf32> step {
    ^bb0(%h: tensor<4xf32>, %xt: tensor<4xf32>, %u: tensor<4x4xf32>):
      %p = hybrid.linear %h, %u : tensor<4xf32>, tensor<4x4xf32> -> tensor<4xf32>
      %s = hybrid.binary add %p, %xt : tensor<4xf32>, tensor<4xf32>
      %n = hybrid.unary tanh %s : tensor<4xf32>
      hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
    }
    ```

    Elman 1990; the gradient is backpropagation through time (Werbos 1990) with kept states (Chen et al. 2016, section 4).
  }];
  let arguments = (ins Variadic<Hybrid_FloatTensor>:$inputs, Variadic<Hybrid_FloatTensor>:$invariants, Optional<Hybrid_IntTensor>:$segments,
                       Optional<Hybrid_FloatTensor>:$initial_state, UnitAttr:$return_state);
  let results = (outs Hybrid_FloatTensor:$result, Optional<Hybrid_FloatTensor>:$final_state);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{ `inputs` `(` $inputs `:` type($inputs) `)` oilist(`invariants` `(` $invariants `:` type($invariants) `)` |
    `segments` `(` $segments `:` type($segments) `)` | `initial_state` `(` $initial_state `:` type($initial_state) `)`)
    attr-dict `->` type(results) `step` $body }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many states the step has.
    size_t getStateCount() { return getBody().getNumArguments() - getInputs().size() - getInvariants().size(); }
  }];
}

def Hybrid_RecurrenceGradOp : Hybrid_PureOp<"recurrence_grad", [AttrSizedOperandSegments, IsolatedFromAbove, Hybrid_Cost,
    DeclareOpInterfaceMethods<BodyOp, ["getBodyArgumentTypes", "getBodyResultTypes"]>]> {
  let summary = "the step of a recurrence backwards, position by position";
  let description = [{
    Runs `hybrid.recurrence` again for the states before every position, then the region `gradient` from the last position to the first. Its
    arguments are those of `step` and the gradients of what the step yields, of the states behind t and of the result there (`cotangent`); it yields the gradients
    of the states before t, then values of the position: the first of them become results [B, L, ...], the last `sums` of them are summed over positions and
    sequences. The gradient of the states is `state_cotangent` or zero behind the last position, and the last result before the first one where there is an initial state.
    Where all states are many, those of every √L-th position are kept and the others computed twice.

    - C1: there is an input, and inputs are [B, L, ...]
    - C2: step takes the states, a position of each input, and the invariants
    - C3: step yields the states and the result of a position
    - C4: both regions hold elementwise ops, products, reductions and what moves elements, all of known sizes
    - C5: segments is [B, L]
    - C6: initial_state and state_cotangent are [B, N], N being the elements of all states
    - C7: cotangent is [B, L, ...] of the result of a position
    - C8: gradient takes what step takes and yields, and yields the gradients of the states and at least `sums` values more

    ```mlir
    %dx = hybrid.recurrence_grad %dy inputs(%x : tensor<2x8x4xf32>) sums 0 : tensor<2x8x4xf32> -> tensor<2x8x4xf32> step {
    ^bb0(%h: tensor<4xf32>, %xt: tensor<4xf32>):
      %n = hybrid.binary add %h, %xt : tensor<4xf32>, tensor<4xf32>
      hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
    } gradient {
    ^bb0(%h: tensor<4xf32>, %xt: tensor<4xf32>, %dn: tensor<4xf32>, %dyt: tensor<4xf32>):
      %d = hybrid.binary add %dn, %dyt : tensor<4xf32>, tensor<4xf32>
      hybrid.yield %d, %d : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$cotangent, Variadic<Hybrid_FloatTensor>:$inputs, Variadic<Hybrid_FloatTensor>:$invariants,
                       Optional<Hybrid_IntTensor>:$segments, Optional<Hybrid_FloatTensor>:$initial_state, Optional<Hybrid_FloatTensor>:$state_cotangent,
                       I64Attr:$sums);
  let results = (outs Variadic<Hybrid_FloatTensor>:$gradients);
  let regions = (region SizedRegion<1>:$step, SizedRegion<1>:$gradient);
  let assemblyFormat = [{ $cotangent `inputs` `(` $inputs `:` type($inputs) `)` oilist(`invariants` `(` $invariants `:` type($invariants) `)` |
    `segments` `(` $segments `:` type($segments) `)` | `initial_state` `(` $initial_state `:` type($initial_state) `)` |
    `state_cotangent` `(` $state_cotangent `:` type($state_cotangent) `)`) `sums` $sums attr-dict `:` type($cotangent) `->` type($gradients)
    `step` $step `gradient` $gradient }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    size_t getStateCount() { return getStep().getNumArguments() - getInputs().size() - getInvariants().size(); }
    /// Of the results, those that run along the sequence.
    size_t getRowCount() { return getGradient().front().getTerminator()->getNumOperands() - getStateCount() - static_cast<size_t>(getSums()); }
  }];
}
