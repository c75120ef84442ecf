//===- CodegenCuda.h - from scheduled programs to CUDA code -----------------===//
#pragma once
#include "codegen/Code.h"
#include "codegen/RankOptions.h"
#include "codegen/ScheduleStage.h"
#include "dialect/schedule/ScheduleOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace hybrid {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/cuda/Passes.h.inc"

namespace cuda {

/// The passes from functions to a schedule.
std::vector<ScheduleStage> scheduleStages(const LowerToScheduleCudaOptions &options,
                                          const RankOptions &ranks = {});
/// Registers `hybrid-schedule-cuda`, all of them, for hybrid-opt.
void registerPipelines();

/// The CUDA C++ of all kernels that the programs of `module` launch, and of the one that the
/// runtime launches for their batches; fills `symbols` and `examples` of `code`.
mlir::FailureOr<std::string> emitSource(mlir::ModuleOp module, Code &code);

/// The kernel that puts the batches of a scheduled module together: of program `train`, when it has
/// two inputs of 4-byte elements and as many rows, one of them `targets`. Without a symbol.
std::optional<ExampleGather> gatherExamplesOf(mlir::ModuleOp module);

/// A header of the kernel library, or <cstdint>, as the sources include it.
struct KernelHeader {
  llvm::StringRef name, text;
};
llvm::ArrayRef<KernelHeader> kernelHeaders();

/// Code for one architecture, as NVRTC makes it.
struct NvrtcResult {
  std::vector<char> image; // cubin, or PTX for an architecture "compute_..."
  std::string ptx;         // that a cubin was made of
  std::string log;         // what ptxas says of registers, shared memory and spills
  uint32_t toolkit = 0;    // its version: executable/CudaVersion.h
};

/// The NVRTC that is found: its version, its file, and what it makes machine code for ("sm_80").
/// It is opened when first needed.
struct NvrtcInfo {
  uint32_t version = 0;
  std::string file;
  std::vector<std::string> architectures;
  std::string complaint; // not empty: there is none
};
NvrtcInfo findNvrtc();

/// Compiles `source` for "sm_90a" (a cubin) or "compute_90" (PTX). Failure after a diagnostic.
mlir::FailureOr<NvrtcResult> compileWithNvrtc(mlir::Location loc, llvm::StringRef source,
                                              llvm::StringRef architecture);

/// Compiles `source` for the tests' driver, with a C++ compiler and test/cuda/shim.
mlir::FailureOr<std::vector<char>> compileForShim(mlir::Location loc, llvm::StringRef source);

/// What one kernel takes of a multiprocessor, from the log of compileWithNvrtc; and how many of its
/// loads, stores and atomics are generic, of which a GPU has to find out at each one which memory
/// it is in, from the PTX.
struct KernelResources {
  std::string kernel;
  int64_t registers = 0, spillBytes = 0, stackBytes = 0, staticSharedBytes = 0, genericAccesses = 0;
};
std::vector<KernelResources> parseResources(const NvrtcResult &made);

} // namespace cuda
} // namespace hybrid
