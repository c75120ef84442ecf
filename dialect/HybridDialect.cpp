//===- HybridDialect.cpp - registration of the hybrid dialect ---------------===//
#include "dialect/HybridOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hybrid;

#include "dialect/HybridDialect.cpp.inc"
#include "dialect/HybridEnums.cpp.inc"
#include "dialect/HybridInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/HybridAttributes.cpp.inc"

void HybridDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/HybridAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/HybridOps.cpp.inc"
      >();
}
