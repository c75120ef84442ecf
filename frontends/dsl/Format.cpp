//===- Format.cpp - a file in the form that all files have ---------------------===//
#include "frontends/dsl/Format.h"
#include "frontends/dsl/LineLayout.h"
#include "frontends/dsl/Parser.h"
#include "llvm/ADT/DenseSet.h"

namespace hybrid::dsl {
namespace {

/// Where statements and definitions begin, which only the parser knows: lines do not end statements
/// in brackets.
class Starts {
public:
  explicit Starts(const FileSyntax &file) {
    for (const Use &use : file.uses)
      starts.insert(use.place.offset);
    for (const auto &definition : file.definitions) {
      names.insert(definition->place.offset);
      add(definition->body);
    }
  }

  bool contains(const FormatToken &token, const FormatToken &next) const {
    return starts.contains(token.offset) || names.contains(next.offset);
  }

private:
  void add(const std::vector<Statement> &statements) {
    using Kind = Statement::Kind;
    for (const Statement &statement : statements) {
      const bool isPort = statement.kind == Kind::Input || statement.kind == Kind::Output;
      (isPort ? names : starts).insert(statement.place.offset);
      add(statement.body);
      add(statement.otherwise);
      for (const Statement::Letter &letter : statement.letters) {
        starts.insert(letter.place.offset);
        add(letter.body);
      }
    }
  }

  llvm::DenseSet<uint32_t> starts, names; // names: what begins with the token in front of them
};

/// What stands between two tokens.
void readTrivia(llvm::StringRef text, bool isFirst, FormatToken &token) {
  int lines = isFirst ? 1 : 0; // since the token or the comment before
  text.consume_front("\xef\xbb\xbf");
  while (!text.empty()) {
    if (text.starts_with("//")) {
      llvm::StringRef comment = text.take_until([](char c) { return c == '\n'; });
      token.comments.push_back({comment.rtrim(), lines > 0, lines > 1});
      text = text.substr(comment.size());
      lines = 0;
      continue;
    }
    lines += text.front() == '\n';
    text = text.drop_front();
  }
  token.blankBefore = lines > 1;
}

/// The tokens that are written: not `;`, nor a comma in front of a closing bracket.
std::vector<FormatToken> readTokens(llvm::StringRef text, llvm::ArrayRef<Token> tokens) {
  std::vector<FormatToken> result;
  FormatToken next;
  const char *end = text.data();
  for (const Token &token : tokens) {
    FormatToken read;
    readTrivia({end, static_cast<size_t>(token.text.data() - end)}, end == text.data(), read);
    end = token.text.data() + token.text.size();
    next.comments.insert(next.comments.end(), read.comments.begin(), read.comments.end());
    next.newline |= token.newline;
    next.blankBefore |= read.blankBefore;
    if (token.is(";"))
      continue;
    next.text = token.text;
    next.kind = token.kind;
    next.offset = static_cast<uint32_t>(token.text.data() - text.data());
    if ((token.is(")") || token.is("]")) && result.back().text == ",") {
      FormatToken comma = std::move(result.back());
      result.pop_back();
      next.comments.insert(next.comments.begin(), comma.comments.begin(), comma.comments.end());
      next.newline |= comma.newline;
    }
    result.push_back(std::exchange(next, {}));
  }
  return result;
}

/// A statement or definition: its tokens, up to the `{` where it has a block, then what is in that.
/// What follows a block, `} else {`, is the head of the next part.
struct Part {
  size_t begin = 0, end = 0; // of the head
  bool hasBlock = false;
  std::vector<std::vector<Part>> body; // a statement each
  size_t close = 0;                    // the `}`
};
using Item = std::vector<Part>;

class Formatter {
public:
  Formatter(llvm::StringRef text, llvm::ArrayRef<Token> tokens, const FileSyntax &syntax)
      : tokens(readTokens(text, tokens)), starts(syntax) {}

  std::string run() {
    size_t at = 0;
    const std::vector<Item> items = readItems(at);
    writeItems(items, 0);
    writeComments(tokens.back(), 0, !lines.empty());
    return textOf();
  }

private:
  const FormatToken &token(size_t index) const {
    return tokens[std::min(index, tokens.size() - 1)];
  }
  bool isEnd(size_t index) const { return token(index).kind == TokenKind::End; }

  // ---- reading ----

  std::vector<Item> readItems(size_t &at) {
    std::vector<Item> items;
    while (!isEnd(at) && token(at).text != "}") {
      Item item;
      item.push_back(readPart(at, false));
      while (item.back().hasBlock && token(at + 1).text == "else")
        item.push_back(readPart(at, true));
      at += item.back().hasBlock; // the `}`
      items.push_back(std::move(item));
    }
    return items;
  }

  /// `isElse`: it begins at a `}`. Stops at the `}` of its block.
  Part readPart(size_t &at, bool isElse) {
    Part part;
    part.begin = at++;
    while (!isEnd(at) && token(at).text != "{" && token(at).text != "}" &&
           (isElse || !starts.contains(token(at), token(at + 1))))
      ++at;
    part.hasBlock = token(at).text == "{";
    part.end = at += part.hasBlock;
    if (part.hasBlock) {
      part.body = readItems(at);
      part.close = at;
    }
    return part;
  }

