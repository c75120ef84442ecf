//===- Lexer.h - text to tokens -----------------------------------------------===//
#pragma once
#include "frontends/dsl/Diagnostics.h"

namespace hybrid::dsl {

enum class TokenKind : uint8_t { End, Name, Integer, Float, String, Punctuation, Error };

struct Token {
  TokenKind kind = TokenKind::End;
  Place place;
  llvm::StringRef text; // as written
  std::string string;   // value of a String, escapes resolved
  int64_t integer = 0;
  double number = 0;
  bool newline = false; // first token on its line

  bool is(llvm::StringRef punctuation) const {
    return kind == TokenKind::Punctuation && text == punctuation;
  }
  bool isName(llvm::StringRef name) const { return kind == TokenKind::Name && text == name; }
};

/// All tokens of a file, ending with End. Faults are reported and skipped.
std::vector<Token> lex(uint32_t file, Diagnostics &diagnostics);

} // namespace hybrid::dsl
