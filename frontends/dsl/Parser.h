//===- Parser.h - tokens to syntax ---------------------------------------------===//
#pragma once
#include "frontends/dsl/AST.h"
#include "frontends/dsl/Diagnostics.h"

namespace hybrid::dsl {

/// Parses a whole file. Reports faults and carries on at the next statement or definition.
FileSyntax parse(uint32_t file, Diagnostics &diagnostics);

/// Parses a text that is one expression; null after a report.
ExpressionPtr parseExpressionAlone(uint32_t file, Diagnostics &diagnostics);

} // namespace hybrid::dsl
