//===- LinearScanBuiltins.cpp - the scan of an outer-product state -------------------===//
#include "frontends/dsl/Operands.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

bool dividesChannels(Call &call, size_t index, const Value &x, int64_t heads) {
  if (!x.shape[2].isFree() && x.shape[2].size % heads == 0)
    return true;
  call.error(index,
             call.names[index] + " has " + text(x.shape[2]) +
                 " channels, which cannot be divided among " + llvm::Twine(heads) + " heads",
             {index});
  return false;
}

Value runLinearScan(Call &call) {
  Value q = call.tensor(0), k = call.tensor(1), v = call.tensor(2), decay = call.tensorOr(4);
  int64_t heads = call.integer(3, 1, 1, INT64_MAX);
  double scale = call.number(5, 1);
  bool exclusive = call.boolean(6, false), wanted = call.boolean(9, false);
  Value segments = call.integers(7), state = call.tensorOr(8);
  if (call.failed)
    return {};
  for (auto [index, x] : {std::pair(0, &q), {1, &k}, {2, &v}})
    if (!hasRank(call, static_cast<size_t>(index), *x, 3, "[batch, length, channels]"))
      return {};
  if (k.shape != q.shape) {
    call.error(1, "k is " + text(k) + ", but q is " + text(q), {1, 0});
    return {};
  }
  if (v.shape[0] != q.shape[0] || v.shape[1] != q.shape[1]) {
    call.error(2, "v is " + text(v) + ", but q is " + text(q) + ": expected its batch and length",
               {2, 0});
    return {};
  }
  if (!dividesChannels(call, 0, q, heads) || !dividesChannels(call, 2, v, heads))
    return {};
  if (decay.isTensor()) {
    Shape channels{q.shape[2]}, perHead{Dim(heads)};
    Shape ofTime{q.shape[0], q.shape[1], Dim(heads)};
    if (decay.shape != q.shape && decay.shape != ofTime && decay.shape != channels &&
        decay.shape != perHead) {
      call.error(4,
                 "decay is " + text(decay) + ", expected " + text(q.shape) + ", " + text(ofTime) +
                     ", " + text(channels) + " or " + text(perHead),
                 {4, 0});
      return {};
    }
  }
  if (!segmentsFit(call, 7, segments, q))
    return {};
  Shape stateShape{q.shape[0], Dim(heads), Dim(q.shape[2].size / heads),
                   Dim(v.shape[2].size / heads)};
  if (state.isTensor() && state.shape != stateShape) {
    call.error(8, "initial_state is " + text(state) + ", expected " + text(stateShape), {8, 0});
    return {};
  }
  OpBuilder &builder = call.emit.builder;
  Location loc = call.emit.at(call.place);
  auto op = LinearScanOp::create(builder, loc, q.tensor, k.tensor, v.tensor, operand(decay),
                                 operand(segments), operand(state), static_cast<uint64_t>(heads),
                                 llvm::APFloat(scale), exclusive, wanted);
  return withState(call, op, v.shape, wanted, stateShape);
}

} // namespace

llvm::ArrayRef<Builtin> linearScanBuiltins() {
  static const Builtin builtins[] = {
      {"linear_scan",
       "q, k, v, heads, decay?, scale?, exclusive?, segments?, initial_state?, return_state?",
       runLinearScan},
  };
  return builtins;
}

} // namespace hybrid::dsl
