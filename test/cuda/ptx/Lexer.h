//===- Lexer.h - words of PTX -----------------------------------------------===//
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hybrid::ptx {

struct Token {
  enum class Kind : uint8_t { Word, Integer, Float, Text, Sign, End } kind = Kind::End;
  std::string_view text; ///< a word with its dots: "mov.u32", ".reg", "%tid.x"
  uint64_t bits = 0;     ///< of a number
  int line = 1;

  bool is(std::string_view what) const { return text == what && kind != Kind::Text; }
};

/// Takes a text apart; comments are left out. What is no word, number or text is a sign of one
/// character.
class Lexer {
public:
  explicit Lexer(std::string_view text) : rest(text) {}
  Token next();

private:
  void skipSpace();
  Token number();
  std::string_view rest;
  int line = 1;
};

} // namespace hybrid::ptx
