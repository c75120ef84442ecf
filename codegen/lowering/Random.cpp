//===- Random.cpp - initial values ------------------------------------------===//
#include "codegen/kernels/Random.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace hybrid {

/// The input `seed` [2] of @init, and of @train where it draws; null elsewhere.
static Value seedOf(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "hybrid.name");
    if (name && name.getValue() == "seed" && elementOf(argument).isInteger(32) &&
        shapeOf(argument) == ArrayRef<int64_t>{2})
      return argument;
  }
  return {};
}

template <> LogicalResult lower(RandomOp op, ProgramBuilder &program) {
  Value seed = seedOf(program.function);
  if (!seed)
    return op.emitOpError() << "draws values outside of an initial value: random values exist only "
                               "in `param(..., init = ...)`, and in a program with an input 'seed'";
  View out = program.defineDense(op.getResult());
  RandomParams params{out.elements(), static_cast<int64_t>(llvm::xxh3_64bits(op.getStream())),
                      static_cast<int64_t>(op.getDistribution()), op.getA().convertToDouble(),
                      op.getB().convertToDouble()};
  program.launch<Random>(out.element, params, {program.view(seed), out});
  return success();
}

} // namespace hybrid
