//===- OperandChecks.h - what operators along the sequence ask in common -------===//
#pragma once
#include "frontends/dsl/Builtins.h"

namespace hybrid::dsl {

/// Whether the tensor has exactly `rank` dimensions; reports otherwise.
bool hasRank(Call &call, size_t index, const Value &x, size_t rank, llvm::StringRef expected);
/// Whether the vector, if there is one, has one element a channel of argument `about`; reports
/// otherwise.
bool perChannel(Call &call, size_t index, const Value &vector, const Dim &channels, size_t about);
/// Whether the segments, if there are any, have the batch and length of x, argument 0; reports
/// otherwise.
bool segmentsFit(Call &call, size_t index, const Value &segments, const Value &x);
/// The tensor, or null when the argument was left out.
mlir::Value operand(const Value &value);

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
