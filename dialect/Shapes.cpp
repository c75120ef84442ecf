//===- Shapes.cpp - sizes that may still be free ----------------------------===//
#include "dialect/Shapes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace hybrid {

bool compatible(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

int64_t refine(int64_t a, int64_t b) { return ShapedType::isDynamic(a) ? b : a; }

SmallVector<int64_t> sizesOf(ArrayAttr shape) {
  SmallVector<int64_t> sizes;
  for (Attribute size : shape) {
    auto integer = dyn_cast<IntegerAttr>(size);
    sizes.push_back(integer ? integer.getInt() : ShapedType::kDynamic);
  }
  return sizes;
}

std::optional<int64_t> boundSize(llvm::StringRef name, const llvm::StringMap<int64_t> &sizes) {
  auto [free, more] = name.split(' ');
  auto found = sizes.find(free);
  if (found == sizes.end())
    return std::nullopt;
  int64_t added = 0;
  const bool less = more.consume_front("- ");
  if ((less || more.consume_front("+ ")) && more.getAsInteger(10, added))
    return std::nullopt;
  return found->second + (less ? -added : added);
}

std::optional<SmallVector<int64_t>> broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<int64_t> result(a);
  size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t &size = result[shift + i];
    if (size == 1)
      size = b[i];
    else if (b[i] == 1)
      continue;
    else if (compatible(size, b[i]))
      size = refine(size, b[i]);
    else
      return std::nullopt;
  }
  return result;
}

bool isTooLarge(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  return llvm::any_of(shape, [&](int64_t size) {
    return !ShapedType::isDynamic(size) &&
           (llvm::MulOverflow(count, size, count) || count > mostTensorElements);
  });
}

int64_t elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t elementCount(Value value) { return elementCount(shapeOf(value)); }

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    stream << (i ? ", " : "");
    if (ShapedType::isDynamic(shape[i]))
      stream << '?';
    else
      stream << shape[i];
  }
  stream << ']';
  return text;
}

std::string numberText(const llvm::APFloat &number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", number.convertToDouble());
  return text;
}

RankedTensorType tensorOf(ArrayRef<int64_t> shape, Type element) {
  return RankedTensorType::get(shape, element);
}

ArrayRef<int64_t> shapeOf(Value value) { return cast<ShapedType>(value.getType()).getShape(); }
Type elementOf(Value value) { return cast<ShapedType>(value.getType()).getElementType(); }
void appendTypes(ArrayRef<Value> values, SmallVectorImpl<Type> &types) {
  for (Value value : values)
    if (value)
      types.push_back(value.getType());
}

int64_t lastSize(Value value) { return shapeOf(value).empty() ? 1 : shapeOf(value).back(); }

bool compatibleShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return compatible(std::get<0>(pair), std::get<1>(pair));
         });
}

bool sameLeading(Value a, size_t skipA, Value b, size_t skipB) {
  ArrayRef<int64_t> left = shapeOf(a), right = shapeOf(b);
  return left.size() >= skipA && right.size() >= skipB &&
         compatibleShapes(left.drop_back(skipA), right.drop_back(skipB));
}

LogicalResult verifyStaticShape(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!cast<RankedTensorType>(type).hasStaticShape())
    return op->emitOpError() << "has a free dimension: " << type << ", expected a static shape";
  return success();
}

LogicalResult verifyPerChannel(Operation *op, StringRef name, Value vector, Value x) {
  if (vector && (shapeOf(vector).size() != 1 || !compatible(shapeOf(vector)[0], lastSize(x))))
    return op->emitOpError() << name << " is " << shapeText(shapeOf(vector)) << ", but x has "
                             << lastSize(x) << " channels";
  return success();
}

LogicalResult verifyCotangent(Operation *op, StringRef name, Value cotangent, StringRef primalName,
                              Value primal) {
  if (compatibleShapes(shapeOf(cotangent), shapeOf(primal)))
    return success();
  return op->emitOpError() << name << " is " << shapeText(shapeOf(cotangent)) << ", but "
                           << primalName << " is " << shapeText(shapeOf(primal))
                           << ": expected equal shapes";
}

ArrayAttr shapeAttr(MLIRContext *context, ArrayRef<int64_t> shape) {
  return Builder(context).getI64ArrayAttr(shape);
}

} // namespace hybrid
