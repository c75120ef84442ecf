//===- Features.h - answers to an editor's questions about a text --------------===//
#pragma once
#include "frontends/editor/Names.h"
#include "llvm/Support/LSP/Protocol.h"

namespace hybrid::editor {

/// An open text, as the compiler sees it now.
struct Document {
  Document(const std::string &path, llvm::StringRef text,
           const llvm::StringMap<std::string> &unsaved, const std::vector<std::string> &importPaths,
           Analysis::Depth depth)
      : path(path), analysis(path, text, unsaved, importPaths, depth), names(analysis) {}

  llvm::StringRef text() const { return analysis.text(); }

  std::string path;
  Analysis analysis;
  Names names;
};

/// What the values of a place are in the model, or in another open one that uses the file.
using ValuesAt = llvm::function_ref<const Seen *(uint32_t offset)>;

/// What the name at `offset` is: signature, documentation, values; nothing where there is no name.
std::optional<llvm::lsp::Hover> hoverAt(const Document &document, size_t offset, ValuesAt values);

/// Shapes behind the names that a `let` gives to tensors, in the part of the text.
std::vector<llvm::lsp::InlayHint> hintsIn(const Document &document, size_t begin, size_t end,
                                          ValuesAt values);

/// What can be written at `offset`.
llvm::lsp::CompletionList completionsAt(const Document &document, size_t offset,
                                        const std::vector<std::string> &importPaths);

/// The definitions of a text.
std::vector<llvm::lsp::DocumentSymbol> symbolsOf(const Document &document);

/// Why the name cannot be changed; empty: it can.
std::string refuseRename(const Document &document, const Declaration &declaration,
                         llvm::StringRef newName, const std::vector<std::string> &importPaths);
/// The edits of one text that rename what is declared at a byte of a file.
std::vector<llvm::lsp::TextEdit> renameIn(const Document &document, llvm::StringRef path,
                                          uint32_t offset, llvm::StringRef newName);

} // namespace hybrid::editor
