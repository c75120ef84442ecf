//===- LaunchShapes.h - how blocks run kernels whose lowering is shared -----===//
#pragma once
#include "codegen/program/Backend.h"

namespace hybrid::cuda {

/// Threads and shared memory of a block of a kernel whose launch is lowered for all devices alike
/// (codegen/program). Ends the program for an unknown kernel: a name is a fact of this source tree.
LaunchShape sharedLaunchShape(llvm::StringRef name, mlir::Type element,
                              const KernelConstants &constants);

} // namespace hybrid::cuda
