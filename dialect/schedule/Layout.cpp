//===- Layout.cpp - where a tensor lies -------------------------------------===//
#include "dialect/schedule/Layout.h"

using namespace llvm;

namespace hybrid {

SmallVector<int64_t> denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

int64_t bytesOf(mlir::Type element) { return element.getIntOrFloatBitWidth() / 8; }

bool View::isDense() const {
  int64_t expected = 1;
  for (int64_t i = static_cast<int64_t>(shape.size()) - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

int64_t View::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t View::extent() const {
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    last += (shape[i] - 1) * strides[i];
  return last + 1;
}

std::optional<int64_t> View::rowStride() const {
  if (columns() != 1 && strides.back() != 1)
    return std::nullopt;
  int64_t stride = 0, span = 0; // span: stride the next outer dimension must have
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i) {
    if (shape[i] == 1)
      continue;
    if (stride == 0)
      stride = strides[i];
    else if (strides[i] != span)
      return std::nullopt;
    if (stride < columns())
      return std::nullopt;
    span = strides[i] * shape[i];
  }
  return stride ? stride : columns();
}

View View::transposed(ArrayRef<int64_t> permutation) const {
  View result = *this;
  for (auto [i, axis] : enumerate(permutation)) {
    result.shape[i] = shape[axis];
    result.strides[i] = strides[axis];
  }
  return result;
}

View View::sliced(ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) const {
  View result = *this;
  for (size_t i = 0; i < shape.size(); ++i)
    result.offset += starts[i] * strides[i];
  result.shape.assign(sizes.begin(), sizes.end());
  return result;
}

View View::broadcastTo(ArrayRef<int64_t> target) const {
  View result = *this;
  size_t shift = target.size() - shape.size();
  result.shape.assign(target.begin(), target.end());
  result.strides.assign(target.size(), 0);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == target[shift + i])
      result.strides[shift + i] = strides[i];
  return result;
}

std::optional<View> View::reshaped(ArrayRef<int64_t> target) const {
  // Dimensions of both shapes are matched group by group of equal products; inside a group the old
  // dimensions must collapse.
  View result = *this;
  result.shape.assign(target.begin(), target.end());
  result.strides.assign(target.size(), 1);
  SmallVector<int64_t> oldShape, oldStrides;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1) {
      oldShape.push_back(shape[i]);
      oldStrides.push_back(strides[i]);
    }
  size_t from = 0, to = 0;
  while (from < oldShape.size()) {
    size_t fromEnd = from + 1, toEnd = to;
    int64_t oldCount = oldShape[from], newCount = 1;
    while (newCount != oldCount) {
      if (newCount < oldCount) {
        if (toEnd == target.size())
          return std::nullopt;
        newCount *= target[toEnd++];
      } else {
        if (fromEnd == oldShape.size())
          return std::nullopt;
        oldCount *= oldShape[fromEnd++];
      }
    }
    for (size_t i = from; i + 1 < fromEnd; ++i)
      if (oldStrides[i] != oldStrides[i + 1] * oldShape[i + 1])
        return std::nullopt;
    int64_t stride = oldStrides[fromEnd - 1];
    for (size_t i = toEnd; i-- > to;) {
      result.strides[i] = stride;
      stride *= target[i];
    }
    from = fromEnd;
    to = toEnd;
  }
  return result;
}

} // namespace hybrid
