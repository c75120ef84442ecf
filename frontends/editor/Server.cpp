//===- Server.cpp - the language server ----------------------------------------===//
//
// Messages are answered one after another. A text is analysed when it changes, with every other
// open one that reads it, and its faults are sent at once.
//
//===----------------------------------------------------------------------===//
#include "frontends/editor/Server.h"
#include "frontends/dsl/Format.h"
#include "frontends/editor/Features.h"
#include "frontends/editor/Positions.h"
#include "frontends/editor/Requests.h"
#include "frontends/editor/Workspace.h"

namespace hybrid::editor {
namespace {

using namespace llvm;
using lsp::Callback;

Error refusal(const Twine &message) {
  return make_error<lsp::LSPError>(message.str(), lsp::ErrorCode::RequestFailed);
}

class Server {
public:
  Server(const ServerOptions &options, lsp::JSONTransport &transport)
      : options(options), workspace(options.importPaths), handler(transport),
        publish(handler.outgoingNotification<lsp::PublishDiagnosticsParams>(
            "textDocument/publishDiagnostics")) {
    handler.method("initialize", this, &Server::initialize);
    handler.notification("initialized", this, &Server::ignore);
    handler.notification("$/setTrace", this, &Server::ignore);
    handler.notification("$/cancelRequest", this, &Server::ignore);
    handler.method("shutdown", this, &Server::shutdown);
    handler.notification("textDocument/didOpen", this, &Server::didOpen);
    handler.notification("textDocument/didChange", this, &Server::didChange);
    handler.notification("textDocument/didClose", this, &Server::didClose);
    handler.notification("textDocument/didSave", this, &Server::ignore);
    handler.method("textDocument/hover", this, &Server::hover);
    handler.method("textDocument/definition", this, &Server::definition);
    handler.method("textDocument/completion", this, &Server::completion);
    handler.method("textDocument/rename", this, &Server::changeName);
    handler.method("textDocument/formatting", this, &Server::formatting);
    handler.method("textDocument/inlayHint", this, &Server::inlayHint);
    handler.method("textDocument/documentSymbol", this, &Server::documentSymbol);
  }

  int run(lsp::JSONTransport &transport) {
    consumeError(transport.run(handler)); // the messages ended
    return wasShutDown ? 0 : 1;
  }

private:
  // ---- beginning and end ----

  void initialize(const InitializeRequest &request, Callback<json::Value> reply) {
    workspace.open(request.folders);
    json::Object capabilities{
        {"textDocumentSync",
         json::Object{{"openClose", true}, {"change", (int)lsp::TextDocumentSyncKind::Full}}},
        {"hoverProvider", true},
        {"definitionProvider", true},
        {"completionProvider", json::Object{{"triggerCharacters", {"."}}}},
        {"renameProvider", true},
        {"documentFormattingProvider", true},
        {"inlayHintProvider", true},
        {"documentSymbolProvider", true},
    };
    reply(json::Object{
        {"serverInfo", json::Object{{"name", "hybrid-lsp"}, {"version", options.version}}},
        {"capabilities", std::move(capabilities)}});
  }
  void shutdown(const lsp::NoParams &, Callback<std::nullptr_t> reply) {
    wasShutDown = true;
    reply(nullptr);
  }
  void ignore(const lsp::NoParams &) {}

  // ---- texts ----

  void didOpen(const lsp::DidOpenTextDocumentParams &params) {
    const lsp::TextDocumentItem &item = params.textDocument;
    change(item.uri, item.text, item.version);
  }
  void didChange(const lsp::DidChangeTextDocumentParams &params) {
    if (!params.contentChanges.empty()) // each is the whole text
      change(params.textDocument.uri, params.contentChanges.back().text,
             params.textDocument.version);
  }
  void didClose(const lsp::DidCloseTextDocumentParams &params) {
    const std::vector<OpenText *> affected = workspace.close(params.textDocument.uri);
    publish(lsp::PublishDiagnosticsParams(params.textDocument.uri, 0));
    for (const OpenText *each : affected)
      publishFaults(*each);
  }
  void change(const lsp::URIForFile &uri, const std::string &text, int64_t version) {
    for (const OpenText *each : workspace.change(uri, text, version))
      publishFaults(*each);
  }

  void publishFaults(const OpenText &open) {
    lsp::PublishDiagnosticsParams params(open.uri, open.version);
    for (const Fault &fault : open.document->analysis.faults) {
      lsp::Diagnostic diagnostic;
      diagnostic.range = workspace.rangeOf(*open.document, fault.at);
      diagnostic.severity = lsp::DiagnosticSeverity::Error;
      diagnostic.source = "hybrid";
      diagnostic.message = fault.at.message;
      std::vector<lsp::DiagnosticRelatedInformation> related;
      for (const Fault::Note &note : fault.notes)
        if (auto uri = lsp::URIForFile::fromFile(note.path))
          related.emplace_back(lsp::Location(*uri, workspace.rangeOf(*open.document, note)),
                               note.message);
        else
          consumeError(uri.takeError());
      diagnostic.relatedInformation = std::move(related);
      params.diagnostics.push_back(std::move(diagnostic));
    }
    publish(params);
  }

