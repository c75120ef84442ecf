//===- SendState.td - a state for the next part of a sequence *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_SendStateOp : Hybrid_Op<"send_state", [Hybrid_Differentiable]> {
  let summary = "give a state to the rank with a neighbouring part of the sequence";
  let description = [{
    Of the N ranks that have the parts of one sequence, in their order, each gives `state` to the `next` (the `previous`) one, which takes it by a
    `hybrid.receive_state`; the last (the first) gives it to nobody. Between two ranks sends and receives are paired in the order of the program, which is the same on all of them.
    The gradient of a state that is sent comes back from where it went.

    - C1: there are at least 2 ranks

    ```mlir
    hybrid.send_state %h to next of 4 : tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$state, Hybrid_NeighbourAttr:$neighbour, I64Attr:$ranks);
  let assemblyFormat = "$state `to` `` $neighbour `of` $ranks attr-dict `:` type($state)";
  let hasVerifier = 1;
}

def Hybrid_ReceiveStateOp : Hybrid_Op<"receive_state", [Hybrid_Differentiable]> {
  let summary = "take the state that the rank with a neighbouring part of the sequence gives";
  let description = [{
    What the `previous` (the `next`) rank has sent by a `hybrid.send_state`; zeros on the first (the last) rank, which is where a sequence starts from. It waits for that.

    - C1: there are at least 2 ranks

    ```mlir
    %h = hybrid.receive_state from previous of 4 : tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_NeighbourAttr:$neighbour, I64Attr:$ranks);
  let results = (outs Hybrid_FloatTensor:$state);
  let assemblyFormat = "`from` `` $neighbour `of` $ranks attr-dict `:` type($state)";
  let hasVerifier = 1;
}
