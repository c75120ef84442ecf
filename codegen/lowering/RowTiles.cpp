//===- RowTiles.cpp - loops over tiles of rows ------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(RowTilesOp op, ProgramBuilder &program) {
  return program.lowerTiles(op);
}

} // namespace hybrid
