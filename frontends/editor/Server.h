//===- Server.h - the language server ------------------------------------------===//
#pragma once
#include "llvm/Support/LSP/Transport.h"
#include <string>
#include <vector>

namespace hybrid::editor {

struct ServerOptions {
  std::string version;
  std::vector<std::string> importPaths; ///< folders that contain std/
};

/// Answers an editor until it says exit or its messages end. Exit status: 0 after a shutdown,
/// else 1.
int serve(const ServerOptions &options, llvm::lsp::JSONTransport &transport);

} // namespace hybrid::editor
