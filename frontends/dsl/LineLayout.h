//===- LineLayout.h - where a statement is broken into lines -------------------===//
#pragma once
#include "frontends/dsl/Lexer.h"
#include <limits>
#include <string>
#include <vector>

namespace hybrid::dsl {

struct Comment {
  llvm::StringRef text;
  bool ownLine = false, blankBefore = false; ///< nothing, or an empty line, stands in front of it
};

/// A token that is written, with what stands between it and the one before.
struct FormatToken {
  llvm::StringRef text;
  TokenKind kind = TokenKind::End;
  uint32_t offset = 0;
  bool newline = false, blankBefore = false;
  std::vector<Comment> comments;
};

struct OutputLine {
  std::string code, comment; ///< `comment` stands behind the code
  bool isComment = false;    ///< `code` is one
};

size_t columnsOf(llvm::StringRef text);

/// The tokens of a statement, or of its head up to the `{`, as lines that begin in column `indent`.
std::vector<OutputLine> layOut(llvm::ArrayRef<FormatToken> tokens, size_t indent);
/// The same as one line, without its indentation.
std::string onOneLine(llvm::ArrayRef<FormatToken> tokens);

} // namespace hybrid::dsl
