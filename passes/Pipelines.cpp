//===- Pipelines.cpp - the order of events ----------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace hybrid {

static void simplify(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void buildGraphPipeline(OpPassManager &manager, const CompileOptions &options, GraphStage stage) {
  if (stage == GraphStage::Hybrid)
    return;
  manager.addPass(createSpecialize({options.batch, options.length, options.precision}));
  const bool isShare = options.sequenceRanks > 1;
  if (isShare)
    manager.addPass(createSplitSequence({options.sequenceRanks}));
  if (options.chunked) // before experts become rows in another order
    manager.addPass(createCarryState());
  if (options.decode)
    manager.addPass(createCarryState({/*decode=*/true, options.prefill}));
  manager.addNestedPass<func::FuncOp>(createExpandExperts());
  simplify(manager);
  if (stage == GraphStage::Specialized)
    return;
  if (options.decode) { // before gates and row-wise ops take in what is the same at every token
    if (options.roundProducts || options.fewRows) // weights are rounded once
      manager.addNestedPass<func::FuncOp>(
          createRoundProducts({options.roundProducts ? 0 : options.fewRows}));
    manager.addPass(createPrepareDecoding());
  }
  if (options.longestConvolution != INT64_MAX)
    manager.addNestedPass<func::FuncOp>(createExpandLongConvolutions({options.longestConvolution}));
  if (options.fuse)
    manager.addNestedPass<func::FuncOp>(createFuseGates());
  if (!options.decode) // it is not trained
    manager.addPass(createAttachLoss({/*weightFirst=*/isShare}));
  manager.addNestedPass<func::FuncOp>(createBoundIds());
  if (!options.decode)
    manager.addPass(createDifferentiate({/*weighted=*/isShare}));
  manager.addNestedPass<func::FuncOp>(createLeaveOutDropout());
  simplify(manager);
  if (stage == GraphStage::Gradient)
    return;
  if (options.roundProducts && !options.decode)
    manager.addNestedPass<func::FuncOp>(createRoundProducts());
  if (!options.fuse)
    return;
  if (options.shareRepeats)
    manager.addNestedPass<func::FuncOp>(createShareRepeats());
  if (options.chainProducts && !options.decode)
    manager.addNestedPass<func::FuncOp>(createChainProducts());
  if (options.joinProducts)
    manager.addNestedPass<func::FuncOp>(createJoinProducts());
  manager.addNestedPass<func::FuncOp>(createFuseElementwise());
  manager.addPass(createCSEPass());
  if (stage == GraphStage::Fused)
    return;
  manager.addNestedPass<func::FuncOp>(createTileRows());
}

void registerPipelines() {
  PassPipelineRegistration<>(
      "hybrid-graph-pipeline", "all graph passes with batch 1, length 128, f32",
      [](OpPassManager &manager) { buildGraphPipeline(manager, {1, 128}, GraphStage::Tiled); });
}

} // namespace hybrid
