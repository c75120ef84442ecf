//===- Yield.td - results of a region ----------------------*- tablegen -*-===//
include "dialect/HybridBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Hybrid_YieldOp : Hybrid_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["FusedOp", "RowTilesOp"]>]> {
  let summary = "results of a region";
  let description = "Ends the body of `hybrid.fused` or `hybrid.row_tiles`; operand i is its result i.";
  let arguments = (ins Variadic<Hybrid_ProductOperand>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}
