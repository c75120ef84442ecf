//===- Writer.h - a scheduled module and its code to a .hyx -----------------===//
#pragma once
#include "codegen/DeviceTarget.h"
#include <string>
#include <utility>
#include <vector>

namespace hybrid {

/// What an executable says about where it came from.
struct Provenance {
  std::string compiler, model, source, cost;
  std::vector<std::pair<std::string, std::string>> settings;
};

/// The bytes of the executable (executable/Executable.fbs).
std::vector<char> writeExecutable(mlir::ModuleOp module, const Code &code,
                                  const ExecutableTarget &target, const Provenance &provenance);

} // namespace hybrid
