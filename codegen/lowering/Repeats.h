//===- Repeats.h - channels that are not there as often as they are read ----===//
#pragma once
#include "codegen/lowering/Lowering.h"

namespace hybrid {

/// Channels of the only part of a value that is in memory, where it is a concat of the same
/// channels again and again and all that reads it can read those instead; 0 where all of it is
/// there. Only short_conv can, on CUDA.
int64_t repeatedChannels(mlir::Value value, const DeviceTraits &device);

} // namespace hybrid
