//===- RoutedExperts.cpp - mixtures of experts ------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(RoutedExpertsOp op, ProgramBuilder &program) {
  return refuse(op, program, "hybrid-expand-experts");
}

} // namespace hybrid
