//===- Random.cpp - initial values ------------------------------------------===//
#include "codegen/kernels/Random.h"
#include "codegen/lowering/Lowering.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(RandomOp op, ProgramBuilder &program) {
  auto seed = program.function.getNumArguments() ? program.function.getArgument(0) : Value();
  if (program.function.getSymName() != "init" || !seed)
    return op.emitOpError() << "draws values outside of an initial value: random values exist only "
                               "in `param(..., init = ...)`";
  View out = program.defineDense(op.getResult());
  RandomParams params{out.elements(), static_cast<int64_t>(llvm::xxh3_64bits(op.getStream())),
                      static_cast<int64_t>(op.getDistribution()), op.getA().convertToDouble(),
                      op.getB().convertToDouble()};
  program.launch<Random>(out.element, params, {program.view(seed), out});
  return success();
}

} // namespace hybrid
