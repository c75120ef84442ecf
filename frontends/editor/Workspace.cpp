//===- Workspace.cpp - the texts that are open and the files around them -------===//
#include "frontends/editor/Workspace.h"
#include "frontends/editor/Positions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace hybrid::editor {

namespace fs = llvm::sys::fs;

constexpr size_t mostFiles = 5000; // of the open folders that a renaming looks at

Workspace::Workspace(const std::vector<std::string> &importPaths) {
  for (const std::string &path : importPaths)
    if (fs::is_directory(path))
      libraries.push_back(keyOf(path));
}

/// One name a file: a file that is not on the disk yet has the one it will have there.
std::string Workspace::keyOf(llvm::StringRef path) {
  llvm::SmallString<256> real;
  if (!fs::real_path(path, real))
    return real.str().str();
  llvm::SmallString<256> folder;
  if (fs::real_path(llvm::sys::path::parent_path(path), folder))
    return path.str();
  llvm::sys::path::append(folder, llvm::sys::path::filename(path));
  return folder.str().str();
}

void Workspace::open(const std::vector<std::string> &given) {
  for (const std::string &folder : given)
    folders.push_back(keyOf(folder));
}

OpenText *Workspace::analyse(const std::string &key) {
  OpenText &open = documents[key];
  open.document =
      std::make_unique<Document>(key, texts[key], texts, libraries, Analysis::Depth::Elaborate);
  return &open;
}

std::vector<OpenText *> Workspace::analyseReaders(const std::string &key) {
  std::vector<OpenText *> affected;
  for (auto &[path, open] : documents)
    if (path != key && open.document && open.document->analysis.reads(key))
      affected.push_back(analyse(path));
  return affected;
}

std::vector<OpenText *> Workspace::change(const llvm::lsp::URIForFile &uri, const std::string &text,
                                          int64_t version) {
  const std::string key = keyOf(uri.file());
  texts[key] = text;
  OpenText *open = analyse(key);
  open->uri = uri;
  open->version = version;
  std::vector<OpenText *> affected = analyseReaders(key);
  affected.insert(affected.begin(), open);
  return affected;
}

std::vector<OpenText *> Workspace::close(const llvm::lsp::URIForFile &uri) {
  const std::string key = keyOf(uri.file());
  texts.erase(key);
  documents.erase(key);
  return analyseReaders(key);
}

const OpenText *Workspace::find(const llvm::lsp::URIForFile &uri) const {
  auto found = documents.find(keyOf(uri.file()));
  return found == documents.end() ? nullptr : &found->second;
}

const Seen *Workspace::seen(const Document &document, uint32_t offset) const {
  if (const Seen *own = document.analysis.seen(document.path, offset))
    return own;
  for (const auto &[path, open] : documents)
    if (const Seen *other = open.document->analysis.seen(document.path, offset))
      return other;
  return nullptr;
}

llvm::lsp::Range Workspace::rangeOf(const Document &document, const Fault::Note &note) const {
  const dsl::SourceFiles &sources = document.analysis.sources;
  for (uint32_t file = 0; file < document.analysis.fileCount(); ++file) {
    const dsl::SourceFile &source = sources.file(file);
    if (source.name != note.path || note.line > source.lineStarts.size())
      continue;
    const size_t offset =
        std::min<size_t>(source.lineStarts[note.line - 1] + note.column - 1, source.text.size());
    const size_t length = source.text.substr(offset)
                              .take_while([](char c) { return llvm::isAlnum(c) || c == '_'; })
                              .size();
    return editor::rangeOf(source.text, offset, std::max<size_t>(length, 1));
  }
  return {};
}

bool Workspace::contains(llvm::StringRef path) const {
  return documents.contains(path.str()) || llvm::any_of(folders, [&](const std::string &folder) {
           return path.starts_with(folder) && path.substr(folder.size()).starts_with("/");
         });
}

std::vector<std::string> Workspace::files() const {
  std::vector<std::string> found;
  for (const std::string &folder : folders) {
    std::error_code fault;
    for (fs::recursive_directory_iterator at(folder, fault), end;
         !fault && at != end && found.size() < mostFiles; at.increment(fault)) {
      llvm::StringRef name = llvm::sys::path::filename(at->path());
      if (name.starts_with(".") || name.starts_with("build"))
        at.no_push();
      else if (name.ends_with(".hyb"))
        found.push_back(at->path());
    }
  }
  for (const auto &[path, open] : documents)
    found.push_back(path);
  llvm::sort(found);
  found.erase(llvm::unique(found), found.end());
  return found;
}

llvm::lsp::WorkspaceEdit Workspace::changeName(const Document &document,
                                               const Declaration &declaration,
                                               llvm::StringRef newName,
                                               std::string &refused) const {
  using Kind = Declaration::Kind;
  const std::string path = document.analysis.pathOf(declaration.place.file);
  const uint32_t offset = declaration.place.offset;
  llvm::lsp::WorkspaceEdit edit;
  auto add = [&](const std::string &file, std::vector<llvm::lsp::TextEdit> edits) {
    if (edits.empty())
      return;
    auto open = documents.find(file);
    if (open != documents.end())
      edit.changes[open->second.uri.uri().str()] = std::move(edits);
    else if (auto uri = llvm::lsp::URIForFile::fromFile(file))
      edit.changes[uri->uri().str()] = std::move(edits);
    else
      llvm::consumeError(uri.takeError());
  };
  // What has the new name would hide a layer there, or be hidden by it.
  auto editIn = [&](const Document &in) {
    std::vector<llvm::lsp::TextEdit> edits = renameIn(in, path, offset, newName);
    const bool isDefinition = declaration.kind == Kind::Layer || declaration.kind == Kind::Model;
    if (isDefinition && !edits.empty())
      for (const Declaration *each : in.names.own())
        if (each->name == newName)
          refused = "there is something called '" + newName.str() + "' in '" +
                    llvm::sys::path::filename(in.path).str() + "' already";
    add(in.path, std::move(edits));
  };
  editIn(document);
  const bool isSeenElsewhere = declaration.kind == Kind::Layer || declaration.kind == Kind::Model ||
                               declaration.kind == Kind::Parameter;
  if (!isSeenElsewhere)
    return edit;
  for (const std::string &file : files()) {
    if (file == document.path)
      continue;
    auto open = texts.find(file);
    std::string text, reason;
    if (open != texts.end())
      text = open->second;
    else if (auto buffer = dsl::readSource(file, dsl::mostSourceBytes, reason))
      text = buffer->getBuffer().str();
    if (!llvm::StringRef(text).contains(declaration.name))
      continue;
    const Document other(file, text, texts, libraries, Analysis::Depth::Parse);
    editIn(other);
  }
  return edit;
}

} // namespace hybrid::editor
