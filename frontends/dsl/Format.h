//===- Format.h - a file in the form that all files have -----------------------===//
//
// Blanks, indentation and the ends of lines are the formatter's; what is said, its comments and
// where an empty line or a short block on one line stands are the author's. Where the author has
// broken a long line stays, unless a line is too long: then it is broken anew.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>
#include <string>

namespace hybrid::dsl {

/// Most columns of a line, except for comments and what cannot be broken.
inline constexpr size_t lineWidth = 160;

/// The text of the main file of `sources`, formatted; what it uses is not read. Formatting the
/// result again changes nothing. Nothing after diagnostics when the file does not parse.
std::optional<std::string> format(llvm::SourceMgr &sources, mlir::MLIRContext &context);

} // namespace hybrid::dsl
