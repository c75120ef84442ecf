//===- SoftmaxScanBuiltins.cpp - softmax-weighted averages of the past ---------===//
#include "frontends/dsl/Operands.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

Value runSoftmaxScan(Call &call) {
  Value k = call.tensor(0), v = call.tensor(1), taps = call.tensorOr(2), decay = call.tensorOr(3),
        segments = call.integers(4), state = call.tensorOr(5);
  bool wanted = call.boolean(6, false);
  if (call.failed || !hasRank(call, 0, k, 3, "[batch, length, keys]") ||
      !hasRank(call, 1, v, 3, "[batch, length, channels]"))
    return {};
  const Dim &keys = k.shape[2], &channels = v.shape[2];
  if (k.shape[0] != v.shape[0] || k.shape[1] != v.shape[1] || keys.isFree() || channels.isFree() ||
      channels.size % keys.size != 0) {
    call.error(0,
               "k is " + text(k) + ", but v is " + text(v) +
                   ": expected its batch and length, and keys that divide its channels",
               {0, 1});
    return {};
  }
  if (taps.isTensor() &&
      (taps.shape.size() != 2 || taps.shape[0].isFree() || taps.shape[1] != keys)) {
    call.error(2, "taps is " + text(taps) + ", expected [lags, " + text(keys) + "]", {2, 0});
    return {};
  }
  if (decay.isTensor() && decay.shape != Shape{keys}) {
    call.error(3, "decay is " + text(decay) + ", expected " + text(Shape{keys}), {3, 0});
    return {};
  }
  int64_t rows = taps.isTensor() ? taps.shape[0].size : 1;
  Shape stateShape{v.shape[0], Dim(rows), Dim(channels.size + keys.size)};
  if (!segmentsFit(call, 4, segments, v, 1) || !stateFits(call, 5, state, stateShape))
    return {};
  Location loc = call.emit.at(call.place);
  auto op = SoftmaxScanOp::create(call.emit.builder, loc, k.tensor, v.tensor, operand(taps),
                                  operand(decay), operand(segments), operand(state), wanted);
  return withState(call, op, v.shape, wanted, stateShape);
}

} // namespace

llvm::ArrayRef<Builtin> softmaxScanBuiltins() {
  static const Builtin builtins[] = {
      {"softmax_scan", "k, v, taps?, decay?, segments?, initial_state?, return_state?",
       runSoftmaxScan},
  };
  return builtins;
}

} // namespace hybrid::dsl
