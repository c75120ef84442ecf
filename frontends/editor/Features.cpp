//===- Features.cpp - hover, hints, symbols and renaming -----------------------===//
#include "frontends/editor/Features.h"
#include "frontends/dsl/ExpressionParser.h"
#include "frontends/dsl/Frontend.h"
#include "frontends/dsl/LayerHelp.h"
#include "frontends/editor/Positions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace hybrid::editor {

using namespace dsl;
namespace lsp = llvm::lsp;
using Kind = Declaration::Kind;

/// "[B, L, 128]", or the values that differ, one after another.
static std::string textOf(const Seen &seen, llvm::StringRef between) {
  return llvm::join(seen.texts, between) + (seen.hasMore ? between.str() + "..." : "");
}

static std::string codeBlock(llvm::StringRef code) {
  return "```hybrid\n" + code.str() + "\n```\n";
}

static std::string describe(const Document &document, const Declaration &declaration) {
  const SourceFiles &sources = document.analysis.sources;
  switch (declaration.kind) {
  case Kind::Layer:
  case Kind::Model:
    return codeBlock(signatureOf(*declaration.definition)) + "\n" +
           documentationOf(sources, *declaration.definition) + "\n";
  case Kind::Parameter:
    return codeBlock(dsl::text(*declaration.parameter)) + "\na parameter of `" +
           declaration.definition->name + "`\n";
  case Kind::Operator: {
    std::string text;
    llvm::raw_string_ostream out(text);
    describeOperator(declaration.name, out);
    auto [head, rest] = llvm::StringRef(text).split('\n');
    return codeBlock(head) + "\n" + rest.str() + "\n";
  }
  case Kind::Module:
    return "`" + sources.file(declaration.place.file).name + "`\n";
  case Kind::Variable:
  case Kind::Size:
  case Kind::Port:
    return codeBlock(declaration.name);
  }
  llvm_unreachable("all kinds handled");
}

std::optional<lsp::Hover> hoverAt(const Document &document, size_t offset, ValuesAt values) {
  const Occurrence *name = document.names.at(offset);
  if (!name)
    return std::nullopt;
  const Declaration &declaration = *name->declaration;
  lsp::Hover hover(rangeOf(document.text(), name->offset, name->length));
  hover.contents.value = describe(document, declaration);
  const bool isValue = declaration.kind != Kind::Layer && declaration.kind != Kind::Model &&
                       declaration.kind != Kind::Operator && declaration.kind != Kind::Module;
  if (const Seen *seen = isValue ? values(name->offset) : nullptr)
    hover.contents.value += "\nhere `" + textOf(*seen, "`, `") + "`\n";
  return hover;
}

std::vector<lsp::InlayHint> hintsIn(const Document &document, size_t begin, size_t end,
                                    ValuesAt values) {
  std::vector<lsp::InlayHint> hints;
  for (const Declaration *each : document.names.own()) {
    if (each->kind != Kind::Variable || each->place.offset < begin || each->place.offset >= end)
      continue;
    const Seen *seen = values(each->place.offset);
    if (!seen || !seen->isTensor)
      continue;
    const size_t behind = each->place.offset + each->name.size();
    lsp::InlayHint hint(lsp::InlayHintKind::Type, positionOf(document.text(), behind));
    hint.label = ": " + seen->texts.front() + (seen->texts.size() > 1 ? ", ..." : "");
    hints.push_back(std::move(hint));
  }
  return hints;
}

std::vector<lsp::DocumentSymbol> symbolsOf(const Document &document) {
  std::vector<lsp::DocumentSymbol> symbols;
  for (const auto &definition : document.analysis.module().syntax.definitions) {
    const lsp::Range range =
        rangeOf(document.text(), definition->place.offset, definition->name.size());
    symbols.emplace_back(definition->name,
                         definition->isModel ? lsp::SymbolKind::Class : lsp::SymbolKind::Function,
                         range, range);
    symbols.back().detail = signatureOf(*definition);
  }
  return symbols;
}

//===-- renaming -------------------------------------------------------------===//

std::string refuseRename(const Document &document, const Declaration &declaration,
                         llvm::StringRef newName, const std::vector<std::string> &importPaths) {
  const std::string name = "'" + declaration.name + "'";
  if (declaration.kind == Kind::Operator)
    return name + " is an operator of the language";
  if (declaration.kind == Kind::Module)
    return name + " is a file: rename that";
  const llvm::StringRef folder =
      llvm::sys::path::parent_path(document.analysis.pathOf(declaration.place.file));
  for (const std::string &library : importPaths)
    if (folder == library + "/std")
      return name + " is of the library, which other models use";
  if (declaration.kind == Kind::Size && (newName.empty() || !llvm::isUpper(newName.front())))
    return "the name of a size begins with a capital letter";
  const bool isName = !newName.empty() && !llvm::isDigit(newName.front()) &&
                      llvm::all_of(newName, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isName || isReserved(newName) || newName == "_")
    return "'" + newName.str() + "' is not a name: expected letters, digits and '_'";
  for (const Declaration *each : document.names.own())
    if (each->name == newName && (each->definition == declaration.definition ||
                                  each->kind == Kind::Layer || each->kind == Kind::Model))
      return "there is something called '" + newName.str() + "' here already";
  if (document.analysis.module().find(newName).definition)
    return "there is a layer called '" + newName.str() + "' here already";
  return "";
}

std::vector<lsp::TextEdit> renameIn(const Document &document, llvm::StringRef path, uint32_t offset,
                                    llvm::StringRef newName) {
  std::vector<lsp::TextEdit> edits;
  for (const Occurrence &each : document.names.all()) {
    const Place place = each.declaration->place;
    if (each.declaration->kind != Kind::Operator && place.offset == offset &&
        document.analysis.pathOf(place.file) == path)
      edits.push_back({rangeOf(document.text(), each.offset, each.length), newName.str()});
  }
  return edits;
}

} // namespace hybrid::editor
