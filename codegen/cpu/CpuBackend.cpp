//===- CpuBackend.cpp - what programs are made of on the CPU ----------------===//
#include "codegen/cpu/CpuBackend.h"

using namespace mlir;

namespace hybrid::cpu {

KernelName CpuBackend::kernel(StringRef name, Type element, const KernelConstants &constants,
                              ArrayRef<std::string>) const {
  return {("hybrid_" + name + (element.isF64() ? "_f64" : "_f32")).str(), constants.words};
}

} // namespace hybrid::cpu
