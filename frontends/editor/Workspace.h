//===- Workspace.h - the texts that are open and the files around them ---------===//
#pragma once
#include "frontends/editor/Features.h"

namespace hybrid::editor {

struct OpenText {
  llvm::lsp::URIForFile uri; ///< as the editor calls it
  int64_t version = 0;
  std::unique_ptr<Document> document;
};

class Workspace {
public:
  explicit Workspace(const std::vector<std::string> &importPaths);

  /// The folders whose files may be changed.
  void open(const std::vector<std::string> &folders);
  /// What is open that has been analysed again: the text itself, and those that read it.
  std::vector<OpenText *> change(const llvm::lsp::URIForFile &uri, const std::string &text,
                                 int64_t version);
  std::vector<OpenText *> close(const llvm::lsp::URIForFile &uri);
  const OpenText *find(const llvm::lsp::URIForFile &uri) const;

  /// The values of a place, in its own model or in the first open one that runs it.
  const Seen *seen(const Document &document, uint32_t offset) const;
  /// Where a fault or a note is shown: the word that begins there.
  llvm::lsp::Range rangeOf(const Document &document, const Fault::Note &note) const;
  /// Whether a file is open, or in a folder that is.
  bool contains(llvm::StringRef path) const;
  /// Edits of all files; `refused` says why there are none to be made.
  llvm::lsp::WorkspaceEdit changeName(const Document &document, const Declaration &declaration,
                                      llvm::StringRef newName, std::string &refused) const;
  const std::vector<std::string> &importPaths() const { return libraries; }

private:
  static std::string keyOf(llvm::StringRef path);
  OpenText *analyse(const std::string &key);
  std::vector<OpenText *> analyseReaders(const std::string &key);
  /// Paths of the files of the language in the open folders.
  std::vector<std::string> files() const;

  std::vector<std::string> libraries, folders;
  llvm::StringMap<std::string> texts; // open ones, by real path
  std::map<std::string, OpenText> documents;
};

} // namespace hybrid::editor
