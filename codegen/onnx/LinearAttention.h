//===- LinearAttention.h - recurrences that are one operator of ONNX -------------===//
#pragma once
#include "codegen/onnx/Conversion.h"
#include "dialect/HybridOps.h"

namespace hybrid::onnx {

/// Converts a scan to LinearAttention (opset 27). False, with nothing written, where it has no such
/// form: it reads before it writes, restarts at segments, erases by another key than it writes by,
/// or takes several steps a token; or the operator is not to be used.
bool convertAsLinearAttention(LinearScanOp op, Conversion &to);
bool convertAsLinearAttention(DeltaRuleOp op, Conversion &to);

} // namespace hybrid::onnx
