//===- Writer.h - a scheduled module and its code to a .hyx -----------------===//
#pragma once
#include "codegen/DeviceTarget.h"
#include <string>
#include <utility>
#include <vector>

namespace hybrid {

/// A text that a model was compiled from.
struct SourceText {
  std::string path; // as locations have it
  std::string name; // without the folder it happens to lie in: "std/ssm.hyb"
  std::string text;
};

/// What an executable says about where it came from.
struct Provenance {
  std::string compiler, model, cost;
  std::vector<SourceText> sources;                                      // the model's first
  std::vector<std::pair<std::string, std::string>> options, parameters; // names and values
  uint64_t memoryBudget = 0; // bytes that a session which trains may allocate; 0: what there is
};

/// The bytes of the executable (executable/Executable.fbs).
std::vector<char> writeExecutable(mlir::ModuleOp module, const Code &code,
                                  const ExecutableTarget &target, const Provenance &provenance);

} // namespace hybrid
