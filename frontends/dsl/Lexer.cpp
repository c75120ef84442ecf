//===- Lexer.cpp - text to tokens ---------------------------------------------===//
#include "frontends/dsl/Lexer.h"
#include "llvm/ADT/StringExtras.h"

namespace hybrid::dsl {
namespace {

/// What other languages, and programs that set type, write here; empty: something else.
std::string explainForeign(llvm::StringRef text) {
  struct Foreign {
    llvm::StringRef bytes, explanation;
  };
  static constexpr Foreign known[] = {
      {"#", "'#' means nothing in this language: a comment begins with '//'"},
      {"'", "a single quote means nothing in this language: a string is written \"...\""},
      {"\xe2\x80\x98", "a typographic quote: a string is written with straight ones, \"...\""},
      {"\xe2\x80\x99", "a typographic quote: a string is written with straight ones, \"...\""},
      {"\xe2\x80\x9c", "a typographic quote: a string is written with straight ones, \"...\""},
      {"\xe2\x80\x9d", "a typographic quote: a string is written with straight ones, \"...\""},
      {"\xe2\x80\x9e", "a typographic quote: a string is written with straight ones, \"...\""},
      {"\xe2\x80\x93", "a dash: a minus is written '-'"},
      {"\xe2\x80\x94", "a dash: a minus is written '-'"},
      {"\xe2\x88\x92", "a typographic minus: it is written '-'"},
      {"\xc3\x97", "a multiplication sign: it is written '*'"},
      {"\xc2\xa0", "a no-break space: expected an ordinary one"},
      {"\xe2\x80\xaf", "a no-break space: expected an ordinary one"},
      {"\xe3\x80\x80", "a wide space: expected an ordinary one"},
      {"\v", "a vertical tab: expected a space, a tab or the end of the line"},
      {"\f", "a form feed: expected a space, a tab or the end of the line"},
      {"\xe2\x80\x8b", "a space of no width: remove it"},
      {"\xef\xbb\xbf", "a byte order mark in the middle of a file: remove it"},
      {"&", "'&' means nothing in this language: 'and' is written as a word"},
      {"|", "'|' means nothing in this language: 'or' is written as a word"},
      {"!", "'!' means nothing in this language: 'not' is written as a word"},
      {"@", "'@' means nothing in this language: a product of matrices is matmul(a, b)"},
  };
  for (const Foreign &each : known)
    if (text.starts_with(each.bytes))
      return each.explanation.str();
  return "";
}

class Lexer {
public:
  Lexer(uint32_t file, Diagnostics &diagnostics)
      : file(file), text(diagnostics.sources.file(file).text), diagnostics(diagnostics) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    if (text.starts_with("\xef\xbb\xbf")) // a byte order mark, which some editors write
      position = 3;
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
      diagnostics.error(place(0), "this file is UTF-16: save it as UTF-8");
      position = text.size();
    } else if (text.contains('\0')) {
      diagnostics.error(place(0), "this file is no text: it holds zero bytes");
      position = text.size();
    }
    if (text.contains('\r') && !text.contains('\n')) { // else its first comment would be all of it
      diagnostics.error(place(0), "the lines of this file end with carriage returns alone: save it "
                                  "with line feeds");
      position = text.size();
    }
    while (true) {
      bool newline = skipBlank() || tokens.empty();
      Token token = next();
      token.newline = newline;
      // Error tokens stay: the parser knows that there the fault was reported.
      lastEnd = position;
      tokens.push_back(token);
      if (token.kind == TokenKind::Error && diagnostics.full())
        break;
      if (token.kind == TokenKind::End)
        return tokens;
    }
    Token end;
    end.place = place(text.size());
    end.newline = true;
    tokens.push_back(end);
    return tokens;
  }

private:
  Place place(size_t offset) const { return {file, static_cast<uint32_t>(offset)}; }
  char at(size_t offset) const { return offset < text.size() ? text[offset] : '\0'; }

  /// Skips spaces and comments; whether a line ended.
  bool skipBlank() {
    bool newline = false;
    while (position < text.size()) {
      char c = text[position];
      if (c == '\n')
        newline = true;
      else if (c == '/' && at(position + 1) == '/') {
        position = std::min(text.find('\n', position), text.size());
        continue;
      } else if (c != ' ' && c != '\t' && c != '\r')
        break;
      ++position;
    }
    return newline;
  }

  Token make(TokenKind kind, size_t start) {
    Token token;
    token.kind = kind;
    token.place = place(start);
    token.text = text.slice(start, position);
    return token;
  }

