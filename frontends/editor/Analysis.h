//===- Analysis.h - what the compiler finds in a text that is being edited -----===//
#pragma once
#include "frontends/dsl/Lexer.h"
#include "frontends/dsl/Modules.h"
#include "frontends/dsl/Observer.h"
#include "llvm/ADT/DenseMap.h"

namespace hybrid::editor {

/// What is wrong, where, and what is to be said with it.
struct Fault {
  struct Note {
    std::string path, message;
    unsigned line = 1, column = 1; // of bytes, from 1
  };
  Note at;                  // in the main file
  bool isElsewhere = false; // in a file that is used: `at` is the `use`
  std::vector<Note> notes;
};

/// The values that a place of a text had. A model is run once with its loops unrolled, so a place
/// in a loop or a layer may have several: the first four that differ are kept.
struct Seen {
  std::vector<std::string> texts;
  bool isTensor = false, hasMore = false;
  int count = 0;
};

class Analysis : dsl::Observer {
public:
  enum class Depth { Parse, Elaborate };
  /// The file at `path` as `text` has it; the files that it uses as `unsaved` (by path) or the disk
  /// have them. `Elaborate` also runs its models, with their defaults.
  Analysis(const std::string &path, llvm::StringRef text,
           const llvm::StringMap<std::string> &unsaved, const std::vector<std::string> &importPaths,
           Depth depth);

  const dsl::Module &module() const { return *main; }
  llvm::StringRef text() const { return textOf(main->syntax.file); }
  llvm::StringRef textOf(uint32_t file) const { return sources.file(file).text; }
  uint32_t fileCount() const { return static_cast<uint32_t>(loader->files().read.size()); }
  const std::string &pathOf(uint32_t file) const { return sources.file(file).name; }
  /// The module that a `use` of the main file names; null where it could not be read.
  const dsl::Module *usedBy(const dsl::Use &use) const;
  bool reads(llvm::StringRef path) const;
  /// Null for a place that no model ran, or that had no value.
  const Seen *seen(dsl::Place place) const;
  /// The same for a place of a file that may be another than the main one.
  const Seen *seen(llvm::StringRef path, uint32_t offset) const;

  std::vector<Fault> faults;
  std::vector<dsl::Token> tokens;
  dsl::SourceFiles sources;

private:
  void saw(dsl::Place place, const dsl::Value &value) override;
  Fault faultOf(mlir::Diagnostic &diagnostic) const;
  /// Moves a fault of another file's text to the `use` that leads there.
  void moveToUse(Fault &fault);

  llvm::SourceMgr manager;
  mlir::MLIRContext context;
  std::unique_ptr<dsl::ModuleLoader> loader;
  const dsl::Module *main = nullptr;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, Seen> values; // by file and offset
};

} // namespace hybrid::editor
