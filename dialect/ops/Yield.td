//===- Yield.td - results of a body -----------------------------*- tablegen -*-===//
include "dialect/HybridBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Hybrid_YieldOp : Hybrid_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "results of a body";
  let description = [{
    Ends the body of an op that runs one, such as `hybrid.fused`; operand i is the op's result i.

    - C1: the op around it runs a body
  }];
  let arguments = (ins Variadic<Hybrid_ProductOperand>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let hasVerifier = 1;
}
