//===- Analysis.cpp - what the compiler finds in a text that is being edited ---===//
#include "frontends/editor/Analysis.h"
#include "frontends/dsl/Elaborator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace hybrid::editor {

constexpr size_t mostValues = 4; // of a place that are kept
constexpr int mostRuns = 256;    // of a place that are looked at

Analysis::Analysis(const std::string &path, llvm::StringRef text,
                   const llvm::StringMap<std::string> &unsaved,
                   const std::vector<std::string> &importPaths, Depth depth)
    : sources(manager), context(MLIRContext::Threading::DISABLED) {
  if (depth == Depth::Elaborate)
    context.loadDialect<HybridDialect, func::FuncDialect>();
  context.printOpOnDiagnostic(false);
  manager.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, path), llvm::SMLoc());
  sources.unsaved = &unsaved;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    faults.push_back(faultOf(diagnostic));
    return success();
  });
  dsl::Diagnostics diagnostics(context, sources);
  loader = std::make_unique<dsl::ModuleLoader>(diagnostics, importPaths);
  main = &loader->loadMain();
  for (Fault &fault : faults)
    if (fault.isElsewhere)
      moveToUse(fault);
  if (depth == Depth::Elaborate && !diagnostics.failed())
    for (const auto &definition : main->syntax.definitions)
      if (definition->isModel) {
        dsl::Diagnostics own(context, sources);
        own.importPaths = importPaths;
        dsl::Elaborator(own, this).look(*main, *definition);
      }
  ScopedDiagnosticHandler silence(&context, [](mlir::Diagnostic &) { return success(); });
  dsl::Diagnostics ignored(context, sources);
  tokens = dsl::lex(main->syntax.file, ignored);
}

bool Analysis::reads(llvm::StringRef path) const {
  return llvm::any_of(loader->files().read,
                      [&](const dsl::ReadFile &file) { return file.path == path; }) ||
         llvm::is_contained(loader->files().absent, path);
}

void Analysis::saw(dsl::Place place, const dsl::Value &value) {
  if (value.isPoison() || value.isNone())
    return;
  Seen &seen = values[{place.file, place.offset}];
  if (seen.count++ >= mostRuns)
    return;
  std::string text = dsl::text(value);
  if (llvm::is_contained(seen.texts, text))
    return;
  seen.isTensor |= value.isTensor();
  if (seen.texts.size() < mostValues)
    seen.texts.push_back(std::move(text));
  else
    seen.hasMore = true;
}

const Seen *Analysis::seen(dsl::Place place) const {
  auto found = values.find({place.file, place.offset});
  return found == values.end() ? nullptr : &found->second;
}

const Seen *Analysis::seen(llvm::StringRef path, uint32_t offset) const {
  const auto &read = loader->files().read;
  for (uint32_t file = 0; file < read.size(); ++file)
    if (read[file].path == path)
      return seen(dsl::Place{file, offset});
  return nullptr;
}

/// The innermost place of the main file, which is where the editor shows it; what lies deeper, in a
/// layer of another file, becomes a note.
Fault Analysis::faultOf(mlir::Diagnostic &diagnostic) const {
  const std::string &path = sources.file(0).name;
  auto noteOf = [](FileLineColLoc at, std::string message) {
    return Fault::Note{at.getFilename().str(), std::move(message), at.getLine(), at.getColumn()};
  };
  Fault fault;
  fault.at = {path, diagnostic.str(), 1, 1};
  std::vector<FileLineColLoc> places;
  diagnostic.getLocation()->walk([&](Location each) {
    if (auto place = dyn_cast<FileLineColLoc>(each))
      places.push_back(place);
    return WalkResult::advance();
  });
  for (FileLineColLoc place : places) {
    if (place.getFilename() == path) {
      fault.at = noteOf(place, fault.at.message);
      break;
    }
    fault.notes.push_back(
        noteOf(place, fault.notes.empty() ? fault.at.message : "called from here"));
  }
  fault.isElsewhere = !places.empty() && places.size() == fault.notes.size();
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    if (auto place = dyn_cast<FileLineColLoc>(note.getLocation()))
      fault.notes.push_back(noteOf(place, note.str()));
  return fault;
}

void Analysis::moveToUse(Fault &fault) {
  const Fault::Note &inside = fault.notes.front();
  fault.at.message = "in " + llvm::sys::path::filename(inside.path).str() + ", line " +
                     std::to_string(inside.line) + ": " + fault.at.message;
  for (const dsl::Use &use : main->syntax.uses) {
    std::vector<const dsl::Module *> reached;
    if (const dsl::Module *first = usedBy(use))
      reached.push_back(first);
    for (size_t i = 0; i < reached.size(); ++i) {
      if (pathOf(reached[i]->syntax.file) == inside.path) {
        const mlir::FileLineColLoc at = sources.location(&context, use.place);
        fault.at.line = at.getLine();
        fault.at.column = at.getColumn();
        return;
      }
      llvm::copy_if(reached[i]->uses, std::back_inserter(reached),
                    [&](const dsl::Module *each) { return !llvm::is_contained(reached, each); });
    }
  }
}

const dsl::Module *Analysis::usedBy(const dsl::Use &use) const {
  const std::string path = "/" + llvm::join(use.path, "/") + ".hyb";
  for (const dsl::Module *used : main->uses)
    if (llvm::StringRef(pathOf(used->syntax.file)).ends_with(path))
      return used;
  return nullptr;
}

} // namespace hybrid::editor
