//===- Parser.cpp - tokens to syntax -------------------------------------------===//
//
// Recursive descent. A statement ends at `;`, `}` or the end of its line; inside parentheses and
// brackets lines do not count.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/Parser.h"
#include "frontends/dsl/Lexer.h"
#include "llvm/ADT/StringSwitch.h"

namespace hybrid::dsl {
namespace {

constexpr int deepest = 200; // nesting of expressions and blocks

class Parser {
public:
  Parser(uint32_t file, Diagnostics &diagnostics)
      : diagnostics(diagnostics), tokens(lex(file, diagnostics)) {
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
  // ---- tokens ----

  const Token &at(size_t ahead = 0) const {
    return tokens[std::min(position + ahead, tokens.size() - 1)];
  }
  Token take() { return tokens[position + 1 < tokens.size() ? position++ : position]; }

  std::string found() const {
    if (at().kind == TokenKind::End)
      return "the end of the file";
    return "'" + at().text.str() + "'";
  }

  /// Reports once; everything up to the next recovery point is silent.
  void fail(const llvm::Twine &message) { failAt(at().place, message); }
  void failAt(Place place, const llvm::Twine &message,
              llvm::ArrayRef<Diagnostics::Note> notes = {}) {
    bool reported = at().kind == TokenKind::Error ||
                    (position > 0 && tokens[position - 1].kind == TokenKind::Error);
    if (!failed && !reported)
      diagnostics.error(place, message, notes);
    failed = true;
  }

  bool accept(llvm::StringRef punctuation) {
    if (!at().is(punctuation))
      return false;
    take();
    return true;
  }

  void expect(llvm::StringRef punctuation, const llvm::Twine &where) {
    if (!accept(punctuation))
      fail("expected '" + punctuation + "' " + where + ", found " + found());
  }

  void expectWord(llvm::StringRef word, const llvm::Twine &message) {
    if (at().isName(word))
      take();
    else
      fail(message);
  }

  /// The bracket that closes the one at `open`.
  void expectClosing(llvm::StringRef bracket, Place open, const llvm::Twine &where) {
    if (!accept(bracket))
      failAt(at().place, "expected '" + bracket + "' " + where + ", found " + found(),
             {{open, "to match what is opened here"}});
  }

  std::string expectName(const llvm::Twine &what) {
    static const llvm::StringRef reserved[] = {"let",  "for",  "in",     "repeat", "if",
                                               "else", "then", "return", "and",    "or",
                                               "not",  "true", "false",  "with"};
    if (at().kind != TokenKind::Name || llvm::is_contained(reserved, at().text)) {
      fail("expected " + what + ", found " + found());
      return "";
    }
    return take().text.str();
  }

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

  // ---- expressions ----

  ExpressionPtr node(Expression::Kind kind, Place place) {
    auto expression = std::make_unique<Expression>();
    expression->kind = kind;
    expression->place = place;
    return expression;
  }

  ExpressionPtr poison() { return node(Expression::Kind::Boolean, at().place); }

  /// Whether the next token may continue an expression: not from the next line, outside of
  /// parentheses.
  bool continues() const { return parentheses > 0 || !at().newline; }

  ExpressionPtr parseExpression() {
    if (failed)
      return poison();
    if (++depth > deepest) {
      fail("this expression is nested too deeply");
      --depth;
      return poison();
    }
    ExpressionPtr expression;
    if (at().isName("if")) {
      expression = node(Expression::Kind::Conditional, take().place);
      expression->children.push_back(parseExpression());
      expectWord("then", "expected 'then', found " + found());
      expression->children.push_back(parseExpression());
      expectWord("else", "expected 'else': a condition that gives a value needs both sides");
      expression->children.push_back(parseExpression());
    } else {
      expression = parseBinary(0);
    }
    --depth;
    return expression;
  }

  static int precedenceOf(const Token &token) {
    if (token.isName("or"))
      return 1;
    if (token.isName("and"))
      return 2;
    if (token.kind != TokenKind::Punctuation)
      return 0;
    return llvm::StringSwitch<int>(token.text)
        .Cases({"==", "!=", "<", "<=", ">", ">="}, 3)
        .Cases({"+", "-"}, 4)
        .Cases({"*", "/", "%"}, 5)
        .Default(0);
  }

  ExpressionPtr parseBinary(int minimum) {
    ExpressionPtr left = parseUnary();
    for (int chain = 0; !failed && continues(); ++chain) {
      int precedence = precedenceOf(at());
      if (precedence == 0 || precedence <= minimum)
        break;
      // A long sum is a tree as deep as it is long.
      if (chain > deepest) {
        fail("this expression has too many parts");
        break;
      }
      Token sign = take();
      ExpressionPtr binary = node(Expression::Kind::Binary, sign.place);
      binary->text = sign.text.str();
      binary->children.push_back(std::move(left));
      binary->children.push_back(parseBinary(precedence));
      left = std::move(binary);
    }
    return left;
  }

  ExpressionPtr parseUnary() {
    if (at().is("-") || at().isName("not")) {
      if (++depth > deepest) {
        fail("this expression is nested too deeply");
        --depth;
        return poison();
      }
      Token sign = take();
      ExpressionPtr unary = node(Expression::Kind::Unary, sign.place);
      unary->text = sign.text.str();
      unary->children.push_back(parseUnary());
      --depth;
      return unary;
    }
    return parsePostfix();
  }

  void parseArguments(Expression &call, llvm::StringRef what) {
    Place open = tokens[position - 1].place;
    ++parentheses;
    while (!failed && !at().is(")")) {
      Argument argument;
      argument.place = at().place;
      if (at().kind == TokenKind::Name && at(1).is("=")) {
        argument.name = take().text.str();
        take();
      }
      argument.value = parseExpression();
      call.arguments.push_back(std::move(argument));
      if (!accept(","))
        break;
    }
    --parentheses;
    expectClosing(")", open, "after the arguments of " + what);
  }

  ExpressionPtr parsePostfix() {
    ExpressionPtr expression = parsePrimary();
    for (int chain = 0; !failed && continues(); ++chain) {
      if (chain > deepest) {
        fail("this expression is nested too deeply");
        break;
      }
      if (at().is("(")) {
        ExpressionPtr call = node(Expression::Kind::Call, expression->place);
        take();
        std::string callee = "'" + expression->text + "'";
        call->children.push_back(std::move(expression));
        parseArguments(*call, callee);
        expression = std::move(call);
      } else if (at().isName("with") && at(1).is("(")) {
        ExpressionPtr with = node(Expression::Kind::With, take().place);
        take();
        with->children.push_back(std::move(expression));
        parseArguments(*with, "'with'");
        expression = std::move(with);
      } else if (at().is("[")) {
        ExpressionPtr index = node(Expression::Kind::Index, take().place);
        index->children.push_back(std::move(expression));
        ++parentheses;
        while (!failed && !at().is("]")) {
          index->subscripts.push_back(parseSubscript());
          if (!accept(","))
            break;
        }
        --parentheses;
        expectClosing("]", index->place, "after the index");
        expression = std::move(index);
      } else {
        break;
      }
    }
    return expression;
  }

  Subscript parseSubscript() {
    Subscript subscript;
    subscript.place = at().place;
    if (accept("...")) {
      subscript.isEllipsis = true;
      return subscript;
    }
    if (!at().is(":"))
      subscript.start = parseExpression();
    if (accept(":")) {
      subscript.isRange = true;
      if (!at().is(",") && !at().is("]"))
        subscript.end = parseExpression();
    }
    return subscript;
  }

  ExpressionPtr parsePrimary() {
    Token token = at();
    switch (token.kind) {
    case TokenKind::Integer: {
      ExpressionPtr value = node(Expression::Kind::Integer, take().place);
      value->integer = token.integer;
      return value;
    }
    case TokenKind::Float: {
      ExpressionPtr value = node(Expression::Kind::Float, take().place);
      value->number = token.number;
      return value;
    }
    case TokenKind::String: {
      ExpressionPtr value = node(Expression::Kind::String, take().place);
      value->text = token.string;
      return value;
    }
    case TokenKind::Name: {
      if (token.text == "true" || token.text == "false") {
        ExpressionPtr value = node(Expression::Kind::Boolean, take().place);
        value->integer = token.text == "true";
        return value;
      }
      if (token.text == "op" && at(1).is(".")) {
        take();
        take();
        ExpressionPtr value = node(Expression::Kind::Operator, token.place);
        value->text = expectName("the name of an operator after 'op.'");
        return value;
      }
      ExpressionPtr value = node(Expression::Kind::Name, token.place);
      value->text = expectName("a value");
      return value;
    }
    default:
      break;
    }
    if (accept("(")) {
      ++parentheses;
      ExpressionPtr inner = parseExpression();
      --parentheses;
      expectClosing(")", token.place, "to close the parenthesis");
      return inner;
    }
    if (at().is("[")) {
      ExpressionPtr list = node(Expression::Kind::List, take().place);
      ++parentheses;
      while (!failed && !at().is("]")) {
        list->children.push_back(parseExpression());
        if (!accept(","))
          break;
      }
      --parentheses;
      expectClosing("]", token.place, "after the list");
      return list;
    }
    fail("expected a value, found " + found());
    return poison();
  }

  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  FileSyntax result;
  size_t position = 0;
  int parentheses = 0, depth = 0;
  bool failed = false;
};

} // namespace

FileSyntax parse(uint32_t file, Diagnostics &diagnostics) {
  return Parser(file, diagnostics).run();
}

} // namespace hybrid::dsl
