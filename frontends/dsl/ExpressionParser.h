//===- ExpressionParser.h - tokens to expressions ------------------------------===//
//
// The part of the parser that reads tokens and expressions; Parser.cpp adds statements and
// definitions.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "frontends/dsl/AST.h"
#include "frontends/dsl/Lexer.h"

namespace hybrid::dsl {

/// Of an operator between two values: higher ones bind closer; 0 for anything else.
int precedenceOf(const Token &token);

/// Words that no name can be.
bool isReserved(llvm::StringRef word);

class ExpressionParser {
protected:
  ExpressionParser(uint32_t file, Diagnostics &diagnostics)
      : diagnostics(diagnostics), tokens(lex(file, diagnostics)) {}

  static constexpr int deepest = 200; // nesting of expressions and blocks

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

  /// What stands from here to the bracket `closing`, between commas. Lines do not count in it.
  void parseList(llvm::StringRef closing, llvm::function_ref<void()> parseElement) {
    ++parentheses;
    while (!failed && !at().is(closing)) {
      parseElement();
      if (!accept(","))
        break;
    }
    --parentheses;
  }

  std::string expectName(const llvm::Twine &what) {
    if (at().kind != TokenKind::Name || isReserved(at().text)) {
      fail("expected " + what + ", found " + found());
      return "";
    }
    return take().text.str();
  }

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
  ExpressionPtr parseExpression();
  ExpressionPtr parseBinary(int minimum);
  ExpressionPtr parseUnary();
  void parseArguments(Expression &call, llvm::StringRef what);
  ExpressionPtr parsePostfix();
  Subscript parseSubscript();
  ExpressionPtr parsePrimary();

  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t position = 0;
  int parentheses = 0, depth = 0;
  bool failed = false;
};

} // namespace hybrid::dsl
