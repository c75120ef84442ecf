//===- LinkObject.h - an object file to a shared object ---------------------===//
#pragma once
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace hybrid::cpu {

/// Links one relocatable object into a shared object without dependencies. Uses two temporary
/// files, removed again.
mlir::FailureOr<std::vector<char>> linkSharedObject(mlir::Location loc, llvm::StringRef object);

} // namespace hybrid::cpu
