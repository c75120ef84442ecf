//===- DeviceTarget.cpp - the CPU as a target -------------------------------===//
#include "codegen/DeviceTarget.h"
#include "codegen/cpu/CodegenCpu.h"
#include "codegen/kernels/FewRows.h"
#include "dialect/schedule/ScheduleOps.h"
#include "passes/Passes.h"

using namespace mlir;

namespace hybrid::cpu {
namespace {

class CpuDeviceTarget final : public DeviceTarget {
public:
  explicit CpuDeviceTarget(CpuTarget target) : target(std::move(target)) {}

  std::string name() const override { return target.architecture; }
  bool hasBf16() const override { return target.hasBf16; }
  int64_t mostRowsOfBf16() const override { return mostFewRows; }
  std::string describeBf16(bool decodes) const override {
    if (target.hasBf16)
      return "matrix products multiply bf16 and sum f32 (needs avx512_bf16), activations between "
             "kernels are bf16; all else is f32";
    return target.architecture +
           (target.tune == target.architecture ? "" : " (" + target.tune + ")") +
           " has no bf16 instructions (avx512_bf16), so matrix products stay f32" +
           (decodes ? ", but a step multiplies by weights of bf16" : "");
  }
  std::string chooseRanks(const RankOptions &chosen) override {
    ranks = chosen;
    return "";
  }
  void addTiling(OpPassManager &manager) const override {
    manager.addNestedPass<func::FuncOp>(createTileRows());
  }
  std::vector<ScheduleStage> scheduleStages(bool keepSpectra, bool rounded) const override {
    return cpu::scheduleStages({.keepSpectra = keepSpectra, .rounds = rounded && target.hasBf16},
                               ranks);
  }
  ArrayRef<StringRef> stages() const override {
    static const StringRef names[] = {"llvm", "asm", "exe"};
    return names;
  }
  FailureOr<Code> compile(ModuleOp module, StringRef stage) override {
    // Asked of the programs, not of the options: a schedule may have been read from a file.
    WalkResult rounded = module.walk([](Operation *op) {
      auto product = dyn_cast<LibraryMatmulOp>(op);
      auto launch = dyn_cast<LaunchOp>(op);
      return (product && product.getElementType().isBF16()) ||
                     (launch && !launch.getRounded().empty())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (rounded.wasInterrupted() && !target.hasBf16)
      return module.emitError() << "the programs compute with bf16, but " << target.architecture
                                << " has no such instructions: compile for cpu:x86-64-v4+bf16";
    if (rounded.wasInterrupted())
      target.useBf16();
    return compileKernels(module, target,
                          stage == "llvm"  ? CodeStage::LLVM
                          : stage == "asm" ? CodeStage::Assembly
                                           : CodeStage::SharedObject);
  }
  ExecutableTarget describe() const override {
    return {"cpu", target.architecture, target.features};
  }

private:
  CpuTarget target;
  RankOptions ranks;
};

} // namespace

std::unique_ptr<DeviceTarget> createTarget(StringRef name, std::string &complaint) {
  std::optional<CpuTarget> target = resolveTarget(name, complaint);
  return target ? std::make_unique<CpuDeviceTarget>(std::move(*target)) : nullptr;
}

} // namespace hybrid::cpu
