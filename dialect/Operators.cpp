//===- Operators.cpp - the ops that the language offers ---------------------===//
#include "dialect/Operators.h"

namespace hybrid {

#include "dialect/Operators.cpp.inc"

llvm::ArrayRef<Operator> operators() { return operatorTable; }

} // namespace hybrid
