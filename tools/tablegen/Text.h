//===- Text.h - small words to write tables with ----------------------------===//
#pragma once
#include "llvm/Support/raw_ostream.h"
#include <string>

/// The text as a C++ string literal.
inline std::string quoted(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << '"';
  stream.write_escaped(text);
  return result + '"';
}
