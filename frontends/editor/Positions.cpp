//===- Positions.cpp - an editor's positions and bytes of a text ---------------===//
#include "frontends/editor/Positions.h"
#include <algorithm>

namespace hybrid::editor {

/// How many units of UTF-16 a byte of UTF-8 begins: a character of four bytes has two.
static int unitsOf(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
}

size_t offsetOf(llvm::StringRef text, llvm::lsp::Position position) {
  size_t offset = 0;
  for (int line = 0; line < position.line; ++line) {
    const size_t end = text.find('\n', offset);
    if (end == llvm::StringRef::npos)
      return text.size();
    offset = end + 1;
  }
  for (int units = 0; offset < text.size() && text[offset] != '\n'; ++offset) {
    const int next = unitsOf(text[offset]);
    if (next > 0 && units >= position.character)
      break;
    units += next;
  }
  return offset;
}

llvm::lsp::Position positionOf(llvm::StringRef text, size_t offset) {
  llvm::StringRef before = text.take_front(offset);
  llvm::lsp::Position position;
  position.line = static_cast<int>(before.count('\n'));
  for (char c : before.substr(before.rfind('\n') + 1))
    position.character += unitsOf(c);
  return position;
}

llvm::lsp::Range rangeOf(llvm::StringRef text, size_t offset, size_t length) {
  return {positionOf(text, offset), positionOf(text, offset + length)};
}

} // namespace hybrid::editor
