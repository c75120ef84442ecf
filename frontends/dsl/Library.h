//===- Library.h - layers of the library that a file could use -----------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace hybrid::dsl {

/// The module of std/ that defines a layer of this name, as it is written after `use`, in the first
/// of the folders that has one; empty: none.
std::string libraryModuleOf(llvm::StringRef layer, llvm::ArrayRef<std::string> importPaths);

} // namespace hybrid::dsl
