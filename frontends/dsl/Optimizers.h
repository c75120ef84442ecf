//===- Optimizers.h - which program updates a parameter ------------------------===//
#pragma once
#include "frontends/dsl/Source.h"
#include <string>
#include <utility>

namespace hybrid::dsl {

/// `[PATTERN=]LAYER` as the names it is for, "*" without a pattern, and the rest. A pattern has
/// letters, digits and . _ - * ? [ ] { } , ! only, so that `lion with (beta1 = 0.9)` has none.
std::pair<std::string, std::string> splitOptimizer(llvm::StringRef given);

} // namespace hybrid::dsl
