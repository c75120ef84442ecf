//===- HybridDialect.td - the hybrid dialect --------------------*- tablegen -*-===//
#ifndef HYBRID_DIALECT_TD
#define HYBRID_DIALECT_TD
include "mlir/IR/OpBase.td"

def Hybrid_Dialect : Dialect {
  let name = "hybrid";
  let summary = "operators of hybrid sequence models";
  let description = [{
    Named tensor operators of sequence models (projections, norms, convolutions, scans, attention,
    losses) in one SSA graph of ranked tensors, ONNX-style. A model starts as one function `@forward`
    with free dimensions; passes bind them, derive gradients, fuse, and finally turn every function into a
    `schedule.program`: kernel launches, library calls and loops over tiles, over one arena.

    Arguments of a function carry `hybrid.name` (a string) and, while sizes are free, `hybrid.dims`: one entry a
    dimension, its size or the name of the free dimension ("B", "L"). Integers that name a place, as token ids do, have their range as `hybrid.ids`
    (`hybrid-bound-ids`). A module may carry `hybrid.published`, the terms of papers' FLOP
    counts that its layers note (`hybridc --cost --cost-method`): no pass reads it.
  }];
  let cppNamespace = "::hybrid";
  let useDefaultAttributePrinterParser = 1;
  let hasRegionArgAttrVerify = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::func::FuncDialect"];
}
#endif
