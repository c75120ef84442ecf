//===- Requests.h - messages of the protocol that LLVM's library lacks ---------===//
#pragma once
#include "llvm/Support/LSP/Protocol.h"

namespace hybrid::editor {

struct InitializeRequest {
  std::vector<std::string> folders; ///< that the editor has open
};
bool fromJSON(const llvm::json::Value &value, InitializeRequest &result, llvm::json::Path path);

struct RenameRequest : llvm::lsp::TextDocumentPositionParams {
  std::string newName;
};
bool fromJSON(const llvm::json::Value &value, RenameRequest &result, llvm::json::Path path);

} // namespace hybrid::editor
