//===- Fusion.h - elementwise ops of a block in groups -----------------------===//
#pragma once
#include "mlir/IR/Block.h"

namespace hybrid {

/// Makes one `hybrid.fused` of each group of elementwise ops of the block, as
/// hybrid-fuse-elementwise does; how many ops are in them.
int64_t fuseElementwise(mlir::Block &block);

} // namespace hybrid
