//===- LineLayout.cpp - where a statement is broken into lines -----------------===//
//
// Between two tokens a line may be broken behind a comma or an operator, before `then` and `else`,
// and behind an opening bracket; what follows stands under the first token of its kind. The
// author's breaks are tried first, then lines are filled, breaking what is outermost: first under
// the brackets, then indented where that leaves too little room.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/LineLayout.h"
#include "frontends/dsl/ExpressionParser.h"
#include "frontends/dsl/Format.h"
#include <algorithm>

namespace hybrid::dsl {
namespace {

constexpr size_t indentation = 2;

bool isOpening(llvm::StringRef text) { return text == "(" || text == "["; }
bool isClosing(llvm::StringRef text) { return text == ")" || text == "]"; }

/// Words behind which a value begins.
bool isKeyword(const FormatToken &token) {
  static const llvm::StringRef words[] = {"let",  "for",    "in",  "repeat", "if",  "else",
                                          "then", "return", "and", "or",     "not", "with"};
  return token.kind == TokenKind::Name && llvm::is_contained(words, token.text);
}

enum class BreakKind : uint8_t { Never, Inside, Opening, Closing };

/// The place in front of a token.
struct Gap {
  bool space = false; // where the line is not broken
  BreakKind kind = BreakKind::Never;
  int level = 0;     // Inside: lower levels are broken first
  size_t anchor = 0; // Inside: the token to stand under; Closing: the first one in the bracket
};

/// Reads a statement's tokens from left to right.
class GapReader {
public:
  explicit GapReader(llvm::ArrayRef<FormatToken> tokens) : tokens(tokens) {}

  std::vector<Gap> run() {
    std::vector<Gap> gaps(tokens.size());
    for (at = 0; at < tokens.size(); ++at) {
      if (at > 0) {
        readBreak(gaps[at]);
        gaps[at].space = hasSpace();
      }
      advance();
    }
    return gaps;
  }

private:
  struct Bracket {
    llvm::StringRef text;
    size_t first = 0, chain = 0; // the first token inside; where the current sum or product begins
    bool isShape = false;        // of a type, which is never broken
    std::vector<size_t> conditions; // of each `if` whose `else` is not read: where it begins
  };

  const FormatToken &token() const { return tokens[at]; }
  const FormatToken &previous() const { return tokens[at - 1]; }

  /// Whether the token ends a value, so that a bracket behind it is a call's or an index's.
  bool endsValue(size_t index) const {
    const FormatToken &each = tokens[index];
    if (each.kind == TokenKind::Punctuation)
      return isClosing(each.text);
    return !isKeyword(each);
  }
  bool isUnary(size_t index) const {
    return tokens[index].text == "-" && (index == 0 || !endsValue(index - 1));
  }
  int precedence(size_t index) const {
    Token token;
    token.kind = tokens[index].kind;
    token.text = tokens[index].text;
    return isUnary(index) ? 0 : precedenceOf(token);
  }

  bool hasSpace() const {
    llvm::StringRef text = token().text, before = previous().text;
    if (isClosing(text) || text == "," || isOpening(before))
      return false;
    if (text == "..." || (text == ":" && bracket().text == "["))
      return before == ",";
    if (text == ":" || text == "." || text == ".." || before == "." || before == "..")
      return false;
    if (before == ":")
      return bracket().text != "["; // a range, not a type
    if (isUnary(at - 1))
      return false;
    if (isOpening(text))
      return !endsValue(at - 1) || (at == 1 && before == "topology");
    return true;
  }

  bool beginsShape() const {
    if (at == 0 || token().text != "[" || bracket().text == "[")
      return false;
    const size_t before = at - (previous().text == "int" && at > 1 ? 2 : 1);
    return tokens[before].text == ":" || tokens[before].text == "->";
  }

  void readBreak(Gap &gap) const {
    if (bracket().isShape)
      return;
    int outside = static_cast<int>(brackets.size() - 1) * 16;
    auto inside = [&](int level, size_t anchor) {
      gap = {false, BreakKind::Inside, outside + level, anchor};
    };
    if (isOpening(previous().text)) {
      if (!isClosing(token().text))
        gap.kind = BreakKind::Opening;
    } else if (isClosing(token().text)) {
      gap.kind = BreakKind::Closing;
      gap.anchor = bracket().first;
    } else if (previous().text == "," && brackets.size() > 1) {
      inside(0, bracket().first);
    } else if ((token().text == "then" || token().text == "else") &&
               !bracket().conditions.empty()) {
      inside(1, bracket().conditions.back());
    } else if (int order = precedence(at - 1)) {
      inside(1 + order, bracket().chain);
    }
  }

