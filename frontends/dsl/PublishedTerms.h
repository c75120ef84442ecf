//===- PublishedTerms.h - FLOPs as papers count them, layer by layer ----------===//
//
// A layer publishes terms of its own and those of the layers that it calls; it can say that its own
// are all there are. What a paper would count, a product or an op with state, and has no term of
// the paper in any layer around it, makes its layer one that is not counted.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace hybrid::dsl {

/// Remembers the layer, by its path, in which an op is written that papers count.
void noteLayer(mlir::Operation *op, llvm::StringRef path);

/// Sets the attributes of the program: `hybrid.published`, a list of terms, and
/// `hybrid.unpublished`, the layers without terms of a method that others publish. `noted` holds
/// terms, and dictionaries of a layer and a method with `alone`; what noteLayer() left at ops is
/// taken away.
void writePublished(mlir::ModuleOp program, llvm::ArrayRef<mlir::Attribute> noted);

} // namespace hybrid::dsl
