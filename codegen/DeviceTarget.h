//===- DeviceTarget.h - what `--target` asks for ----------------------------===//
#pragma once
#include "codegen/Code.h"
#include "codegen/RankOptions.h"
#include "codegen/ScheduleStage.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <memory>

namespace hybrid {

/// What an executable says it needs: see Target in Executable.fbs.
struct ExecutableTarget {
  std::string device, cpu;
  std::vector<std::string> features;
};

class DeviceTarget {
public:
  virtual ~DeviceTarget() = default;

  /// "x86-64-v4", "sm_90a, compute_90".
  virtual std::string name() const = 0;
  /// Whether it multiplies matrices of bf16.
  virtual bool hasBf16() const = 0;
  /// Rows at most of a product with weights of bf16 that it computes even without instructions for
  /// that; 0: none.
  virtual int64_t mostRowsOfBf16() const { return 0; }
  /// What `--precision=bf16` means on it, for people, and for programs that decode.
  virtual std::string describeBf16(bool decodes) const = 0;
  /// Who computes attention under `--precision=bf16`: own, cudnn or auto. False on a target that
  /// has no such choice.
  virtual bool chooseAttention(llvm::StringRef) { return false; }
  /// Who computes Fourier transforms: own, cufft or auto. False on a target that has no such
  /// choice.
  virtual bool chooseTransforms(llvm::StringRef) { return false; }
  /// Who multiplies matrices that are not rounded: cublaslt or auto. False on a target that has no
  /// such choice.
  virtual bool chooseProducts(llvm::StringRef) { return false; }
  /// Shared memory that a block of threads may have on all that it names; 0 where there is none.
  virtual int64_t sharedBytes() const { return 0; }
  /// Whether the gradient of channels that repeat an input can be summed where it is made.
  virtual bool sharesRepeats() const { return false; }
  /// Whether products of bf16 and the products of what they made are faster as one kernel.
  virtual bool chainsProducts() const { return false; }
  /// Whether a sum of products is faster as one product of operands that lie side by side.
  virtual bool joinsProducts() const { return false; }
  /// Positions and taps but one, together, beyond which a convolution becomes transforms and their
  /// product; `wide`: in f64.
  virtual int64_t longestConvolution(bool /*wide*/) const { return INT64_MAX; }
  /// What ranks do together. Returns what of it programs for the target cannot do, and what was
  /// expected, for people; empty where they can all of it.
  virtual std::string chooseRanks(const RankOptions &ranks) = 0;
  /// Adds the pass that cuts chains of rowwise ops into tiles of rows, on functions.
  virtual void addTiling(mlir::OpPassManager &manager) const = 0;
  /// The passes that make programs, in order. `rounded`: the program asked for bf16 products.
  virtual std::vector<ScheduleStage> scheduleStages(bool keepSpectra, bool rounded) const = 0;
  /// Adds them, up to the one called `last`.
  void addSchedule(mlir::OpPassManager &manager, bool keepSpectra, bool rounded,
                   llvm::StringRef last = "schedule") const;

  /// Stages of `--emit` behind the schedule, the last one the executable.
  virtual llvm::ArrayRef<llvm::StringRef> stages() const = 0;
  /// Code for a scheduled module up to one of stages(). Failure after a diagnostic. Consumes
  /// generated functions of the module. Call once.
  virtual mlir::FailureOr<Code> compile(mlir::ModuleOp module, llvm::StringRef stage) = 0;
  /// What the executable needs, once compiled.
  virtual ExecutableTarget describe() const = 0;
};

/// The target of `--target=NAME`: cpu, cpu:LEVEL, cuda, cuda:ARCHITECTURE,... Null for unknown
/// names; `complaint` then says what was expected.
std::unique_ptr<DeviceTarget> createTarget(llvm::StringRef name, std::string &complaint);

namespace cpu {
std::unique_ptr<DeviceTarget> createTarget(llvm::StringRef name, std::string &complaint);
}
namespace cuda {
std::unique_ptr<DeviceTarget> createTarget(llvm::StringRef names, std::string &complaint);
}

} // namespace hybrid