  // ---- questions ----

  /// The open text, or null after an answer that it is not.
  template <typename Reply> const OpenText *find(const lsp::URIForFile &uri, Reply &reply) {
    const OpenText *open = workspace.find(uri);
    if (!open)
      reply(refusal("'" + uri.file() + "' is not open"));
    return open;
  }

  void hover(const lsp::TextDocumentPositionParams &params,
             Callback<std::optional<lsp::Hover>> reply) {
    if (const OpenText *open = find(params.textDocument.uri, reply)) {
      const Document &document = *open->document;
      reply(hoverAt(document, offsetOf(document.text(), params.position),
                    [&](uint32_t offset) { return workspace.seen(document, offset); }));
    }
  }

  void definition(const lsp::TextDocumentPositionParams &params,
                  Callback<std::vector<lsp::Location>> reply) {
    const OpenText *open = find(params.textDocument.uri, reply);
    if (!open)
      return;
    const Document &document = *open->document;
    const Occurrence *name = document.names.at(offsetOf(document.text(), params.position));
    std::vector<lsp::Location> places;
    if (name && name->declaration->kind != Declaration::Kind::Operator) {
      const Declaration &declaration = *name->declaration;
      const size_t length =
          declaration.kind == Declaration::Kind::Module ? 0 : declaration.name.size();
      auto uri = lsp::URIForFile::fromFile(document.analysis.pathOf(declaration.place.file));
      if (uri)
        places.emplace_back(*uri, editor::rangeOf(document.analysis.textOf(declaration.place.file),
                                                  declaration.place.offset, length));
      else
        consumeError(uri.takeError());
    }
    reply(std::move(places));
  }

  void completion(const lsp::CompletionParams &params, Callback<lsp::CompletionList> reply) {
    if (const OpenText *open = find(params.textDocument.uri, reply))
      reply(completionsAt(*open->document, offsetOf(open->document->text(), params.position),
                          workspace.importPaths()));
  }

  void changeName(const RenameRequest &params, Callback<lsp::WorkspaceEdit> reply) {
    const OpenText *open = find(params.textDocument.uri, reply);
    if (!open)
      return;
    const Document &document = *open->document;
    const Occurrence *name = document.names.at(offsetOf(document.text(), params.position));
    if (!name)
      return reply(refusal("there is no name here"));
    const Declaration &declaration = *name->declaration;
    std::string refused =
        refuseRename(document, declaration, params.newName, workspace.importPaths());
    if (refused.empty() && !workspace.contains(document.analysis.pathOf(declaration.place.file)))
      refused = "'" + declaration.name + "' is declared outside of the folder that is open";
    lsp::WorkspaceEdit edit;
    if (refused.empty())
      edit = workspace.changeName(document, declaration, params.newName, refused);
    if (!refused.empty())
      return reply(refusal(refused));
    reply(std::move(edit));
  }

  void formatting(const lsp::DocumentSymbolParams &params,
                  Callback<std::vector<lsp::TextEdit>> reply) {
    const OpenText *open = find(params.textDocument.uri, reply);
    if (!open)
      return;
    const StringRef text = open->document->text();
    SourceMgr sources;
    sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, open->document->path), SMLoc());
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlir::ScopedDiagnosticHandler silence(&context,
                                          [](mlir::Diagnostic &) { return mlir::success(); });
    std::optional<std::string> formatted = dsl::format(sources, context);
    if (!formatted)
      return reply(refusal("a text with faults of its syntax is not formatted"));
    std::vector<lsp::TextEdit> edits;
    if (*formatted != text)
      edits.push_back({editor::rangeOf(text, 0, text.size()), std::move(*formatted)});
    reply(std::move(edits));
  }

  void inlayHint(const lsp::InlayHintsParams &params, Callback<std::vector<lsp::InlayHint>> reply) {
    if (const OpenText *open = find(params.textDocument.uri, reply)) {
      const Document &document = *open->document;
      reply(hintsIn(document, offsetOf(document.text(), params.range.start),
                    offsetOf(document.text(), params.range.end),
                    [&](uint32_t offset) { return workspace.seen(document, offset); }));
    }
  }

  void documentSymbol(const lsp::DocumentSymbolParams &params,
                      Callback<std::vector<lsp::DocumentSymbol>> reply) {
    if (const OpenText *open = find(params.textDocument.uri, reply))
      reply(symbolsOf(*open->document));
  }

  const ServerOptions &options;
  Workspace workspace;
  lsp::MessageHandler handler;
  lsp::OutgoingNotification<lsp::PublishDiagnosticsParams> publish;
  bool wasShutDown = false;
};

} // namespace

int serve(const ServerOptions &options, lsp::JSONTransport &transport) {
  return Server(options, transport).run(transport);
}

} // namespace hybrid::editor
