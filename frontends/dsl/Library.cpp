//===- Library.cpp - layers of the library that a file could use ---------------===//
#include "frontends/dsl/Library.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <vector>

namespace hybrid::dsl {

/// A definition begins its line. What is not parsed cannot be faulty.
static bool defines(llvm::StringRef text, llvm::StringRef layer) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (line.consume_front("layer ") && line.ltrim().consume_front(layer)) {
      llvm::StringRef behind = line.ltrim().drop_front(layer.size()).ltrim();
      if (behind.starts_with("("))
        return true;
    }
    text = rest;
  }
  return false;
}

std::vector<std::string> libraryFiles(llvm::StringRef folder) {
  llvm::SmallString<256> library(folder);
  llvm::sys::path::append(library, "std");
  std::error_code fault;
  std::vector<std::string> files;
  for (llvm::sys::fs::directory_iterator at(library, fault), end; !fault && at != end;
       at.increment(fault))
    if (llvm::sys::path::extension(at->path()) == ".hyb")
      files.push_back(at->path());
  llvm::sort(files);
  return files;
}

std::string libraryModuleOf(llvm::StringRef layer, llvm::ArrayRef<std::string> importPaths) {
  for (const std::string &folder : importPaths)
    for (const std::string &file : libraryFiles(folder))
      if (auto text = llvm::MemoryBuffer::getFile(file);
          text && defines((*text)->getBuffer(), layer))
        return "std." + llvm::sys::path::stem(file).str();
  return "";
}

std::vector<std::string> libraryFolders(std::vector<std::string> given, void *address,
                                        const char *sources) {
  if (auto fromEnvironment = llvm::sys::Process::GetEnv("HYBRID_MODELS"))
    given.push_back(*fromEnvironment);
  llvm::SmallString<256> installed(
      llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable("", address)));
  llvm::sys::path::append(installed, "..", "share", "hybrid", "models");
  given.push_back(installed.str().str());
  given.push_back(sources);
  return given;
}

} // namespace hybrid::dsl
