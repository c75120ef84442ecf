//===- Completion.cpp - what can be written at a place -------------------------===//
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/LayerHelp.h"
#include "frontends/dsl/Library.h"
#include "frontends/editor/Features.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

namespace hybrid::editor {

using namespace dsl;
namespace lsp = llvm::lsp;
using lsp::CompletionItemKind;

namespace {

class Completer {
public:
  Completer(const Document &document, size_t offset, const std::vector<std::string> &importPaths)
      : document(document), tokens(document.analysis.tokens), module(document.analysis.module()),
        offset(offset), importPaths(importPaths) {
    // The tokens in front of the word that is being written.
    while (count < tokens.size() && endOf(tokens[count]) <= offset &&
           tokens[count].kind != TokenKind::End)
      ++count;
    if (count > 0 && tokens[count - 1].kind == TokenKind::Name &&
        endOf(tokens[count - 1]) == offset)
      --count;
  }

  lsp::CompletionList run() {
    if (isInComment())
      return {};
    if (before(1).is(".") && before(2).isName("op")) {
      addOperators("0");
    } else if (isInUse()) {
      addModules();
    } else {
      addParameters();
      addNames();
      addLayers();
      addOperators("3");
      addKeywords();
    }
    return std::move(list);
  }

private:
  size_t startOf(const Token &token) const {
    return static_cast<size_t>(token.text.data() - document.text().data());
  }
  size_t endOf(const Token &token) const { return startOf(token) + token.text.size(); }
  /// The nth token in front of the cursor's word.
  const Token &before(size_t n) const {
    static const Token none;
    return n <= count ? tokens[count - n] : none;
  }

  bool isInComment() const {
    llvm::StringRef line = document.text().take_front(offset);
    line = line.substr(line.rfind('\n') + 1);
    const size_t comment = line.find("//");
    return comment != llvm::StringRef::npos && line.take_front(comment).count('"') % 2 == 0;
  }
  bool isInUse() const {
    size_t n = 1;
    while (before(n).is(".") || (before(n).kind == TokenKind::Name && !before(n).isName("use")))
      ++n;
    return before(n).isName("use") && (n == 1 || before(1).is("."));
  }

  /// `rank`: what is nearest comes first.
  lsp::CompletionItem &add(const std::string &name, CompletionItemKind kind, llvm::StringRef rank,
                           const std::string &detail = "") {
    list.items.emplace_back(name, kind, rank.str() + name);
    list.items.back().detail = detail;
    return list.items.back();
  }

  void addOperators(llvm::StringRef rank) {
    for (const std::string &name : builtinNames())
      if (const Builtin *builtin = findBuiltin(name)) // `param` and `one_of` are none
        add(name, CompletionItemKind::Operator, rank, name + "(" + builtin->parameters + ")");
  }

  void addModules() {
    std::string folder; // what is written before the last dot
    for (size_t n = 1; before(n).is("."); n += 2)
      folder = before(n + 1).text.str() + "/" + folder;
    std::vector<std::string> roots{llvm::sys::path::parent_path(document.path).str()};
    roots.insert(roots.end(), importPaths.begin(), importPaths.end());
    std::set<std::pair<std::string, bool>> found; // the name; whether it is a folder
    for (const std::string &root : roots) {
      std::error_code fault;
      for (llvm::sys::fs::directory_iterator at(root + "/" + folder, fault), end;
           !fault && at != end; at.increment(fault)) {
        llvm::StringRef path = at->path();
        if (llvm::sys::path::extension(path) == ".hyb" && path != document.path)
          found.insert({llvm::sys::path::stem(path).str(), false});
      }
      if (folder.empty() && llvm::sys::fs::is_directory(root + "/std"))
        found.insert({"std", true});
    }
    for (const auto &[name, isFolder] : found)
      add(name, isFolder ? CompletionItemKind::Folder : CompletionItemKind::Module, "0");
  }

  /// Of the layer or operator in whose call this is.
  void addParameters() {
    int depth = 0;
    size_t n = 1;
    for (; n <= count; ++n) {
      const Token &token = before(n);
      if (token.is("{") || token.is("}"))
        return;
      if (token.is(")") || token.is("]"))
        ++depth;
      else if ((token.is("(") || token.is("[")) && depth-- == 0)
        break;
    }
    if (n > count || before(n).is("[") || before(1).is("="))
      return;
    ++n;
    if (before(n).isName("with")) // f with (...): with a layer's name in front
      ++n;
    if (before(n).kind != TokenKind::Name)
      return;
    const std::string callee = before(n).text.str();
    const bool isOperator = before(n + 1).is(".") && before(n + 2).isName("op");
    const Definition *layer = isOperator ? nullptr : module.find(callee).definition;
    auto addParameter = [&](const std::string &name, const std::string &detail) {
      add(name, CompletionItemKind::Field, "0", detail).insertText = name + " = ";
    };
    if (layer) {
      for (const ParameterSyntax &each : layer->parameters)
        addParameter(each.name, dsl::text(each));
      addParameter("name", "name: string: of its parameters");
    } else if (const Builtin *builtin = findBuiltin(callee)) {
      for (const std::string &name : parameterNames(*builtin))
        addParameter(name, callee + "(" + builtin->parameters + ")");
    }
  }

  /// Variables and parameters of the layer that this is in.
  void addNames() {
    const Definition *inside = nullptr;
    for (const auto &each : module.syntax.definitions)
      if (each->place.offset < offset)
        inside = each.get();
    std::set<std::string> seen;
    for (const Declaration *each : document.names.own()) {
      using Kind = Declaration::Kind;
      if (each->definition != inside || !inside || each->place.offset >= offset ||
          each->kind == Kind::Layer || each->kind == Kind::Model || !seen.insert(each->name).second)
        continue;
      const Seen *values = document.analysis.seen(each->place);
      add(each->name, CompletionItemKind::Variable, "1",
          each->parameter ? dsl::text(*each->parameter)
          : values        ? values->texts.front()
                          : "");
    }
  }

  void addLayers() {
    for (const std::string &name : module.names()) {
      const Definition &layer = *module.find(name).definition;
      add(name, CompletionItemKind::Function, "2", signatureOf(layer)).documentation =
          lsp::MarkupContent{lsp::MarkupKind::Markdown,
                             documentationOf(document.analysis.sources, layer)};
    }
  }

  void addKeywords() {
    static const char *words[] = {"and",   "else",   "false",  "for",    "if",   "in",
                                  "input", "layer",  "let",    "model",  "none", "not",
                                  "or",    "output", "repeat", "return", "then", "topology",
                                  "true",  "use",    "with",   "one_of", "param"};
    for (const char *word : words)
      add(word, CompletionItemKind::Keyword, "4");
  }

  const Document &document;
  const std::vector<Token> &tokens;
  const Module &module;
  size_t offset, count = 0;
  const std::vector<std::string> &importPaths;
  lsp::CompletionList list;
};

} // namespace

lsp::CompletionList completionsAt(const Document &document, size_t offset,
                                  const std::vector<std::string> &importPaths) {
  return Completer(document, offset, importPaths).run();
}

} // namespace hybrid::editor
