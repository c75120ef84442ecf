//===- Schedule.cpp - the pass that makes programs for CUDA -----------------===//
#include "codegen/program/Schedule.h"
#include "codegen/cuda/CodegenCuda.h"
#include "codegen/cuda/CudaBackend.h"

namespace hybrid {
#define GEN_PASS_DEF_SCHEDULECUDA
#include "codegen/cuda/Passes.h.inc"
} // namespace hybrid

namespace {
struct ScheduleCuda : hybrid::impl::ScheduleCudaBase<ScheduleCuda> {
  using ScheduleCudaBase::ScheduleCudaBase;
  void runOnOperation() override {
    auto by = hybrid::cuda::attentionByName(attention);
    if (!by) {
      getOperation().emitError() << "attention=" << attention << ": expected own, cudnn or auto";
      return signalPassFailure();
    }
    hybrid::cuda::CudaBackend backend(
        {.sharedBytes = sharedBytes, .rounds = rounds, .attention = *by, .widestHead = widestHead});
    if (failed(hybrid::schedulePrograms(getOperation(), backend, keepSpectra)))
      signalPassFailure();
  }
};
} // namespace
