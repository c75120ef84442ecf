//===- Operands.h - checks and results that sequence operators share -----------===//
#pragma once
#include "frontends/dsl/Builtins.h"

namespace hybrid::dsl {

/// Whether `x`, argument `index`, has this number of dimensions; reports otherwise.
bool hasRank(Call &call, size_t index, const Value &x, size_t rank, llvm::StringRef expected);
/// Whether the vector was left out or has one element for each of `channels`, those of argument
/// `about`; reports otherwise.
bool perChannel(Call &call, size_t index, const Value &vector, const Dim &channels, size_t about);
/// Whether `segments` was left out or is [batch, length] of `x`, argument `about`; reports
/// otherwise.
bool segmentsFit(Call &call, size_t index, const Value &segments, const Value &x, size_t about = 0);
/// Whether `state` was left out or has this shape; reports otherwise.
bool stateFits(Call &call, size_t index, const Value &state, const Shape &expected);

/// The tensor, or null for an argument that was left out.
inline mlir::Value operand(const Value &value) {
  return value.isTensor() ? value.tensor : mlir::Value();
}

/// What an op with optional final state gives: the result, or [result, state].
template <typename Op>
Value withState(Call &call, Op op, const Shape &shape, bool wanted, const Shape &state) {
  Value result = Emitter::result(op.getResult(), shape, call.place);
  if (!wanted)
    return result;
  return Value::of(
      std::vector<Value>{result, Emitter::result(op.getFinalState(), state, call.place)});
}

} // namespace hybrid::dsl