  // ---- writing ----

  void writeItems(llvm::ArrayRef<Item> items, size_t indent) {
    for (const Item &item : items) {
      // A block does not begin with an empty line.
      const bool mayBeBlank = &item != items.data() || indent == 0;
      const FormatToken &first = tokens[item.front().begin];
      writeComments(first, indent, mayBeBlank && !lines.empty());
      if (first.blankBefore && !lines.empty() && (mayBeBlank || !first.comments.empty()))
        lines.push_back({});
      writeItem(item, indent);
    }
  }

  /// Comments in front of a token, each on its own line, but for one behind the line before.
  void writeComments(const FormatToken &token, size_t indent, bool mayBeBlank) {
    for (const Comment &comment : token.comments) {
      if (!comment.ownLine && !lines.empty() && lines.back().comment.empty() &&
          !lines.back().isComment) {
        lines.back().comment = comment.text.str();
      } else {
        if (comment.blankBefore && mayBeBlank)
          lines.push_back({});
        lines.push_back({std::string(indent, ' ') + comment.text.str(), "", true});
      }
      mayBeBlank = true;
    }
  }

  void writeItem(const Item &item, size_t indent) {
    const Part &last = item.back();
    if (last.hasBlock && isOnOneLine(item)) {
      std::string line = std::string(indent, ' ') + onOneLine(item);
      if (columnsOf(line) <= lineWidth) {
        lines.push_back({std::move(line), "", false});
        return;
      }
    }
    for (const Part &part : item) {
      auto head = llvm::ArrayRef(tokens).slice(part.begin, part.end - part.begin);
      llvm::append_range(lines, layOut(head, indent));
      writeItems(part.body, indent + 2);
      if (part.hasBlock && &part == &last)
        closeBlock(part, indent);
      else if (part.hasBlock)
        writeComments(tokens[part.close], indent + 2, true);
    }
  }

  void closeBlock(const Part &part, size_t indent) {
    writeComments(tokens[part.close], indent + 2, !part.body.empty());
    lines.push_back({std::string(indent, ' ') + "}", "", false});
  }

  /// Whether the author wrote it on one line.
  bool isOnOneLine(const Item &item) const {
    for (size_t i = item.front().begin + 1; i <= item.back().close; ++i)
      if (tokens[i].newline || !tokens[i].comments.empty())
        return false;
    return true;
  }

  std::string onOneLine(const Item &item) const {
    std::string line;
    for (const Part &part : item) {
      line += dsl::onOneLine(llvm::ArrayRef(tokens).slice(part.begin, part.end - part.begin));
      for (const Item &each : part.body)
        line += (&each == part.body.data() ? " " : "; ") + onOneLine(each);
      if (part.hasBlock)
        line += &part == &item.back() ? " }" : " ";
    }
    return line;
  }

  /// Comments behind the code of lines that follow each other stand under each other.
  std::string textOf() {
    std::string text;
    for (size_t i = 0, group = 0, column = 0; i < lines.size(); ++i) {
      if (i >= group) {
        column = 0;
        for (group = i; group < lines.size() && !lines[group].comment.empty(); ++group)
          column = std::max(column, columnsOf(lines[group].code));
        group = std::max(group, i + 1);
      }
      text += lines[i].code;
      if (!lines[i].comment.empty())
        text += std::string(column - columnsOf(lines[i].code) + 2, ' ') + lines[i].comment;
      text += '\n';
    }
    return text;
  }

  std::vector<FormatToken> tokens;
  Starts starts;
  std::vector<OutputLine> lines;
};

/// Whether both say the same: the same tokens and comments.
bool sayTheSame(llvm::ArrayRef<FormatToken> one, llvm::ArrayRef<FormatToken> other) {
  auto comments = [](llvm::ArrayRef<FormatToken> tokens) {
    std::vector<llvm::StringRef> all;
    for (const FormatToken &token : tokens)
      for (const Comment &comment : token.comments)
        all.push_back(comment.text);
    return all;
  };
  auto same = [](const FormatToken &a, const FormatToken &b) { return a.text == b.text; };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), same) &&
         comments(one) == comments(other);
}

} // namespace

std::optional<std::string> format(llvm::SourceMgr &manager, mlir::MLIRContext &context) {
  SourceFiles sources(manager);
  Diagnostics diagnostics(context, sources);
  const uint32_t file = sources.addMain();
  const FileSyntax syntax = parse(file, diagnostics);
  if (diagnostics.failed())
    return std::nullopt;
  const std::vector<Token> tokens = lex(file, diagnostics);
  const llvm::StringRef text = sources.file(file).text;
  std::string formatted = Formatter(text, tokens, syntax).run();
  const uint32_t again = sources.addText("formatted", formatted);
  const llvm::StringRef copy = sources.file(again).text;
  const std::vector<Token> copied = lex(again, diagnostics);
  if (diagnostics.failed() || !sayTheSame(readTokens(text, tokens), readTokens(copy, copied))) {
    diagnostics.error({file, 0}, "internal error: formatting would change what this file says, "
                                 "please report");
    return std::nullopt;
  }
  return formatted;
}

} // namespace hybrid::dsl
