//===- MergedKernels.h - kernels that run what several launches did ---------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace hybrid::cuda {

/// Of the merged launch; an executable allows 64.
constexpr size_t mostMergedBuffers = 60;

/// Makes one launch of several, each of as many threads a block. Equal kernels of a module are one.
class MergedKernels {
public:
  explicit MergedKernels(mlir::ModuleOp module);

  /// Blocks side by side in one grid: a block finds its own by its number. The launch is where the
  /// first of the group was; the group is erased.
  LaunchOp sideBySide(llvm::ArrayRef<LaunchOp> group);

  /// One block that does what the blocks of all did, in order, with barriers where a launch needs
  /// what one before it wrote. The launch is where the last of the group was; the group is erased.
  LaunchOp oneAfterAnother(llvm::ArrayRef<LaunchOp> group);

private:
  class Text;
  LaunchOp finish(llvm::ArrayRef<LaunchOp> group, LaunchOp place, const Text &text,
                  const std::string &body, int64_t grid, llvm::StringRef how);
  std::string add(const std::string &text, llvm::ArrayRef<llvm::StringRef> called);

  mlir::ModuleOp module;
  llvm::StringMap<std::string> kernels; // text -> symbol
  size_t sources;                       // of kernels in the module
};

} // namespace hybrid::cuda
