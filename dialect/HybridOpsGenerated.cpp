//===- HybridOpsGenerated.cpp - the generated op classes --------------------===//
//
// Alone in a file: compiling it takes as long as all hand-written verifiers together.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/HybridOps.cpp.inc"
