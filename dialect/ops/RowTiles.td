//===- RowTiles.td - ops that run tile of rows by tile of rows *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RowTilesOp : Hybrid_Op<"row_tiles", [Pure, SingleBlock, IsolatedFromAbove, BodyOp]> {
  let summary = "ops that run together, tile of rows by tile of rows";
  let description = [{
    The body's arguments are the operands, its `hybrid.yield` names the results. `tile` of the `rows` positions go through the whole body while they are
    in cache; values that only the body uses exist for one tile at a time. Tiles are spread over threads, or follow one another (`sequential`) with
    the threads inside each op, which lets ops accumulate over rows. Made by `hybrid-tile-rows` and `hybrid-fuse-loss`.

    - C1: the body's arguments have the operands' types
    - C2: the body yields values of the result types
    - C3: the body holds ops that work on `rows` rows, and constants
    - C4: tile is at least 1 and at most `rows`
    - C5: inside the body, what is summed over rows is not used again, and only `sequential` tiles accumulate

    ```mlir
    %y = hybrid.row_tiles(%x, %w) rows 16 tile 8 : (tensor<2x8x4xf32>, tensor<4x4xf32>) -> tensor<2x8x4xf32> {
    ^bb0(%a: tensor<2x8x4xf32>, %b: tensor<4x4xf32>):
      %n = hybrid.rmsnorm %a : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
      %l = hybrid.linear %n, %b : tensor<2x8x4xf32>, tensor<4x4xf32> -> tensor<2x8x4xf32>
      hybrid.yield %l : tensor<2x8x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Hybrid_ProductOperand, Hybrid_IntTensor]>>:$operands_, I64Attr:$rows, I64Attr:$tile, UnitAttr:$sequential);
  let results = (outs Variadic<Hybrid_ProductOperand>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $operands_ `)` `rows` $rows `tile` $tile (`sequential` $sequential^)? attr-dict `:` functional-type($operands_, $results_) $body";
  let hasVerifier = 1;
}
