//===- Constant.cpp - a tensor filled with one value ----------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }
LogicalResult ConstantOp::verify() { return verifyStaticShape(*this); } // C1
