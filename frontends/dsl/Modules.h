//===- Modules.h - a file and the files it uses --------------------------------===//
#pragma once
#include "frontends/dsl/AST.h"
#include "frontends/dsl/Diagnostics.h"
#include "frontends/dsl/Frontend.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace hybrid::dsl {

/// A parsed file. What it uses is visible in it, also what those files use in turn.
struct Module {
  FileSyntax syntax;
  llvm::StringMap<const Definition *> own;
  std::vector<const Module *> uses;

  struct Found {
    const Definition *definition = nullptr, *other = nullptr; // other: a second one, equally near
    const Module *module = nullptr;
  };
  /// The layer called `name`: the file's own, else the nearest of the files it uses.
  Found find(llvm::StringRef name) const;
  /// Names of all layers visible here, for suggestions.
  std::vector<std::string> names() const;
};

/// Loads files, each once.
class ModuleLoader {
public:
  ModuleLoader(Diagnostics &diagnostics, llvm::ArrayRef<std::string> importPaths)
      : diagnostics(diagnostics), importPaths(importPaths.begin(), importPaths.end()) {
    diagnostics.importPaths = this->importPaths;
  }

  const Module &loadMain();
  /// A file of the library as the main file would use it, "std.optimizers"; null after an error.
  const Module *useAlso(llvm::StringRef name);
  /// What has been read and looked for.
  const FilesRead &files() const { return found; }

private:
  uint32_t note(uint32_t file, std::string name);
  void parseInto(Module &module, uint32_t file, int depth);
  const Module *use(const Use &use, uint32_t from, int depth);

  Diagnostics &diagnostics;
  std::vector<std::string> importPaths;
  std::map<std::string, std::unique_ptr<Module>> modules; // by path
  std::unique_ptr<Module> main;
  FilesRead found; // `read` in the order of the files' numbers
};

} // namespace hybrid::dsl
