//===- RepeatChannels.cpp - channels that are in memory once --------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// The view is that of x, of fewer channels than the result has.
template <> LogicalResult lower(RepeatChannelsOp op, ProgramBuilder &program) {
  if (program.device().kind != Device::Cuda)
    return op.emitOpError() << "has no " << program.device().name()
                            << " lowering: hybrid-share-repeats is for CUDA";
  for (Operation *user : op->getUsers())
    if (!isa<ShortConvOp, ShortConvGradOp>(user))
      return op.emitOpError() << "is read by " << user->getName()
                              << ": only a short convolution can read channels again and again";
  program.alias(op.getResult(), program.view(op.getX()));
  return success();
}

} // namespace hybrid
