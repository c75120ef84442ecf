//===- LocationText.h - where in a model an op came from --------------------===//
#pragma once
#include "mlir/IR/Location.h"
#include <string>

namespace hybrid {

/// "file:line:column" of the first file location inside; empty when there is none.
std::string locationText(mlir::Location loc);

} // namespace hybrid
