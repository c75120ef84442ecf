//===- DeviceTarget.cpp - what `--target` asks for --------------------------===//
#include "codegen/DeviceTarget.h"

void hybrid::DeviceTarget::addSchedule(mlir::OpPassManager &manager, bool keepSpectra, bool rounded,
                                       llvm::StringRef last) const {
  for (const ScheduleStage &stage : scheduleStages(keepSpectra, rounded)) {
    stage.add(manager);
    if (stage.name == last)
      return;
  }
}

std::unique_ptr<hybrid::DeviceTarget> hybrid::createTarget(llvm::StringRef name,
                                                           std::string &complaint) {
  auto [device, variant] = name.split(':');
  if (device == "cpu")
    return cpu::createTarget(variant, complaint);
  if (device == "cuda")
    return cuda::createTarget(variant, complaint);
  complaint = "there is no such device: expected cpu, cpu:x86-64-v2, cpu:x86-64-v3, cpu:x86-64-v4, "
              "cpu:x86-64-v4+bf16, cuda, or cuda: with a list such as sm_80,sm_90a";
  return nullptr;
}
