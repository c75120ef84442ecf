//===- Code.h - machine code of a scheduled module --------------------------===//
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <vector>

namespace hybrid {

/// Code for one kind of GPU: see CodeImage in Executable.fbs.
struct CodeImage {
  std::string architecture;
  std::vector<char> bytes;
  uint32_t toolkit = 0; // that made it: executable/CudaVersion.h
};

/// How batches are put together on a GPU: see ExampleGather in Executable.fbs.
struct ExampleGather {
  std::string kernel; // "gatherExamples<...>"
  std::string symbol, program, inputs, targets;
  int64_t grid = 0, threads = 0;
};

struct Code {
  std::string text;                      // what --emit asked for, unless it is the executable
  std::vector<char> sharedObject;        // CPU: kernels
  std::vector<CodeImage> images;         // CUDA: kernels, one image an architecture
  llvm::StringMap<std::string> symbols;  // launch key -> exported symbol, see launchKey()
  std::optional<ExampleGather> examples; // CUDA, of a module that trains
};

/// Names the specialisation of a kernel that `launch` needs.
std::string launchKey(mlir::Operation *launch);

} // namespace hybrid
