//===- ExpressionParser.cpp - tokens to expressions ----------------------------===//
#include "frontends/dsl/ExpressionParser.h"
#include "llvm/ADT/StringSwitch.h"

namespace hybrid::dsl {

int precedenceOf(const Token &token) {
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

bool isReserved(llvm::StringRef word) {
  static const llvm::StringRef words[] = {"let",    "for", "in", "repeat", "if",   "else",  "then",
                                          "return", "and", "or", "not",    "true", "false", "with"};
  return llvm::is_contained(words, word);
}

ExpressionPtr ExpressionParser::parseExpression() {
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

ExpressionPtr ExpressionParser::parseBinary(int minimum) {
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

ExpressionPtr ExpressionParser::parseUnary() {
  if (at().is("-") || at().isName("not")) {
    if (++depth > deepest) {
      fail("this expression is nested too deeply");
      --depth;
      return poison();
    }
    Token sign = take();
    ExpressionPtr unary = node(Expression::Kind::Unary, sign.place);
    unary->text = sign.text.str();
    // `not a == b` is not (a == b), `-a * b` is (-a) * b.
    unary->children.push_back(sign.text == "not" ? parseBinary(2) : parseUnary());
    --depth;
    return unary;
  }
  return parsePostfix();
}

void ExpressionParser::parseArguments(Expression &call, llvm::StringRef what) {
  Place open = tokens[position - 1].place;
  parseList(")", [&] {
    Argument argument;
    argument.place = at().place;
    if (at().kind == TokenKind::Name && at(1).is("=")) {
      argument.name = take().text.str();
      take();
    }
    argument.value = parseExpression();
    call.arguments.push_back(std::move(argument));
  });
  expectClosing(")", open, "after the arguments of " + what);
}

ExpressionPtr ExpressionParser::parsePostfix() {
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
      parseList("]", [&] { index->subscripts.push_back(parseSubscript()); });
      expectClosing("]", index->place, "after the index");
      expression = std::move(index);
    } else {
      break;
    }
  }
  return expression;
}

Subscript ExpressionParser::parseSubscript() {
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

ExpressionPtr ExpressionParser::parsePrimary() {
  using Kind = Expression::Kind;
  Token token = at();
  auto literal = [&](Kind kind) {
    ExpressionPtr value = node(kind, take().place);
    value->integer = token.kind == TokenKind::Name ? token.text == "true" : token.integer;
    value->number = token.number;
    value->text = token.string;
    return value;
  };
  switch (token.kind) {
  case TokenKind::Integer:
    return literal(Kind::Integer);
  case TokenKind::Float:
    return literal(Kind::Float);
  case TokenKind::String:
    return literal(Kind::String);
  case TokenKind::Name: {
    if (token.text == "true" || token.text == "false")
      return literal(Kind::Boolean);
    bool isOperator = token.text == "op" && at(1).is(".");
    if (isOperator) {
      take();
      take();
    }
    ExpressionPtr value = node(isOperator ? Kind::Operator : Kind::Name, token.place);
    value->text = expectName(isOperator ? "the name of an operator after 'op.'" : "a value");
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
    parseList("]", [&] { list->children.push_back(parseExpression()); });
    expectClosing("]", token.place, "after the list");
    return list;
  }
  fail("expected a value, found " + found());
  return poison();
}

} // namespace hybrid::dsl
