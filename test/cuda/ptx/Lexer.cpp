//===- Lexer.cpp - words of PTX ---------------------------------------------===//
#include "test/cuda/ptx/Lexer.h"
#include <algorithm>
#include <cctype>
#include <charconv>

namespace hybrid::ptx {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool beginsWord(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
static bool isOfWord(char c) { return beginsWord(c) || isDigit(c) || c == ':'; }

void Lexer::skipSpace() {
  while (!rest.empty()) {
    size_t count = 0;
    if (std::isspace(static_cast<unsigned char>(rest[0])))
      count = 1;
    else if (rest.starts_with("//"))
      count = std::min(rest.find('\n'), rest.size());
    else if (rest.starts_with("/*"))
      count = std::min(rest.find("*/"), rest.size() - 2) + 2;
    if (count == 0)
      return;
    line +=
        static_cast<int>(std::count(rest.begin(), rest.begin() + static_cast<long>(count), '\n'));
    rest.remove_prefix(count);
  }
}

Token Lexer::number() {
  Token token{Token::Kind::Integer, {}, 0, line};
  int base = 10;
  size_t begin = 0, count = 0;
  if (rest.starts_with("0f") || rest.starts_with("0F") || rest.starts_with("0d") ||
      rest.starts_with("0D")) {
    token.kind = Token::Kind::Float;
    base = 16, begin = 2, count = std::tolower(rest[1]) == 'f' ? 8 : 16;
  } else {
    if (rest.starts_with("0x") || rest.starts_with("0X"))
      base = 16, begin = 2;
    while (begin + count < rest.size() &&
           std::isxdigit(static_cast<unsigned char>(rest[begin + count])))
      ++count;
  }
  count = std::min(count, rest.size() - begin);
  std::from_chars(rest.data() + begin, rest.data() + begin + count, token.bits, base);
  count += begin;
  if (count < rest.size() && rest[count] == 'U') // unsigned
    ++count;
  token.text = rest.substr(0, count);
  rest.remove_prefix(count);
  return token;
}

Token Lexer::next() {
  skipSpace();
  Token token{Token::Kind::End, {}, 0, line};
  if (rest.empty())
    return token;
  if (isDigit(rest[0]))
    return number();
  size_t count = 1;
  if (rest[0] == '"') {
    token.kind = Token::Kind::Text;
    count = std::min(rest.find('"', 1), rest.size() - 1) + 1;
  } else if (beginsWord(rest[0])) {
    token.kind = Token::Kind::Word;
    while (count < rest.size() && isOfWord(rest[count]))
      ++count;
    // A label's colon is no part of its name; the two of "::" are.
    while (count > 1 && rest[count - 1] == ':')
      --count;
  } else {
    token.kind = Token::Kind::Sign;
  }
  token.text = rest.substr(0, count);
  rest.remove_prefix(count);
  return token;
}

} // namespace hybrid::ptx
