//===- AllToAll.td - parts of a sequence for parts of its heads *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_AllToAllOp : Hybrid_PureOp<"all_to_all", [Hybrid_Differentiable]> {
  let summary = "give every rank a part of x, and take one from each";
  let description = [{
    The N ranks that have the parts of one sequence give each other the rows of x: [N, ...], row s is for rank s. Row s of the result is what rank s has
    given to this one: its row r, on rank r. It is its own adjoint.

    Who has some positions of all heads gets all positions of some heads by it, and back: `hybrid-split-sequence`.

    - C1: x has a first dimension, of at least 2 ranks

    ```mlir
    %y = hybrid.all_to_all %x : tensor<4x2x8xf32>
    ```

    Jacobs et al. 2023 (DeepSpeed-Ulysses), section 3.
  }];
  let arguments = (ins Hybrid_Tensor:$x);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