  void advance() {
    llvm::StringRef text = token().text;
    if (isOpening(text))
      return brackets.push_back({text, at + 1, at + 1, beginsShape(), {}});
    if (isClosing(text)) {
      if (brackets.size() > 1)
        brackets.pop_back();
      return;
    }
    Bracket &in = brackets.back();
    if (token().kind == TokenKind::Name) {
      if (text == "if")
        in.conditions.push_back(at > 0 && previous().text == "else" ? lastCondition : at);
      if (text == "else" && !in.conditions.empty()) {
        lastCondition = in.conditions.back();
        in.conditions.pop_back();
      } else if (text == "else") {
        lastCondition = at + 1;
      }
    }
    if (text == "," || text == ":" || text == "=" || text == "->" || text == ".." ||
        (text.size() == 2 && text[1] == '=' && llvm::StringRef("+-*/").contains(text[0])) ||
        (isKeyword(token()) && precedence(at) == 0 && text != "not" && text != "with"))
      in.chain = at + 1;
  }

  const Bracket &bracket() const { return brackets.back(); }

  llvm::ArrayRef<FormatToken> tokens;
  size_t at = 0, lastCondition = 0;
  std::vector<Bracket> brackets{1};
};

/// Writes tokens one after another, broken where it is told.
class Writer {
public:
  Writer(llvm::ArrayRef<FormatToken> tokens, llvm::ArrayRef<Gap> gaps, size_t indent)
      : tokens(tokens), gaps(gaps), indent(indent), columns(tokens.size()), outer(tokens.size()),
        breaks(tokens.size()), lineIndent(indent), column(indent) {
    lines.push_back({std::string(indent, ' '), "", false});
  }

  /// Whether the line ends in front of the token. The bracket that was left for what is in it is
  /// closed on a line of its own.
  bool isBroken(size_t index) const {
    return breaks[index] || !tokens[index].comments.empty() ||
           (gaps[index].kind == BreakKind::Closing && isBroken(gaps[index].anchor));
  }

  void put(size_t index) {
    const FormatToken &token = tokens[index];
    if (index > 0 && isBroken(index)) {
      size_t start = startOf(index);
      for (const Comment &comment : token.comments)
        if (comment.ownLine || !lines.back().comment.empty())
          lines.push_back({std::string(start, ' ') + comment.text.str(), "", true});
        else
          lines.back().comment = comment.text.str();
      lines.push_back({std::string(start, ' '), "", false});
      column = lineIndent = start;
    } else if (index > 0 && gaps[index].space) {
      lines.back().code += ' ';
      ++column;
    }
    columns[index] = column;
    lines.back().code += token.text;
    column += columnsOf(token.text);
  }

  /// Where the token begins if the line is broken in front of it.
  size_t startOf(size_t index) {
    const Gap &gap = gaps[index];
    switch (gap.kind) {
    case BreakKind::Inside:
      return columns[gap.anchor];
    case BreakKind::Opening:
      outer[index] = lineIndent;
      return lineIndent + indentation;
    case BreakKind::Closing:
      return isBroken(gap.anchor) ? outer[gap.anchor] : columns[gap.anchor];
    case BreakKind::Never:
      break;
    }
    // Behind a comment; an `else` stands under the `if` that its `}` belongs to.
    return indent + (tokens.front().text == "}" ? 0 : 2 * indentation);
  }

  bool fits() const {
    return llvm::all_of(lines, [](const OutputLine &line) {
      return line.isComment || columnsOf(line.code) <= lineWidth;
    });
  }

  llvm::ArrayRef<FormatToken> tokens;
  llvm::ArrayRef<Gap> gaps;
  size_t indent;
  std::vector<size_t> columns, outer; // of tokens; of the line on which a bracket was left
  std::vector<bool> breaks;
  size_t lineIndent, column;
  std::vector<OutputLine> lines;
};

/// Breaks lines where they are full.
class Filler {
public:
  Filler(Writer &writer, bool mayIndent) : writer(writer), mayIndent(mayIndent) {}

