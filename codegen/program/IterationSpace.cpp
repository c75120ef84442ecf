//===- IterationSpace.cpp - what a generated kernel iterates over -----------===//
#include "codegen/program/IterationSpace.h"

using llvm::ArrayRef;

namespace hybrid {

IterationSpace collapse(ArrayRef<int64_t> shape, ArrayRef<View> views, bool keepRows) {
  IterationSpace result;
  result.strides.resize(views.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool column = keepRows && i + 1 == shape.size();
    if (shape[i] == 1 && !column)
      continue;
    bool merge = !result.shape.empty() && !column;
    for (size_t v = 0; merge && v < views.size(); ++v)
      merge = result.strides[v].back() == views[v].strides[i] * shape[i];
    if (merge)
      result.shape.back() *= shape[i];
    else
      result.shape.push_back(shape[i]);
    for (size_t v = 0; v < views.size(); ++v) {
      if (merge)
        result.strides[v].back() = views[v].strides[i];
      else
        result.strides[v].push_back(views[v].strides[i]);
    }
  }
  if (result.shape.empty()) {
    result.shape.push_back(1);
    for (auto &strides : result.strides)
      strides.push_back(0);
  }
  return result;
}

} // namespace hybrid
