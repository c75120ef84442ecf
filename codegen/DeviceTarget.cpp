//===- DeviceTarget.cpp - what `--target` asks for --------------------------===//
#include "codegen/DeviceTarget.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

std::unique_ptr<hybrid::DeviceTarget> hybrid::createTarget(Location loc, StringRef name) {
  auto [device, variant] = name.split(':');
  if (device == "cpu")
    return cpu::createTarget(loc, variant);
  if (device == "cuda")
    return cuda::createTarget(loc, variant);
  emitError(loc) << "--target=" << name
                 << " is not known: expected cpu, cpu:x86-64-v2, cpu:x86-64-v3, cpu:x86-64-v4, "
                    "cpu:x86-64-v4+bf16, cuda, or cuda: with a list such as sm_80,sm_90a";
  return nullptr;
}
