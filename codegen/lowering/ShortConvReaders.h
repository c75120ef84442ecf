//===- ShortConvReaders.h - short convolutions that are computed where read ---===//
//
// A long convolution that is a matrix product on CUDA can compute a short one in front of it of
// that one's input. Where all that read a short convolution do, its result is nowhere in memory: a
// value without a view, and so are channels that are taken of it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/lowering/Lowering.h"

namespace hybrid {

/// Channels of a short convolution's result, from `first` on.
struct ShortConvChannels {
  ShortConvOp op;
  int64_t first = 0;
};
/// As which a value is taken of the result; without an op where it is not.
ShortConvChannels shortConvChannels(mlir::Value value);

/// Of `channels` that a short convolution reads those that lie in memory, where the others repeat
/// them (RepeatChannelsOp, and gradients that sum); 0 where all do.
inline int64_t repeatedChannels(const View &x, int64_t channels) {
  return x.shape.back() == channels ? 0 : x.shape.back();
}

/// Whether the op computes the operand, channels of a short convolution, of its input.
bool computesShortConv(mlir::OpOperand &operand, const ProgramBuilder &program);

} // namespace hybrid
