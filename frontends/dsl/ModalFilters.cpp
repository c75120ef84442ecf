//===- ModalFilters.cpp - a model's text with filters that recur ---------------===//
//
// The text is changed token by token, so that all else stays as its author wrote it.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/ModalFilters.h"
#include "dialect/HybridOps.h"
#include "frontends/dsl/Lexer.h"
#include "frontends/dsl/Modules.h"
#include <algorithm>

namespace hybrid::dsl {
namespace {

constexpr const char *library = "std.state_space", *replacement = "modal_poles";

bool isCalledAsFilter(const Definition &layer) {
  static const char *const names[] = {"L", "channels", "count"};
  return !layer.isModel && layer.parameters.size() >= 3 &&
         std::equal(names, names + 3, layer.parameters.begin(),
                    [](llvm::StringRef name, const ParameterSyntax &parameter) {
                      return parameter.name == name;
                    });
}

/// Whether the layer's text makes a filter that is a recurrence.
bool isRecurrent(const Module &module, const Definition &layer, Diagnostics &diagnostics) {
  uint32_t end = UINT32_MAX;
  for (const auto &other : module.syntax.definitions)
    if (other->place.offset > layer.place.offset)
      end = std::min(end, other->place.offset);
  for (const Token &token : lex(layer.place.file, diagnostics))
    if (token.place.offset > layer.place.offset && token.place.offset < end &&
        (token.isName("modal_filter") || token.isName("recurrent_filter")))
      return true;
  return false;
}

/// A stretch of the text, and what stands there instead.
struct Edit {
  size_t from, to;
  std::string text;
};

/// Behind `with (...)`, if that is what follows token i, else behind token i.
size_t endOfValue(llvm::ArrayRef<Token> tokens, size_t i) {
  if (i + 2 >= tokens.size() || !tokens[i + 1].isName("with") || !tokens[i + 2].is("("))
    return tokens[i].place.offset + tokens[i].text.size();
  int depth = 0;
  for (size_t j = i + 2; j < tokens.size(); ++j) {
    depth += tokens[j].is("(") ? 1 : tokens[j].is(")") ? -1 : 0;
    if (depth == 0)
      return tokens[j].place.offset + 1;
  }
  return tokens[i].place.offset + tokens[i].text.size(); // the parser has complained
}

std::string edited(std::string text, std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(),
            [](const Edit &a, const Edit &b) { return a.from > b.from; });
  for (const Edit &edit : edits)
    text.replace(edit.from, edit.to - edit.from, edit.text);
  return text;
}

} // namespace

std::optional<std::string> withModalFilters(llvm::SourceMgr &manager, mlir::MLIRContext &context,
                                            const Options &options, int64_t states) {
  context.loadDialect<HybridDialect>();
  SourceFiles sources(manager);
  Diagnostics diagnostics(context, sources);
  ModuleLoader loader(diagnostics, options.importPaths);
  const Module &main = loader.loadMain();
  if (diagnostics.failed())
    return std::nullopt;
  const uint32_t file = main.syntax.file;
  const std::vector<Token> tokens = lex(file, diagnostics);
  std::vector<Edit> edits;
  size_t behindUses = tokens.front().place.offset;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    const bool isUse = token.isName("use") && token.newline;
    if (isUse) { // up to the end of its line
      const llvm::StringRef rest = sources.file(file).text.drop_front(token.place.offset);
      behindUses = token.place.offset + std::min(rest.size(), rest.find('\n') + 1);
    }
    const bool isValue = token.kind == TokenKind::Name && !tokens[i + 1].is("(") &&
                         !tokens[i + 1].is("=") && !tokens[i + 1].is(":") &&
                         (i == 0 || (!tokens[i - 1].is(".") && !tokens[i - 1].isName("layer")));
    if (!isValue)
      continue;
    const Module::Found found = main.find(token.text);
    if (!found.definition || !isCalledAsFilter(*found.definition) ||
        isRecurrent(*found.module, *found.definition, diagnostics))
      continue;
    edits.push_back({token.place.offset, endOfValue(tokens, i),
                     std::string(replacement) + " with (states = " + std::to_string(states) + ")"});
  }
  if (edits.empty()) {
    diagnostics.error({file, 0},
                      "this file names no filter that could become a recurrence: expected "
                      "one as a value, such as 'hyena(x, filter = sine_filter)'");
    return std::nullopt;
  }
  if (!main.find(replacement).definition)
    edits.push_back({behindUses, behindUses, std::string("use ") + library + "\n"});
  return edited(sources.file(file).text.str(), std::move(edits));
}

} // namespace hybrid::dsl
