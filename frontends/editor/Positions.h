//===- Positions.h - an editor's positions and bytes of a text -----------------===//
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LSP/Protocol.h"

namespace hybrid::editor {

/// Editors count the columns of a line in units of UTF-16. What lies behind the end of a line or of
/// the text is that end.
size_t offsetOf(llvm::StringRef text, llvm::lsp::Position position);
llvm::lsp::Position positionOf(llvm::StringRef text, size_t offset);
llvm::lsp::Range rangeOf(llvm::StringRef text, size_t offset, size_t length);

} // namespace hybrid::editor
