//===- ExpertLowering.h - what lowerings of routing share -------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"
#include "codegen/program/ProgramBuilder.h"
#include <algorithm>
#include <cmath>

namespace hybrid {

inline RouteParams routeParams(RouteOp op) {
  RouteParams params{};
  params.pairs = llvm::cast<mlir::ShapedType>(op.getChoices().getType()).getNumElements();
  params.experts = static_cast<int64_t>(op.getExperts());
  double factor = op.getCapacityFactor().convertToDouble();
  double capacity =
      std::ceil(factor * static_cast<double>(params.pairs) / static_cast<double>(params.experts));
  params.capacity = static_cast<int64_t>(std::min(capacity, static_cast<double>(params.pairs)));
  return params;
}

/// x, or a dense copy of it, with its rows in `params`: row p stands at (p / choices) * tokenStride
/// + (p % choices) * choiceStride, as a token repeated for each of its choices does without a copy.
inline View tokenRows(ProgramBuilder &program, const View &x, DispatchParams &params) {
  size_t rank = x.shape.size();
  if (rank >= 2 && (x.strides[rank - 1] == 1 || x.shape[rank - 1] == 1)) {
    View tokens = x;
    tokens.shape.erase(tokens.shape.end() - 2), tokens.strides.erase(tokens.strides.end() - 2);
    if (auto stride = tokens.rowStride()) {
      params.choices = x.shape[rank - 2], params.choiceStride = x.strides[rank - 2];
      params.tokenStride = *stride;
      return x;
    }
  }
  params.choices = 1, params.choiceStride = 0, params.tokenStride = x.shape.back();
  return program.denseCopy(x);
}

} // namespace hybrid
