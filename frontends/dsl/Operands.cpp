//===- Operands.cpp - checks that sequence operators share ---------------------===//
#include "frontends/dsl/Operands.h"

namespace hybrid::dsl {

bool hasRank(Call &call, size_t index, const Value &x, size_t rank, llvm::StringRef expected) {
  if (x.shape.size() == rank)
    return true;
  call.error(index, call.names[index] + " is " + text(x) + ", expected " + expected, {index});
  return false;
}

bool perChannel(Call &call, size_t index, const Value &vector, const Dim &channels, size_t about) {
  if (!vector.isTensor())
    return true;
  if (vector.shape == Shape{channels})
    return true;
  call.error(index,
             call.names[index] + " is " + text(vector) + ", but " + call.names[about] + " has " +
                 text(channels) + " channels",
             {index, about});
  return false;
}

bool segmentsFit(Call &call, size_t index, const Value &segments, const Value &x, size_t about) {
  if (!segments.isTensor() || segments.shape == Shape{x.shape[0], x.shape[1]})
    return true;
  call.error(index,
             "segments is " + text(segments) + ", but " + call.names[about] + " is " + text(x) +
                 ": expected its batch and length",
             {index, about});
  return false;
}

bool stateFits(Call &call, size_t index, const Value &state, const Shape &expected) {
  if (!state.isTensor() || state.shape == expected)
    return true;
  call.error(index, call.names[index] + " is " + text(state) + ", expected " + text(expected),
             {index, 0});
  return false;
}

} // namespace hybrid::dsl
