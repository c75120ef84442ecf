//===- Embedding.td - rows of a table chosen by token ids --*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_EmbeddingOp : Hybrid_PureOp<"embedding", [Hybrid_Differentiable, Hybrid_Indexing, Hybrid_SequenceAxis, DeclareOpInterfaceMethods<CostOp, ["getBytesMoved"]>]> {
  let summary = "rows of a table chosen by token ids";
  let description = [{
    `result[..., :] = table[ids[...], :]`. Ids outside the table make NaN rows.

    - C1: table is [classes, width]

    ```mlir
    %x = hybrid.embedding %table, %ids : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
    ```
  }];
  let language = (operator $table, $ids);
  let arguments = (ins Hybrid_FloatTensor:$table, Hybrid_IntTensor:$ids);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` type($table) `,` type($ids) `->` type($result)";
}

def Hybrid_EmbeddingGradOp : Hybrid_PureOp<"embedding_grad", [Hybrid_Cost]> {
  let summary = "gradient of embedding with respect to its table";
  let description = [{
    `result[v, :] = Σ cotangent[..., :]` over the positions whose id is v, added in row order; `result: [classes, width]`.

    - C1: cotangent is [the dimensions of ids..., width]
    - C2: classes is at least 1

    ```mlir
    %dtable = hybrid.embedding_grad %ids, %dx classes 16 : tensor<2x8xi32>, tensor<2x8x4xf32> -> tensor<16x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_IntTensor:$ids, Hybrid_FloatTensor:$cotangent, I64Attr:$classes);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$ids `,` $cotangent `classes` $classes attr-dict `:` type($ids) `,` type($cotangent) `->` type($result)";
  let hasVerifier = 1;
}
