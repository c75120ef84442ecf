//===- RankPlace.td - which part of the sequence this rank has *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RankPlaceOp : Hybrid_Op<"rank_place", [Pure]> {
  let summary = "which part of the sequence this rank has";
  let description = [{
    The number of this rank, from 0, among the `ranks` that have the parts of one sequence. An id, to choose by it this rank's part of what is the same on all
    of them: a table of positions, the filters of some channels.

    - C1: there are at least 2 ranks

    ```mlir
    %place = hybrid.rank_place of 4 : tensor<1xi32>
    %part = hybrid.embedding %table, %place : tensor<4x32xf32>, tensor<1xi32> -> tensor<1x32xf32>
    ```
  }];
  let arguments = (ins I64Attr:$ranks);
  let results = (outs Hybrid_IntTensor:$result);
  let assemblyFormat = "`of` $ranks attr-dict `:` type($result)";
  let hasVerifier = 1;
}
