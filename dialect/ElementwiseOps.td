//===- ElementwiseOps.td - elementwise functions and reductions -*- tablegen -*-===//
#ifndef HYBRID_ELEMENTWISE_OPS_TD
#define HYBRID_ELEMENTWISE_OPS_TD
include "dialect/HybridBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Hybrid_UnaryOp : Hybrid_PureOp<"unary", [Hybrid_FusableElementwise, DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "elementwise function of one tensor";
  let description = [{
    `silu(a) = a σ(a)`, `gelu` is the exact form with erf, `gelu_tanh` its tanh approximation, `softplus(a) = max(a,0) + log1p(exp(-|a|))`;
    `sign(0) = 0`; `elu(a) = a` for a > 0, else `expm1(a)`.

    ```mlir
    %y = hybrid.unary silu %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Hybrid_UnaryKindAttr:$kind, Hybrid_FloatTensor:$x);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "`` $kind $x attr-dict `:` type($x)";
  let hasFolder = 1;
}

def Hybrid_BinaryOp : Hybrid_PureOp<"binary", [Hybrid_FusableElementwise, DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "elementwise function of two tensors, with broadcasting";
  let description = [{
    Shapes are aligned at the last dimension; a missing dimension or one of size 1 is repeated. `equal` and `less` give 1 or 0 and have no gradient;
    `atan2` is the angle of the point (rhs, lhs) in (-π, π].

    - C1: the shapes broadcast

    ```mlir
    %y = hybrid.binary add %x, %bias : tensor<4x8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Hybrid_BinaryKindAttr:$kind, Hybrid_FloatTensor:$lhs, Hybrid_FloatTensor:$rhs);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "`` $kind $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let hasFolder = 1;
}

def Hybrid_RoundOp : Hybrid_Op<"round", [Pure, Hybrid_FusableElementwise, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "elementwise rounding to bf16";
  let description = [{
    The nearest bf16 value, ties to even. Made by `hybrid-round-products` for the operands of matrix products, after differentiation.

    - C1: x and the result have one shape

    ```mlir
    %r = hybrid.round %x : tensor<4x8xf32> -> tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$x);
  let results = (outs RankedTensorOf<[BF16]>:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Hybrid_ReduceOp : Hybrid_PureOp<"reduce", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowwise", "isRowResult"]>, DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "sum, mean or maximum over dimensions";
  let description = [{
    The `axes` are removed, or kept with size 1 (`keep`). The gradient of `max` goes to all maxima in equal shares.

    - C1: axes are ascending, distinct and within the rank

    ```mlir
    %y = hybrid.reduce mean %x over [0, 2] {keep} : tensor<4x8x3xf32> -> tensor<1x8x1xf32>
    ```
  }];
  let arguments = (ins Hybrid_ReduceKindAttr:$kind, Hybrid_FloatTensor:$x, DenseI64ArrayAttr:$axes, UnitAttr:$keep);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "`` $kind $x `over` $axes attr-dict `:` type($x) `->` type($result)";
}

def Hybrid_FusedOp : Hybrid_Op<"fused", [Pure, SingleBlock, IsolatedFromAbove, DeclareOpInterfaceMethods<RowwiseOp, ["isRowwise", "getRowCount", "isRowOperand"]>]> {
  let summary = "elementwise ops that run as one kernel";
  let description = [{
    The body's arguments are the operands, its `hybrid.yield` names the results; all values of the iteration shape are computed
    element by element without touching memory in between. Made by `hybrid-fuse-elementwise`.

    - C1: the body's arguments have the operands' types
    - C2: the body yields values of the result types
    - C3: the body holds elementwise ops and constants only
    - C4: there is a result, and all results have one shape

    ```mlir
    %y = hybrid.fused(%g, %u) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
      %s = hybrid.unary silu %a : tensor<4x8xf32>
      %p = hybrid.binary mul %s, %b : tensor<4x8xf32>, tensor<4x8xf32>
      hybrid.yield %p : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Hybrid_Tensor>:$operands_);
  let results = (outs Variadic<Hybrid_ProductOperand>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $operands_ `)` attr-dict `:` functional-type($operands_, $results_) $body";
  let hasVerifier = 1;
}

def Hybrid_RowTilesOp : Hybrid_Op<"row_tiles", [Pure, SingleBlock, IsolatedFromAbove]> {
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

def Hybrid_YieldOp : Hybrid_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["FusedOp", "RowTilesOp"]>]> {
  let summary = "results of a region";
  let description = "Ends the body of `hybrid.fused` or `hybrid.row_tiles`; operand i is its result i.";
  let arguments = (ins Variadic<Hybrid_ProductOperand>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}
#endif
