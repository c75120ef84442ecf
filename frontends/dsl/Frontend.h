//===- Frontend.h - the language Hybrid, from text to the dialect -------------===//
//
// The way in for the tools. A file is parsed with everything it uses, one of its models is run as a
// program over static values, and what it does to tensors becomes the function @forward of a
// module. See docs/book/language.md.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>
#include <string>
#include <vector>

namespace hybrid::dsl {

struct Options {
  std::vector<std::string> importPaths;  ///< folders that contain std/
  llvm::StringMap<std::string> settings; ///< --set name=value
  std::vector<std::string> optimizers;   ///< --optimizer [PATTERN=]LAYER
  std::string model; ///< which model when the file has several; empty: the only one
};

/// A file that a compilation read.
struct ReadFile {
  std::string path;
  std::string name;     ///< as the model's folder or a models folder has it: "std/ssm.hyb"
  llvm::StringRef text; ///< owned by the SourceMgr
};
/// What a compilation depends on: the files it read, the main one first, and those it looked for in
/// vain, which would be read instead of others if they were there.
struct FilesRead {
  std::vector<ReadFile> read;
  std::vector<std::string> absent;
};

/// Parses the main file of `sources` and elaborates its model. On failure all diagnostics (line,
/// caret, notes) have been emitted to the context's diagnostic engine, and the result is null.
/// Files that are used are added to `sources`, so that their lines can be shown; `files` is told
/// which they are.
mlir::OwningOpRef<mlir::ModuleOp> compileFile(llvm::SourceMgr &sources, mlir::MLIRContext &context,
                                              const Options &options, FilesRead &files);

/// A parameter of a model, for people: `width: int = 128`.
struct ModelParameter {
  std::string name, type;
  std::optional<std::string> defaultText; ///< as written; nothing when it must be given
};
struct ModelDescription {
  std::string name, documentation; ///< the text of its `///` comments
  std::vector<ModelParameter> parameters;
};

/// What `hybridc --help-model` shows. Nothing after diagnostics when the file has faults.
std::optional<ModelDescription> describeModel(llvm::SourceMgr &sources, mlir::MLIRContext &context,
                                              const Options &options);

/// One option of a choice.
struct ModelOption {
  std::string setting; ///< what `--set` takes
  std::string source;  ///< as the language writes it
};
/// A parameter of a model whose default is `one_of(...)`, or that is set.
struct ModelChoice {
  std::string name, type;
  uint32_t offset = 0, bytes = 0; ///< where the default stands in the file
  std::vector<ModelOption> options;
};
/// A model as a space: the product of its choices. Without choices it is one point.
struct ModelSpace {
  std::string model;
  std::vector<ModelChoice> choices;
  int64_t points = 1;
};

/// What `hybridc --choices` shows: the choices of a model. What is set is a choice of one option.
/// Nothing after diagnostics when a choice or the file has faults.
std::optional<ModelSpace> describeSpace(llvm::SourceMgr &sources, mlir::MLIRContext &context,
                                        const Options &options);

/// What `hybridc --help-op` prints of an operator or function of the language: how it is called,
/// its defaults, what it means. False with a message in `out` for a name that there is not.
bool describeOperator(llvm::StringRef name, llvm::raw_ostream &out);

} // namespace hybrid::dsl
