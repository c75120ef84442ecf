//===- Modules.cpp - a file and the files it uses ------------------------------===//
#include "frontends/dsl/Modules.h"
#include "frontends/dsl/Parser.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

namespace hybrid::dsl {

Module::Found Module::find(llvm::StringRef name) const {
  std::vector<const Module *> level{this};
  std::set<const Module *> seen{this};
  while (!level.empty()) {
    Found found;
    std::vector<const Module *> next;
    for (const Module *module : level) {
      if (auto it = module->own.find(name); it != module->own.end() && !it->second->isModel) {
        if (found.definition && found.definition != it->second)
          found.other = it->second;
        else
          found = {it->second, nullptr, module};
      }
      for (const Module *used : module->uses)
        if (seen.insert(used).second)
          next.push_back(used);
    }
    if (found.definition)
      return found;
    level = std::move(next);
  }
  return {};
}

std::vector<std::string> Module::names() const {
  std::set<std::string> names;
  std::vector<const Module *> seen{this};
  for (size_t i = 0; i < seen.size(); ++i) {
    for (const auto &entry : seen[i]->own)
      if (!entry.second->isModel)
        names.insert(entry.first().str());
    llvm::copy_if(seen[i]->uses, std::back_inserter(seen),
                  [&](const Module *used) { return !llvm::is_contained(seen, used); });
  }
  return {names.begin(), names.end()};
}

const Module &ModuleLoader::loadMain() {
  main = std::make_unique<Module>();
  const uint32_t file = diagnostics.sources.addMain();
  parseInto(*main, note(file, llvm::sys::path::filename(diagnostics.sources.file(file).name).str()),
            0);
  return *main;
}

const Module *ModuleLoader::useAlso(llvm::StringRef name) {
  Use entry{Place{main->syntax.file, 0}, {}};
  for (llvm::StringRef part : llvm::split(name, '.'))
    entry.path.push_back(part.str());
  return use(entry, main->syntax.file, 0);
}

uint32_t ModuleLoader::note(uint32_t file, std::string name) {
  const SourceFile &source = diagnostics.sources.file(file);
  found.read.push_back({source.name, std::move(name), source.text});
  return file;
}

void ModuleLoader::parseInto(Module &module, uint32_t file, int depth) {
  module.syntax = parse(file, diagnostics);
  for (const auto &definition : module.syntax.definitions) {
    auto [it, inserted] = module.own.try_emplace(definition->name, definition.get());
    if (!inserted)
      diagnostics.error(definition->place,
                        "'" + definition->name + "' is defined twice in this file",
                        {{it->second->place, "the first definition is here"}});
  }
  for (const Use &entry : module.syntax.uses)
    if (const Module *used = use(entry, file, depth))
      module.uses.push_back(used);
}

const Module *ModuleLoader::use(const Use &use, uint32_t from, int depth) {
  std::string name = llvm::join(use.path, ".");
  if (depth >= 32) {
    diagnostics.error(use.place, "'" + name + "': files that use files are nested too deeply");
    return nullptr;
  }
  // Beside the file itself first, so that a project can carry its own version of a library.
  std::vector<std::string> folders{
      llvm::sys::path::parent_path(diagnostics.sources.file(from).name).str()};
  folders.insert(folders.end(), importPaths.begin(), importPaths.end());
  // What the file is called in the tree of files: there, a file is beside the one that uses it.
  const std::string below = llvm::join(use.path, "/") + ".hyb",
                    beside = llvm::sys::path::parent_path(found.read[from].name).str();
  for (const auto &[number, folder] : llvm::enumerate(folders)) {
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, below);
    if (!diagnostics.sources.exists(path.str().str())) {
      found.absent.push_back(path.str().str());
      continue;
    }
    llvm::SmallString<256> real;
    if (llvm::sys::fs::real_path(path, real))
      real = path;
    auto [it, inserted] = modules.try_emplace(real.str().str());
    if (!inserted)
      return it->second.get();
    std::string reason;
    std::optional<uint32_t> file = diagnostics.sources.load(path.str().str(), reason);
    if (!file) {
      diagnostics.error(use.place, "cannot read '" + path.str().str() + "': " + reason);
      return nullptr;
    }
    it->second = std::make_unique<Module>();
    Module *module = it->second.get();
    note(*file, number == 0 && !beside.empty() ? beside + "/" + below : below);
    parseInto(*module, *file, depth + 1);
    return module;
  }
  diagnostics.error(use.place, "there is no module '" + name + "': expected " +
                                   llvm::join(use.path, "/") +
                                   ".hyb beside this file or in the models folder");
  return nullptr;
}

} // namespace hybrid::dsl
