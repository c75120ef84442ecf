//===- Schedule.cpp - the passes that make programs for the CPU -------------===//
#include "codegen/program/Schedule.h"
#include "codegen/cpu/CodegenCpu.h"
#include "codegen/cpu/CpuBackend.h"
#include "codegen/cpu/LoopEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/SchedulePasses.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_LOWERTOSCHEDULECPU
#define GEN_PASS_DEF_EMITKERNELSCPU
#include "codegen/cpu/Passes.h.inc"

namespace {

struct LowerToScheduleCpu : impl::LowerToScheduleCpuBase<LowerToScheduleCpu> {
  using LowerToScheduleCpuBase::LowerToScheduleCpuBase;
  void runOnOperation() override {
    if (failed(lowerToSchedule(getOperation(), cpu::CpuBackend(rounds),
                               {keepSpectra, shardOptimizer})))
      signalPassFailure();
  }
};

struct EmitKernelsCpu : impl::EmitKernelsCpuBase<EmitKernelsCpu> {
  using EmitKernelsCpuBase::EmitKernelsCpuBase;
  void runOnOperation() override { emitKernels(getOperation(), cpu::LoopEmitter()); }
};

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<bool> keepSpectra{*this, "keep-spectra", llvm::cl::init(true)};
  Option<bool> rounds{*this, "rounds", llvm::cl::init(false)};
};

} // namespace

std::vector<ScheduleStage> cpu::scheduleStages(LowerToScheduleCpuOptions options,
                                               const RankOptions &ranks) {
  using Shards = RankOptions::Shards;
  options.shardOptimizer = ranks.shards != Shards::None;
  std::vector<ScheduleStage> stages{
      {"lower-ops", [=](OpPassManager &m) { m.addPass(createLowerToScheduleCpu(options)); }}};
  if (options.shardOptimizer)
    stages.push_back(
        {"shard-optimizer", [](OpPassManager &m) { m.addPass(createShardOptimizer()); }});
  if (ranks.shards == Shards::Parameters)
    stages.push_back(
        {"gather-parameters", [](OpPassManager &m) { m.addPass(createGatherParameters()); }});
  if (options.rounds)
    stages.push_back({"round-buffers",
                      [](OpPassManager &m) { m.addNestedPass<ProgramOp>(createRoundBuffers()); }});
  stages.push_back({"emit-kernels", [](OpPassManager &m) { m.addPass(createEmitKernelsCpu()); }});
  stages.push_back(
      {"plan-tiles", [](OpPassManager &m) { m.addNestedPass<ProgramOp>(createPlanTiles()); }});
  if (ranks.areSeveral())
    stages.push_back({"reduce-gradients", [=](OpPassManager &m) {
                        ReduceGradientsOptions options;
                        options.wire = ranks.wire;
                        options.weighted = ranks.weighted;
                        m.addNestedPass<ProgramOp>(createReduceGradients(options));
                      }});
  stages.push_back(
      {"schedule", [](OpPassManager &m) { m.addNestedPass<ProgramOp>(createPlanArena()); }});
  return stages;
}

void cpu::registerPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "hybrid-schedule-cpu", "all passes that make a schedule for the CPU",
      [](OpPassManager &manager, const PipelineOptions &options) {
        for (const ScheduleStage &stage :
             scheduleStages({.keepSpectra = options.keepSpectra, .rounds = options.rounds}))
          stage.add(manager);
      });
}

} // namespace hybrid
