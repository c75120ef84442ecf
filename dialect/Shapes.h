//===- Shapes.h - sizes that may still be free ------------------------------===//
//
// Small functions about shapes shared by verifiers and type inference. A free dimension is
// `kDynamic`.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>

namespace hybrid {

/// Whether two sizes can be the same size: equal, or one of them free.
bool compatible(int64_t a, int64_t b);
/// The more precise of two compatible sizes.
int64_t refine(int64_t a, int64_t b);
/// Sizes of a shape attribute; a named dimension is kDynamic.
llvm::SmallVector<int64_t> sizesOf(mlir::ArrayAttr shape);
/// The size that a name of a shape attribute stands for, "L", "L - 2" or "L + 1", by the sizes of
/// free dimensions; nothing for a dimension that has none.
std::optional<int64_t> boundSize(llvm::StringRef name, const llvm::StringMap<int64_t> &sizes);
/// The shape both broadcast to, aligned at the last dimension; nothing if they do not.
std::optional<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a,
                                                          llvm::ArrayRef<int64_t> b);
/// Elements that a tensor may have: what is counted or multiplied from them fits 63 bits.
constexpr int64_t mostTensorElements = int64_t(1) << 40;
/// Whether a tensor has more, whatever its free sizes are.
bool isTooLarge(llvm::ArrayRef<int64_t> shape);
/// Product of static sizes.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);
/// Elements of a tensor of static shape.
int64_t elementCount(mlir::Value value);
/// "[?, 4]" for messages.
std::string shapeText(llvm::ArrayRef<int64_t> shape);
/// "0.1" for messages.
std::string numberText(const llvm::APFloat &number);

mlir::RankedTensorType tensorOf(llvm::ArrayRef<int64_t> shape, mlir::Type element);
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
mlir::Type elementOf(mlir::Value value);
/// Adds the types of those `values` that are there.
void appendTypes(llvm::ArrayRef<mlir::Value> values, llvm::SmallVectorImpl<mlir::Type> &types);
/// Size of the last dimension; 1 for a scalar.
int64_t lastSize(mlir::Value value);
/// Whether the ranks are equal and all sizes compatible.
bool compatibleShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
/// Whether all dimensions of `a` but the last `skipA` are those of `b` but the last `skipB`.
bool sameLeading(mlir::Value a, size_t skipA, mlir::Value b, size_t skipB);
/// Fails with a message unless the result of `op` has a static shape.
llvm::LogicalResult verifyStaticShape(mlir::Operation *op);
/// Fails with a message unless `vector` (called `name`), where there is one, has a value for each
/// channel of x, its last dimension.
llvm::LogicalResult verifyPerChannel(mlir::Operation *op, llvm::StringRef name, mlir::Value vector,
                                     mlir::Value x);
/// Fails with a message unless `cotangent` (called `name`) has the type of `primal` (called
/// `primalName`).
llvm::LogicalResult verifyCotangent(mlir::Operation *op, llvm::StringRef name,
                                    mlir::Value cotangent, llvm::StringRef primalName,
                                    mlir::Value primal);
/// Shape attribute with the static sizes of a tensor.
mlir::ArrayAttr shapeAttr(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape);

} // namespace hybrid
