//===- Schedule.cpp - the passes that make programs for CUDA ----------------===//
#include "codegen/program/Schedule.h"
#include "codegen/cuda/CodegenCuda.h"
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/TextEmitter.h"
#include "passes/schedule/SchedulePasses.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_LOWERTOSCHEDULECUDA
#define GEN_PASS_DEF_EMITKERNELSCUDA
#include "codegen/cuda/Passes.h.inc"

namespace {

struct LowerToScheduleCuda : impl::LowerToScheduleCudaBase<LowerToScheduleCuda> {
  using LowerToScheduleCudaBase::LowerToScheduleCudaBase;
  void runOnOperation() override {
    auto by = cuda::attentionByName(attention);
    if (!by) {
      getOperation().emitError() << "attention=" << attention << ": expected own, cudnn or auto";
      return signalPassFailure();
    }
    auto transformed = cuda::transformsByName(transforms);
    if (!transformed) {
      getOperation().emitError() << "transforms=" << transforms << ": expected own, cufft or auto";
      return signalPassFailure();
    }
    auto multiplied = cuda::productsByName(products);
    if (!multiplied) {
      getOperation().emitError() << "products=" << products << ": expected cublaslt or auto";
      return signalPassFailure();
    }
    cuda::CudaBackend backend({.sharedBytes = sharedBytes,
                               .rounds = rounds,
                               .attention = *by,
                               .widestHead = widestHead,
                               .transforms = *transformed,
                               .products = *multiplied});
    if (failed(lowerToSchedule(getOperation(), backend, {keepSpectra})))
      signalPassFailure();
  }
};

struct EmitKernelsCuda : impl::EmitKernelsCudaBase<EmitKernelsCuda> {
  using EmitKernelsCudaBase::EmitKernelsCudaBase;
  void runOnOperation() override { emitKernels(getOperation(), cuda::TextEmitter()); }
};

/// Those of hybrid-lower-cuda.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  LowerToScheduleCudaOptions defaults;
  Option<bool> keepSpectra{*this, "keep-spectra", llvm::cl::init(defaults.keepSpectra)};
  Option<int64_t> sharedBytes{*this, "shared-bytes", llvm::cl::init(defaults.sharedBytes)};
  Option<bool> rounds{*this, "rounds", llvm::cl::init(defaults.rounds)};
  Option<std::string> attention{*this, "attention", llvm::cl::init(defaults.attention)};
  Option<int64_t> widestHead{*this, "widest-head", llvm::cl::init(defaults.widestHead)};
  Option<std::string> transforms{*this, "transforms", llvm::cl::init(defaults.transforms)};
  Option<std::string> products{*this, "products", llvm::cl::init(defaults.products)};
};

template <typename Create> std::function<void(OpPassManager &)> onPrograms(Create create) {
  return [=](OpPassManager &manager) { manager.addNestedPass<ProgramOp>(create()); };
}

} // namespace

std::vector<ScheduleStage> cuda::scheduleStages(const LowerToScheduleCudaOptions &options,
                                                const RankOptions &ranks) {
  std::vector<ScheduleStage> stages{
      {"lower-ops", [=](OpPassManager &m) { m.addPass(createLowerToScheduleCuda(options)); }},
      {"fuse-stores", onPrograms([] { return createFuseStores(); })},
      {"sum-products", onPrograms([] { return createSumProducts(); })},
      {"join-gradients", onPrograms([] { return createJoinGradients(); })},
      {"fuse-reductions", onPrograms([] { return createFuseReductions(); })}};
  if (options.rounds) {
    stages.push_back({"fuse-rows", onPrograms([] { return createFuseRows(); })});
    stages.push_back({"round-buffers", onPrograms([] { return createRoundBuffers(); })});
  }
  if (ranks.areSeveral())
    stages.push_back(
        {"weigh-ranks", onPrograms([=] { return createWeighRanks({ranks.weighted}); })});
  stages.push_back({"emit-kernels", [](OpPassManager &m) { m.addPass(createEmitKernelsCuda()); }});
  stages.push_back({"merge-launches", [](OpPassManager &m) { m.addPass(createMergeLaunches()); }});
  stages.push_back({"chain-launches", [](OpPassManager &m) { m.addPass(createChainLaunches()); }});
  stages.push_back({"plan-tiles", onPrograms([] { return createPlanTiles(); })});
  if (ranks.areSeveral())
    stages.push_back({"reduce-gradients", onPrograms([=] {
                        ReduceGradientsOptions reduction;
                        reduction.weighted = ranks.weighted;
                        return createReduceGradients(reduction);
                      })});
  // What runs at the same time takes more memory; so do spectra that are kept.
  if (options.keepSpectra)
    stages.push_back({"assign-branches", onPrograms([] { return createAssignBranches(); })});
  stages.push_back({"schedule", onPrograms([] { return createPlanArena(); })});
  return stages;
}

void cuda::registerPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "hybrid-schedule-cuda", "all passes that make a schedule for CUDA",
      [](OpPassManager &manager, const PipelineOptions &options) {
        for (const ScheduleStage &stage : scheduleStages(
                 {options.keepSpectra, options.sharedBytes, options.rounds, options.attention,
                  options.widestHead, options.transforms, options.products}))
          stage.add(manager);
      });
}

} // namespace hybrid
