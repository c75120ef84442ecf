//===- CpuBackend.h - what programs are made of on the CPU ------------------===//
#pragma once
#include "codegen/program/Backend.h"

namespace hybrid::cpu {

/// Kernels are bitcode functions over a range of work items.
class CpuBackend final : public Backend {
public:
  /// `rounds`: what the schedule's passes round to bf16, kernels of the library take so.
  explicit CpuBackend(bool rounds) : Backend({.rounds = rounds}) {}

  KernelName kernel(llvm::StringRef name, mlir::Type element, const KernelConstants &constants,
                    llvm::ArrayRef<std::string> functions) const override;
  int64_t itemsOfSums() const override { return 64; }
  bool sumsInParts(int64_t) const override { return true; }
  std::string storeFunctor(const View &) const override { return {}; }
};

} // namespace hybrid::cpu
