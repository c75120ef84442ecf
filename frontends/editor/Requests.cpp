//===- Requests.cpp - messages of the protocol that LLVM's library lacks -------===//
#include "frontends/editor/Requests.h"

namespace hybrid::editor {

using namespace llvm;

static void addFolder(const json::Value *uri, std::vector<std::string> &folders) {
  std::optional<StringRef> text = uri ? uri->getAsString() : std::nullopt;
  if (!text)
    return;
  if (Expected<lsp::URIForFile> folder = lsp::URIForFile::fromURI(*text))
    folders.push_back(folder->file().str());
  else
    consumeError(folder.takeError());
}

bool fromJSON(const json::Value &value, InitializeRequest &result, json::Path path) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected an object");
    return false;
  }
  if (const json::Array *folders = object->getArray("workspaceFolders"))
    for (const json::Value &each : *folders)
      if (const json::Object *folder = each.getAsObject())
        addFolder(folder->get("uri"), result.folders);
  if (result.folders.empty())
    addFolder(object->get("rootUri"), result.folders);
  return true;
}

bool fromJSON(const json::Value &value, RenameRequest &result, json::Path path) {
  json::ObjectMapper map(value, path);
  return lsp::fromJSON(value, static_cast<lsp::TextDocumentPositionParams &>(result), path) &&
         map && map.map("newName", result.newName);
}

} // namespace hybrid::editor
