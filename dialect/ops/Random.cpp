//===- Random.cpp - values drawn by the counter-based generator -----------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

LogicalResult RandomOp::verify() { return verifyStaticShape(*this); } // C1
