//===- Parser.cpp - tokens to syntax -------------------------------------------===//
//
// Recursive descent. A statement ends at `;`, `}` or the end of its line; inside parentheses and
// brackets lines do not count.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/Parser.h"
#include "frontends/dsl/ExpressionParser.h"

namespace hybrid::dsl {
namespace {

class Parser : ExpressionParser {
public:
  Parser(uint32_t file, Diagnostics &diagnostics) : ExpressionParser(file, diagnostics) {
    result.file = file;
  }

  FileSyntax run() {
    while (!at().is("") && at().kind != TokenKind::End && !diagnostics.full()) {
      failed = false;
      size_t before = position;
      if (at().isName("use"))
        parseUse();
      else if (at().isName("layer") || at().isName("model"))
        parseDefinition();
      else
        fail("expected 'use', 'layer' or 'model', found " + found());
      if (failed) {
        if (position == before)
          ++position;
        while (
            at().kind != TokenKind::End &&
            !(at().newline && (at().isName("use") || at().isName("layer") || at().isName("model"))))
          ++position;
      }
    }
    return std::move(result);
  }

private:
  // ---- file level ----

  void parseUse() {
    Use use;
    use.place = take().place;
    do
      use.path.push_back(expectName("the name of a module"));
    while (!failed && accept("."));
    accept(";");
    if (!failed)
      result.uses.push_back(std::move(use));
  }

  void parseDefinition() {
    auto definition = std::make_unique<Definition>();
    definition->isModel = take().text == "model";
    definition->place = at().place;
    definition->name =
        expectName(definition->isModel ? "the name of the model" : "the name of the layer");
    if (failed)
      return;
    parseParameters(*definition);
    if (accept("->"))
      definition->result = parseType();
    definition->body = parseBlock("the body of '" + definition->name + "'");
    if (!failed || !definition->body.empty())
      result.definitions.push_back(std::move(definition));
  }

  void parseParameters(Definition &definition) {
    if (!at().is("(")) {
      if (!definition.isModel)
        fail("expected '(' and the parameters of '" + definition.name + "', found " + found());
      return;
    }
    take();
    ++parentheses;
    while (!failed && !at().is(")")) {
      ParameterSyntax parameter;
      parameter.place = at().place;
      parameter.name = expectName("the name of a parameter");
      expect(":", "and a type after parameter '" + parameter.name + "'");
      if (!failed)
        parameter.type = parseType();
      if (accept("=")) {
        const char *start = at().text.data();
        parameter.initialPlace = at().place;
        parameter.initial = parseExpression();
        const llvm::StringRef last = tokens[position ? position - 1 : 0].text;
        if (!failed)
          parameter.initialText.assign(start, last.data() + last.size());
      }
      definition.parameters.push_back(std::move(parameter));
      if (!accept(","))
        break;
    }
    --parentheses;
    expect(")", "after the parameters of '" + definition.name + "'");
  }

  TypeSyntax parseType() {
    TypeSyntax type;
    type.place = at().place;
    if (at().kind == TokenKind::Name) {
      llvm::StringRef name = at().text;
      using Kind = TypeSyntax::Kind;
      std::pair<llvm::StringRef, Kind> kinds[] = {{"int", Kind::Integer},
                                                  {"float", Kind::Float},
                                                  {"bool", Kind::Boolean},
                                                  {"string", Kind::String},
                                                  {"layer", Kind::Layer}};
      bool known = false;
      for (auto [spelling, kind] : kinds)
        if (name == spelling) {
          type.kind = kind;
          known = true;
        }
      if (!known) {
        fail("'" + name +
             "' is not a type: expected int, float, bool, string, layer or a shape such as [B, L, "
             "D]");
        return type;
      }
      take();
      if (type.kind != Kind::Integer || !at().is("[") || at().newline)
        return type;
      type.kind = Kind::Tensor;
      type.integerElements = true;
    }
    expect("[", "to start a shape");
    ++parentheses;
    while (!failed && !at().is("]")) {
      if (at().is("...")) {
        if (!type.dimensions.empty() || type.leading)
          fail("'...' stands for leading dimensions and comes first");
        take();
        type.leading = true;
      } else {
        type.dimensions.push_back(parseExpression());
      }
      if (!accept(","))
        break;
    }
    --parentheses;
    expect("]", "after the shape");
    return type;
  }

  // ---- statements ----

  std::vector<Statement> parseBlock(const llvm::Twine &what) {
    std::vector<Statement> statements;
    Place open = at().place;
    if (!at().is("{")) {
      fail("expected '{' and " + what + ", found " + found());
      return statements;
    }
    take();
    if (++depth > deepest) {
      fail("blocks are nested too deeply");
      --depth;
      return statements;
    }
    int outer = std::exchange(parentheses, 0);
    while (!at().is("}") && at().kind != TokenKind::End && !diagnostics.full()) {
      if (accept(";"))
        continue;
      failed = false;
      size_t before = position;
      Statement statement = parseStatement();
      if (!failed) {
        statements.push_back(std::move(statement));
        if (!at().is(";") && !at().is("}") && !at().newline)
          fail("expected the end of the statement, found " + found());
      }
      if (failed)
        recover(before);
    }
    parentheses = outer;
    --depth;
    bool hadErrors = diagnostics.failed();
    if (!accept("}") && !failed) {
      if (!hadErrors || !diagnostics.full())
        diagnostics.error(at().place, "expected '}' before the end of the file",
                          {{open, "to match this '{'"}});
      failed = true;
      return statements;
    }
    failed = false; // errors inside were reported; what follows the block is read afresh
    return statements;
  }