  /// Writes the tokens from `begin` to `end`, behind which `tail` columns follow on the same line.
  void fill(size_t begin, size_t end, size_t tail) {
    bool hasComments = false;
    int level = std::numeric_limits<int>::max();
    for (size_t i = begin + 1; i < end; ++i) {
      hasComments |= !writer.tokens[i].comments.empty();
      if (writer.gaps[i].kind == BreakKind::Inside)
        level = std::min(level, writer.gaps[i].level);
    }
    if (mayIndent)
      indentBrackets(begin, end);
    const bool isFlat = !hasComments && startIn(begin) + widthOf(begin, end) + tail <= lineWidth;
    if (isFlat || level == std::numeric_limits<int>::max()) {
      for (size_t i = begin; i < end; ++i)
        writer.put(i);
      return;
    }
    size_t start = begin;
    for (size_t i = begin + 1; i <= end; ++i) {
      const bool isNext =
          i < end && writer.gaps[i].kind == BreakKind::Inside && writer.gaps[i].level == level;
      if (!isNext && i < end)
        continue;
      const size_t behind = i == end ? tail : 0;
      if (start > begin)
        writer.breaks[start] = startIn(start) + widthOf(start, i) + behind > lineWidth;
      fill(start, i, behind);
      start = i;
    }
  }

private:
  /// The column of a token that is written next without a break.
  size_t startIn(size_t index) const {
    return writer.column + (index > 0 && writer.gaps[index].space);
  }
  /// Of the tokens on one line.
  size_t widthOf(size_t begin, size_t end) const {
    size_t width = 0;
    for (size_t i = begin; i < end; ++i)
      width += columnsOf(writer.tokens[i].text) + (i > begin && writer.gaps[i].space);
    return width;
  }

  /// Leaves the first bracket of what does not fit if its parts are too wide to stand under it.
  void indentBrackets(size_t begin, size_t end) {
    size_t opening = begin + 1;
    while (opening < end && writer.gaps[opening].kind != BreakKind::Opening)
      ++opening;
    if (opening >= end || startIn(begin) + widthOf(begin, end) <= lineWidth)
      return;
    size_t widest = 0, start = opening, i = opening;
    for (int depth = 0; i < end; ++i) {
      llvm::StringRef text = writer.tokens[i].text;
      if (isClosing(text) && depth-- == 0)
        break;
      depth += isOpening(text);
      if (i > start && depth == 0 && text == ",") {
        widest = std::max(widest, widthOf(start, i + 1));
        start = i + 1;
      }
    }
    widest = std::max(widest, widthOf(start, i));
    const size_t column = startIn(begin) + widthOf(begin, opening);
    if (column + widest > lineWidth && writer.lineIndent + indentation < column)
      writer.breaks[opening] = true;
  }

  Writer &writer;
  bool mayIndent;
};

} // namespace

size_t columnsOf(llvm::StringRef text) {
  // Every byte of UTF-8 that begins a character.
  return static_cast<size_t>(
      llvm::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::vector<OutputLine> layOut(llvm::ArrayRef<FormatToken> tokens, size_t indent) {
  const std::vector<Gap> gaps = GapReader(tokens).run();
  Writer author(tokens, gaps, indent);
  for (size_t i = 1; i < tokens.size(); ++i)
    author.breaks[i] = tokens[i].newline &&
                       (gaps[i].kind == BreakKind::Inside || gaps[i].kind == BreakKind::Opening);
  for (size_t i = 0; i < tokens.size(); ++i)
    author.put(i);
  if (author.fits())
    return std::move(author.lines);
  std::vector<OutputLine> lines;
  for (bool mayIndent : {false, true}) {
    Writer writer(tokens, gaps, indent);
    Filler(writer, mayIndent).fill(0, tokens.size(), 0);
    const bool fits = writer.fits();
    if (fits || !mayIndent)
      lines = std::move(writer.lines);
    if (fits)
      break;
  }
  return lines;
}

std::string onOneLine(llvm::ArrayRef<FormatToken> tokens) {
  const std::vector<Gap> gaps = GapReader(tokens).run();
  std::string line;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (gaps[i].space)
      line += ' ';
    line += tokens[i].text;
  }
  return line;
}

} // namespace hybrid::dsl
