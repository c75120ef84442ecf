//===- Schedule.cpp - the pass that makes programs for the CPU --------------===//
#include "codegen/program/Schedule.h"
#include "codegen/cpu/CodegenCpu.h"
#include "codegen/cpu/CpuBackend.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace hybrid {
#define GEN_PASS_DEF_SCHEDULECPU
#include "codegen/cpu/Passes.h.inc"
} // namespace hybrid

namespace {
struct ScheduleCpu : hybrid::impl::ScheduleCpuBase<ScheduleCpu> {
  using ScheduleCpuBase::ScheduleCpuBase;
  void runOnOperation() override {
    if (failed(hybrid::schedulePrograms(getOperation(), hybrid::cpu::CpuBackend(), keepSpectra)))
      signalPassFailure();
  }
};
} // namespace
