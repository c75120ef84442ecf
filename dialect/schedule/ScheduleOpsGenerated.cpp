//===- ScheduleOpsGenerated.cpp - the generated op classes ------------------===//
#include "dialect/schedule/ScheduleOps.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/schedule/ScheduleOps.cpp.inc"
