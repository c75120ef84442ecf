//===- CodegenCpu.h - from scheduled programs to machine code ---------------===//
#pragma once
#include "codegen/Code.h"
#include "codegen/RankOptions.h"
#include "codegen/ScheduleStage.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace hybrid {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/cpu/Passes.h.inc"

namespace cpu {

/// What the machine code is made for.
struct CpuTarget {
  std::string architecture;          // LLVM CPU name: x86-64-v2, x86-64-v3 or x86-64-v4
  std::string tune;                  // CPU whose timings are assumed
  std::vector<std::string> features; // features required, as /proc/cpuinfo spells them
  bool wideVectors = false;          // 512-bit vectors
  bool hasBf16 = false;              // the CPU multiplies bf16 and sums f32
  bool usesBf16 = false;             // the code needs that

  /// Makes the code need instructions for bf16.
  void useBf16() {
    usesBf16 = true;
    features.push_back("avx512_bf16");
  }
};

/// The target of `--target=cpu` (`name` empty: this machine) or `--target=cpu:NAME`. Nothing for
/// unknown names; `complaint` then says what was expected.
std::optional<CpuTarget> resolveTarget(llvm::StringRef name, std::string &complaint);

/// The passes from functions to a schedule.
std::vector<ScheduleStage> scheduleStages(LowerToScheduleCpuOptions options,
                                          const RankOptions &ranks = {});
/// Registers `hybrid-schedule-cpu`, all of them, for hybrid-opt.
void registerPipelines();

/// Where the compilation of kernels may stop.
enum class CodeStage { LLVM, Assembly, SharedObject };

/// Compiles all kernels that the programs of `module` launch: lowers the generated ones, links the
/// kernel library, specialises, optimises. Returns failure after a diagnostic. Consumes the
/// generated functions of the module.
mlir::FailureOr<Code> compileKernels(mlir::ModuleOp module, const CpuTarget &target,
                                     CodeStage stage);

} // namespace cpu
} // namespace hybrid