  /// Skips to the start of the next statement of the block.
  void recover(size_t before) {
    if (position == before)
      take();
    int braces = 0;
    while (at().kind != TokenKind::End) {
      if (braces == 0 && (at().is("}") || at().is(";") || at().newline))
        break;
      if (at().is("{"))
        ++braces;
      else if (at().is("}"))
        --braces;
      take();
    }
    failed = false;
  }

  Statement make(Statement::Kind kind) {
    Statement statement;
    statement.kind = kind;
    statement.place = at().place;
    return statement;
  }

  Statement parseStatement() {
    using Kind = Statement::Kind;
    const Token &token = at();
    if (token.isName("let"))
      return parseLet();
    if (token.isName("for"))
      return parseFor();
    if (token.isName("repeat")) {
      Statement statement = make(Kind::Repeat);
      take();
      statement.value = parseExpression();
      statement.body = parseBlock("the statements to repeat");
      return statement;
    }
    if (token.isName("if"))
      return parseIf();
    if (token.isName("return")) {
      Statement statement = make(Kind::Return);
      take();
      statement.value = parseExpression();
      return statement;
    }
    if (token.isName("topology"))
      return parseTopology();
    if (token.isName("input")) {
      Statement statement = make(Kind::Input);
      take();
      statement.place = at().place;
      statement.name = expectName("the name of the input");
      expect(":", "and the type of the input");
      if (!failed)
        statement.type = parseType();
      return statement;
    }
    if (token.isName("output")) {
      Statement statement = make(Kind::Output);
      take();
      statement.place = at().place;
      statement.name = expectName("the name of the output");
      expect("=", "and the value of output '" + statement.name + "'");
      if (!failed)
        statement.value = parseExpression();
      return statement;
    }
    if (token.isName("layer") || token.isName("model") || token.isName("use")) {
      Statement statement = make(Kind::Evaluate);
      fail("'" + token.text +
           "' starts a definition, which cannot stand inside another one (is a '}' missing?)");
      return statement;
    }
    bool assigns =
        token.kind == TokenKind::Name &&
        (at(1).is("=") || at(1).is("+=") || at(1).is("-=") || at(1).is("*=") || at(1).is("/="));
    if (assigns) {
      Statement statement = make(Kind::Assign);
      statement.name = expectName("a name");
      llvm::StringRef sign = take().text;
      statement.sign = sign.size() == 2 ? sign[0] : 0;
      if (!failed)
        statement.value = parseExpression();
      return statement;
    }
    Statement statement = make(Kind::Evaluate);
    statement.value = parseExpression();
    return statement;
  }

  Pattern parsePattern(bool mayBeList) {
    Pattern pattern;
    pattern.place = at().place;
    bool bracket = mayBeList && accept("[");
    pattern.isList = bracket;
    do {
      Pattern::Entry entry;
      entry.place = at().place;
      entry.name = expectName("a name");
      if (bracket && accept("..."))
        entry.rest = true;
      pattern.entries.push_back(std::move(entry));
    } while (!failed && accept(","));
    if (bracket)
      expect("]", "after the names");
    if (pattern.entries.size() > 1)
      pattern.isList = true;
    int rests = 0;
    for (const auto &entry : pattern.entries)
      rests += entry.rest;
    if (rests > 1)
      failAt(pattern.place, "only one name can take the rest ('...')");
    return pattern;
  }

  Statement parseLet() {
    Statement statement = make(Statement::Kind::Let);
    take();
    statement.pattern = parsePattern(true);
    expect("=", "and a value after the name");
    if (!failed)
      statement.value = parseExpression();
    return statement;
  }

  Statement parseFor() {
    Statement statement = make(Statement::Kind::For);
    take();
    statement.pattern = parsePattern(false);
    if (!failed && statement.pattern.entries.size() > 2)
      failAt(statement.pattern.place, "a loop binds one name, or an index and a name");
    expectWord("in", "expected 'in' and what to loop over, found " + found());
    statement.value = parseExpression();
    if (accept(".."))
      statement.end = parseExpression();
    statement.body = parseBlock("the body of the loop");
    return statement;
  }

  Statement parseIf() {
    Statement statement = make(Statement::Kind::If);
    take();
    statement.value = parseExpression();
    statement.body = parseBlock("the statements of the condition");
    if (at().isName("else")) {
      take();
      if (at().isName("if") && ++depth <= deepest) {
        statement.otherwise.push_back(parseIf());
        --depth;
      } else if (at().isName("if")) {
        fail("conditions are nested too deeply");
      } else
        statement.otherwise = parseBlock("the statements otherwise");
    }
    return statement;
  }

  Statement parseTopology() {
    Statement statement = make(Statement::Kind::Topology);
    take();
    statement.value = parseExpression();
    if (failed)
      return statement;
    Place open = at().place;
    expect("{", "and the blocks of the topology");
    while (!failed && !at().is("}") && at().kind != TokenKind::End) {
      if (accept(";"))
        continue;
      Statement::Letter letter;
      letter.place = at().place;
      letter.name = expectName("the letter of a block");
      if (!failed && letter.name.size() != 1)
        diagnostics.error(letter.place, "a block of a topology is named by one letter, not '" +
                                            llvm::Twine(letter.name) + "'");
      expect("=", "and the statements of block '" + letter.name + "'");
      if (!failed)
        letter.body = parseBlock("the statements of block '" + letter.name + "'");
      statement.letters.push_back(std::move(letter));
    }
    if (!failed && !accept("}")) {
      diagnostics.error(at().place, "expected '}' before the end of the file",
                        {{open, "to match this '{'"}});
      failed = true;
    }
    return statement;
  }

  FileSyntax result;
};

} // namespace

FileSyntax parse(uint32_t file, Diagnostics &diagnostics) {
  return Parser(file, diagnostics).run();
}

} // namespace hybrid::dsl
