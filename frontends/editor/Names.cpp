//===- Names.cpp - what each name of a text stands for -------------------------===//
#include "frontends/editor/Names.h"
#include "frontends/dsl/Builtins.h"
#include "llvm/ADT/StringExtras.h"

namespace hybrid::editor {

using namespace dsl;
using Kind = Declaration::Kind;

const Definition *calleeOf(const Module &module, const Expression &callee) {
  if (callee.kind == Expression::Kind::With)
    return calleeOf(module, *callee.children[0]);
  return callee.kind == Expression::Kind::Name ? module.find(callee.text).definition : nullptr;
}

/// Walks a file with the scopes that the elaborator would have.
class NameReader {
public:
  NameReader(const Analysis &analysis, Names &names)
      : analysis(analysis), module(analysis.module()), names(names) {}

  void run() {
    for (const Use &use : module.syntax.uses)
      readUse(use);
    for (const auto &each : module.syntax.definitions)
      readDefinition(*each);
    llvm::sort(names.occurrences,
               [](const Occurrence &a, const Occurrence &b) { return a.offset < b.offset; });
  }

private:
  void readUse(const Use &use) {
    const std::string name = llvm::join(use.path, ".");
    const size_t offset = analysis.text().find(use.path.front(), use.place.offset + 3);
    if (const Module *used = analysis.usedBy(use))
      occur(static_cast<uint32_t>(offset), name.size(),
            names.declare({Kind::Module, name, {used->syntax.file, 0}, nullptr, nullptr}));
  }

  void readDefinition(const Definition &each) {
    definition = &each;
    scopes.assign(1, {});
    refer(each.place, each.name.size(), layerOf(each));
    for (const ParameterSyntax &parameter : each.parameters) {
      readType(parameter.type);
      if (parameter.initial)
        read(*parameter.initial);
      define({Kind::Parameter, parameter.name, parameter.place, definition, &parameter});
    }
    if (each.result)
      readType(*each.result);
    readBlock(each.body);
  }

  const Declaration *layerOf(const Definition &each) {
    return names.declare(
        {each.isModel ? Kind::Model : Kind::Layer, each.name, each.place, &each, nullptr});
  }

  // ---- scopes ----

  void define(Declaration declaration) {
    if (declaration.name.empty() || declaration.name == "_")
      return;
    const std::string name = declaration.name;
    const Declaration *made = names.declare(std::move(declaration));
    scopes.back()[name] = made;
    refer(made->place, name.size(), made);
  }
  const Declaration *find(llvm::StringRef name) const {
    for (const auto &scope : llvm::reverse(scopes))
      if (auto found = scope.find(name); found != scope.end())
        return found->second;
    return nullptr;
  }
  void occur(uint32_t offset, size_t length, const Declaration *declaration) {
    names.occurrences.push_back({offset, static_cast<uint32_t>(length), declaration});
  }
  void refer(Place place, size_t length, const Declaration *declaration) {
    if (declaration && place.file == names.file)
      occur(place.offset, length, declaration);
  }
  const Declaration *operatorOf(const std::string &name) {
    if (!findBuiltin(name))
      return nullptr;
    auto &made = names.operators[name];
    if (!made)
      made = std::make_unique<Declaration>(Declaration{Kind::Operator, name, {}, nullptr, nullptr});
    return made.get();
  }

  // ---- statements ----

  void readBlock(const std::vector<Statement> &statements) {
    scopes.emplace_back();
    for (const Statement &statement : statements)
      readStatement(statement);
    scopes.pop_back();
  }

  void readStatement(const Statement &statement) {
    using StatementKind = Statement::Kind;
    readType(statement.type);
    if (statement.value)
      read(*statement.value);
    if (statement.end)
      read(*statement.end);
    auto defineNames = [&] {
      for (const Pattern::Entry &entry : statement.pattern.entries)
        define({Kind::Variable, entry.name, entry.place, definition, nullptr});
    };
    switch (statement.kind) {
    case StatementKind::Let:
      defineNames();
      break;
    case StatementKind::For:
      scopes.emplace_back();
      defineNames();
      readBlock(statement.body);
      scopes.pop_back();
      return;
    case StatementKind::Assign:
      refer(statement.place, statement.name.size(), find(statement.name));
      break;
    case StatementKind::Input:
    case StatementKind::Output:
      define({Kind::Port, statement.name, statement.place, definition, nullptr});
      break;
    default:
      break;
    }
    readBlock(statement.body);
    readBlock(statement.otherwise);
    for (const Statement::Letter &letter : statement.letters)
      readBlock(letter.body);
  }

  // ---- expressions ----

  /// A size that has no value yet is bound by the shape.
  void readType(const TypeSyntax &type) {
    for (const ExpressionPtr &dimension : type.dimensions)
      if (dimension->kind == Expression::Kind::Name && !dimension->text.empty() &&
          llvm::isUpper(dimension->text[0]) && !find(dimension->text))
        define({Kind::Size, dimension->text, dimension->place, definition, nullptr});
      else
        read(*dimension);
  }

  void read(const Expression &expression) {
    if (expression.kind == Expression::Kind::Name)
      readName(expression);
    if (expression.kind == Expression::Kind::Operator)
      refer(expression.place, 3 + expression.text.size(), operatorOf(expression.text));
    for (const ExpressionPtr &child : expression.children)
      read(*child);
    for (const Argument &argument : expression.arguments) {
      read(*argument.value);
      if (!argument.name.empty())
        readArgument(*expression.children[0], argument);
    }
    for (const Subscript &subscript : expression.subscripts) {
      if (subscript.start)
        read(*subscript.start);
      if (subscript.end)
        read(*subscript.end);
    }
  }

  void readName(const Expression &expression) {
    const Declaration *found = find(expression.text);
    if (!found)
      if (const Definition *layer = module.find(expression.text).definition)
        found = layerOf(*layer);
    refer(expression.place, expression.text.size(), found ? found : operatorOf(expression.text));
  }

  /// The parameter that an argument's name is of.
  void readArgument(const Expression &callee, const Argument &argument) {
    const bool isVariable = callee.kind == Expression::Kind::Name && find(callee.text);
    const Definition *layer = isVariable ? nullptr : calleeOf(module, callee);
    if (!layer)
      return;
    for (const ParameterSyntax &parameter : layer->parameters)
      if (parameter.name == argument.name)
        refer(argument.place, argument.name.size(),
              names.declare({Kind::Parameter, parameter.name, parameter.place, layer, &parameter}));
  }

  const Analysis &analysis;
  const Module &module;
  Names &names;
  const Definition *definition = nullptr;
  std::vector<llvm::StringMap<const Declaration *>> scopes;
};

Names::Names(const Analysis &analysis) : file(analysis.module().syntax.file) {
  NameReader(analysis, *this).run();
}

const Declaration *Names::declare(Declaration declaration) {
  auto &made = declarations[{declaration.place.file, declaration.place.offset}];
  if (!made)
    made = std::make_unique<Declaration>(std::move(declaration));
  return made.get();
}

const Occurrence *Names::at(size_t offset) const {
  const Occurrence *before = nullptr;
  for (const Occurrence &each : occurrences) {
    if (each.offset <= offset && offset < each.offset + each.length)
      return &each;
    if (offset == each.offset + each.length)
      before = &each;
  }
  return before;
}

std::vector<const Declaration *> Names::own() const {
  std::vector<const Declaration *> found;
  for (const auto &[place, declaration] : declarations)
    if (place.first == file && declaration->kind != Kind::Module)
      found.push_back(declaration.get());
  return found;
}

} // namespace hybrid::editor