  Token next() {
    size_t start = position;
    if (position >= text.size()) {
      // The end is shown right after the last token, where there is something to see.
      Token token = make(TokenKind::End, start);
      token.place = place(lastEnd);
      return token;
    }
    char c = text[position];
    if (llvm::isAlpha(c) || c == '_') {
      while (llvm::isAlnum(at(position)) || at(position) == '_')
        ++position;
      return make(TokenKind::Name, start);
    }
    if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(at(position + 1))))
      return number(start);
    if (c == '"')
      return string(start);
    for (llvm::StringRef symbol :
         {"...", "->", "=>", "+=", "-=", "*=", "/=", "==", "!=", "<=", ">=", ".."})
      if (text.substr(position).starts_with(symbol)) {
        position += symbol.size();
        return make(TokenKind::Punctuation, start);
      }
    ++position;
    if (llvm::StringRef("()[]{},:;=+-*/%<>.").contains(c))
      return make(TokenKind::Punctuation, start);
    // One message for a run of bytes that mean nothing (a binary file has many).
    while (position < text.size() && !llvm::isAlnum(text[position]) &&
           !llvm::isSpace(text[position]) &&
           !llvm::StringRef("()[]{},:;=+-*/%<>.\"_").contains(text[position]))
      ++position;
    if (std::string foreign = explainForeign(text.substr(start)); !foreign.empty()) {
      diagnostics.error(place(start), foreign);
      if (c == '#') // what follows is meant for people
        position = std::min(text.find('\n', position), text.size());
    } else if (llvm::isPrint(c))
      diagnostics.error(place(start), "'" + llvm::Twine(llvm::StringRef(&c, 1)) +
                                          "' means nothing in this language");
    else
      diagnostics.error(place(start), "unexpected byte 0x" +
                                          llvm::utohexstr(static_cast<unsigned char>(c)) +
                                          ": expected text");
    return make(TokenKind::Error, start);
  }

  Token number(size_t start) {
    bool isFloat = false;
    while (llvm::isDigit(at(position)) || at(position) == '_')
      ++position;
    // `0..4` is a range, not a number with two points.
    if (at(position) == '.' && at(position + 1) != '.' && !llvm::isAlpha(at(position + 1))) {
      isFloat = true;
      ++position;
      while (llvm::isDigit(at(position)))
        ++position;
    }
    if (at(position) == 'e' || at(position) == 'E') {
      size_t exponent = position + 1;
      if (at(exponent) == '+' || at(exponent) == '-')
        ++exponent;
      if (llvm::isDigit(at(exponent))) {
        isFloat = true;
        position = exponent;
        while (llvm::isDigit(at(position)))
          ++position;
      }
    }
    if (llvm::isAlpha(at(position))) {
      while (llvm::isAlnum(at(position)))
        ++position;
      diagnostics.error(place(start), "'" + text.slice(start, position) + "' is not a number");
      return make(TokenKind::Error, start);
    }
    Token token = make(isFloat ? TokenKind::Float : TokenKind::Integer, start);
    std::string digits;
    for (char c : token.text)
      if (c != '_')
        digits += c;
    if (isFloat ? llvm::StringRef(digits).getAsDouble(token.number)
                : llvm::StringRef(digits).getAsInteger(10, token.integer)) {
      diagnostics.error(place(start), "number '" + token.text + "' is too large");
      return make(TokenKind::Error, start);
    }
    if (!isFloat)
      token.number = static_cast<double>(token.integer);
    return token;
  }

  Token string(size_t start) {
    std::string value;
    ++position;
    while (position < text.size() && text[position] != '"' && text[position] != '\n') {
      char c = text[position++];
      if (c == '\\' && position < text.size()) {
        char escape = text[position++];
        c = escape == 'n' ? '\n' : escape == 't' ? '\t' : escape;
      }
      value += c;
    }
    if (at(position) != '"') {
      diagnostics.error(place(start), "this string does not end on its line: expected '\"'");
      return make(TokenKind::Error, start);
    }
    ++position;
    Token token = make(TokenKind::String, start);
    token.string = std::move(value);
    return token;
  }

  uint32_t file;
  llvm::StringRef text;
  Diagnostics &diagnostics;
  size_t position = 0, lastEnd = 0;
};

} // namespace

std::vector<Token> lex(uint32_t file, Diagnostics &diagnostics) {
  return Lexer(file, diagnostics).run();
}

} // namespace hybrid::dsl
