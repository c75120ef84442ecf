//===- ProductChain.td - products of what products made ----*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_ProductChainOp : Hybrid_Op<"product_chain", [Pure, SingleBlock, IsolatedFromAbove, BodyOp]> {
  let summary = "products, a function of their elements, and products of that, as one kernel";
  let description = [{
    The body's arguments are the operands, its `hybrid.yield` names the results. It holds products of rows with weights, one
    `hybrid.fused` of all of them, `hybrid.round` of each of its results, products of the first of those with weights, and their sum, which is the first
    result; the others are rounded values. What lies between the products exists for some rows and columns at a time. Made by `hybrid-chain-products`.

    - C1: the body's arguments have the operands' types
    - C2: the body yields values of the result types
    - C3: the body holds those ops in that order; operands of `hybrid.fused` and what is rounded and multiplied are in the order in which they are made
    - C4: the first result is the sum of the last products, the others are results of `hybrid.round`

    ```mlir
    %y = hybrid.product_chain(%x, %w, %v) : (tensor<2x8x4xbf16>, tensor<16x4xbf16>, tensor<4x16xbf16>) -> tensor<2x8x4xf32> {
    ^bb0(%a: tensor<2x8x4xbf16>, %b: tensor<16x4xbf16>, %c: tensor<4x16xbf16>):
      %p = hybrid.linear %a, %b : tensor<2x8x4xbf16>, tensor<16x4xbf16> -> tensor<2x8x16xf32>
      %f = hybrid.fused(%p) : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
      ^bb0(%e: tensor<2x8x16xf32>):
        %s = hybrid.unary silu %e : tensor<2x8x16xf32>
        hybrid.yield %s : tensor<2x8x16xf32>
      }
      %r = hybrid.round %f : tensor<2x8x16xf32> -> tensor<2x8x16xbf16>
      %q = hybrid.linear %r, %c : tensor<2x8x16xbf16>, tensor<4x16xbf16> -> tensor<2x8x4xf32>
      hybrid.yield %q : tensor<2x8x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Hybrid_ProductOperand>:$operands_);
  let results = (outs Variadic<Hybrid_ProductOperand>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $operands_ `)` attr-dict `:` functional-type($operands_, $results_) $body";
  let hasVerifier = 1;
}
