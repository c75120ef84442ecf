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

  /// One expression and nothing behind it; null after an error.
  ExpressionPtr runExpression() {
    ExpressionPtr expression = parseExpression();
    if (!failed && at().kind != TokenKind::End)
      fail("expected the end of the expression, found " + found());
    return failed ? nullptr : std::move(expression);
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
        fail("expected 'use', 'layer' or 'model', found " + found() + whatToWrite(at().text));
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

  /// For words that other languages begin a definition with.
  static llvm::StringRef whatToWrite(llvm::StringRef word) {
    if (word == "def" || word == "fn" || word == "func" || word == "function" || word == "class" ||
        word == "module")
      return ": a definition is written 'layer NAME(x: [B, L, D]) -> [B, L, D] { ... }'";
    if (word == "import" || word == "from" || word == "include")
      return ": another file is made known by 'use', as in 'use std.layers'";
    return "";
  }

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
    parseList(")", [&] {
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
    });
    expect(")", "after the parameters of '" + definition.name + "'");
  }

  TypeSyntax parseType() {
    TypeSyntax type;
    type.place = at().place;
    if (at().kind == TokenKind::Name) {
      using Kind = TypeSyntax::Kind;
      const auto *word = llvm::find(TypeSyntax::words, at().text);
      if (word == std::end(TypeSyntax::words)) {
        fail("'" + at().text +
             "' is not a type: expected int, float, bool, string, layer or a shape such as [B, L, "
             "D]");
        return type;
      }
      take();
      type.kind = static_cast<Kind>(word - TypeSyntax::words);
      if (type.kind != Kind::Integer || !at().is("[") || at().newline)
        return type;
      type.kind = Kind::Tensor;
      type.integerElements = true;
    }
    expect("[", "to start a shape");
    parseList("]", [&] {
      if (!at().is("...")) {
        type.dimensions.push_back(parseExpression());
        return;
      }
      if (!type.dimensions.empty() || type.leading)
        fail("'...' stands for leading dimensions and comes first");
      take();
      type.leading = true;
    });
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
        failUnclosed(open);
      failed = true;
      return statements;
    }
    failed = false; // errors inside were reported; what follows the block is read afresh
    return statements;
  }

  void failUnclosed(Place open) {
    diagnostics.error(at().place, "expected '}' before the end of the file",
                      {{open, "to match this '{'"}});
    failed = true;
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

  /// Takes the statement's first word.
  Statement begin(Statement::Kind kind) {
    Statement statement;
    statement.kind = kind;
    statement.place = take().place;
    return statement;
  }

  Statement parseStatement() {
    using Kind = Statement::Kind;
    const Token &token = at();
    if (token.isName("let"))
      return parseLet();
    if (token.isName("for"))
      return parseFor();
    if (token.isName("if"))
      return parseIf();
    if (token.isName("topology"))
      return parseTopology();
    if (token.isName("input") || token.isName("output"))
      return parsePort(token.isName("input"));
    Statement statement;
    statement.kind = Kind::Evaluate;
    statement.place = token.place;
    if (token.isName("repeat")) {
      statement = begin(Kind::Repeat);
      statement.value = parseExpression();
      statement.body = parseBlock("the statements to repeat");
    } else if (token.isName("return")) {
      statement = begin(Kind::Return);
      statement.value = parseExpression();
    } else if (token.isName("layer") || token.isName("model") || token.isName("use")) {
      fail("'" + token.text +
           "' starts a definition, which cannot stand inside another one (is a '}' missing?)");
    } else if (token.kind == TokenKind::Name &&
               llvm::is_contained({"=", "+=", "-=", "*=", "/="}, at(1).text)) {
      statement.kind = Kind::Assign;
      statement.name = expectName("a name");
      llvm::StringRef sign = take().text;
      statement.sign = sign.size() == 2 ? sign[0] : 0;
      statement.value = parseExpression();
    } else {
      statement.value = parseExpression();
    }
    return statement;
  }

  Statement parsePort(bool isInput) {
    Statement statement = begin(isInput ? Statement::Kind::Input : Statement::Kind::Output);
    const std::string what = isInput ? "input" : "output";
    statement.place = at().place;
    statement.name = expectName("the name of the " + what);
    if (isInput)
      expect(":", "and the type of the input");
    else
      expect("=", "and the value of output '" + statement.name + "'");
    if (!failed && isInput)
      statement.type = parseType();
    else
      statement.value = parseExpression();
    return statement;
  }

  Pattern parsePattern(bool mayBeList) {
    Pattern pattern;
    pattern.place = at().place;
    bool bracket = mayBeList && accept("[");
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
    pattern.isList = bracket || pattern.entries.size() > 1;
    if (llvm::count_if(pattern.entries, [](const auto &entry) { return entry.rest; }) > 1)
      failAt(pattern.place, "only one name can take the rest ('...')");
    return pattern;
  }

  Statement parseLet() {
    Statement statement = begin(Statement::Kind::Let);
    statement.pattern = parsePattern(true);
    expect("=", "and a value after the name");
    statement.value = parseExpression();
    return statement;
  }

  Statement parseFor() {
    Statement statement = begin(Statement::Kind::For);
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
    Statement statement = begin(Statement::Kind::If);
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
    Statement statement = begin(Statement::Kind::Topology);
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
    if (!failed && !accept("}"))
      failUnclosed(open);
    return statement;
  }

  FileSyntax result;
};

} // namespace

FileSyntax parse(uint32_t file, Diagnostics &diagnostics) {
  return Parser(file, diagnostics).run();
}

ExpressionPtr parseExpressionAlone(uint32_t file, Diagnostics &diagnostics) {
  return Parser(file, diagnostics).runExpression();
}

} // namespace hybrid::dsl
