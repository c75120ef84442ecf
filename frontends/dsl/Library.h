//===- Library.h - layers of the library that a file could use -----------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace hybrid::dsl {

/// The module of std/ that defines a layer of this name, as it is written after `use`, in the first
/// of the folders that has one; empty: none.
std::string libraryModuleOf(llvm::StringRef layer, llvm::ArrayRef<std::string> importPaths);

/// Folders that contain std/, in the order in which they are asked: those given, that of
/// $HYBRID_MODELS, that installed beside the program that `address` is a function of, that of the
/// sources.
std::vector<std::string> libraryFolders(std::vector<std::string> given, void *address,
                                        const char *sources);

/// The files of `folder`/std, sorted.
std::vector<std::string> libraryFiles(llvm::StringRef folder);

} // namespace hybrid::dsl
