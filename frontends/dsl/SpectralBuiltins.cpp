//===- SpectralBuiltins.cpp - what long filters are made with ------------------===//
#include "frontends/dsl/Operands.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

Value runRfft(Call &call) {
  Value x = call.tensor(0);
  if (call.failed || !hasRank(call, 0, x, 2, "[points, channels]"))
    return {};
  if (x.shape[0].isFree()) {
    call.error(0, "x is " + text(x) + ": its number of points must be known", {0});
    return {};
  }
  Shape shape{Dim(x.shape[0].size / 2 + 1), x.shape[1]};
  Location loc = call.emit.at(call.place);
  auto op = RfftOp::create(call.emit.builder, loc, x.tensor, false);
  return Value::of(std::vector<Value>{Emitter::result(op.getRe(), shape, call.place),
                                      Emitter::result(op.getIm(), shape, call.place)});
}

Value runIrfft(Call &call) {
  Value re = call.tensor(0), im = call.tensor(1);
  int64_t length = call.integer(2, 1, 1, INT32_MAX);
  if (call.failed || !hasRank(call, 0, re, 2, "[bins, channels]"))
    return {};
  if (re.shape[0] != Dim(length / 2 + 1) || re.shape != im.shape) {
    call.errorHere("re is " + text(re) + " and im " + text(im) + ", but length " +
                       llvm::Twine(length) + " has " + llvm::Twine(length / 2 + 1) + " bins",
                   {0, 1});
    return {};
  }
  Location loc = call.emit.at(call.place);
  return Emitter::result(
      IrfftOp::create(call.emit.builder, loc, re.tensor, im.tensor, length, true),
      {Dim(length), re.shape[1]}, call.place);
}

Value runModalFilter(Call &call) {
  Value decay = call.tensor(0), angle = call.tensor(1), re = call.tensor(2), im = call.tensor(3);
  if (call.failed)
    return {};
  const Value &length = call.value(4);
  if (!length.isInteger()) {
    call.error(4, "length is " + describe(length) + ", expected an integer");
    return {};
  }
  if (!hasRank(call, 0, decay, 2, "[states, channels]"))
    return {};
  for (const Value *other : {&angle, &re, &im})
    if (other->shape != decay.shape) {
      call.errorHere("log_decay, angle, re and im are " + text(decay) + ", " + text(angle) + ", " +
                         text(re) + " and " + text(im) + ": expected the same shape",
                     {0, 1, 2, 3});
      return {};
    }
  Shape shape{length.integer, decay.shape[1]};
  if (!call.emit.check(shape, call.places[4]))
    return {};
  Location loc = call.emit.at(call.place);
  return Emitter::result(ModalFilterOp::create(call.emit.builder, loc, decay.tensor, angle.tensor,
                                               re.tensor, im.tensor,
                                               call.emit.attribute({length.integer})),
                         shape, call.place);
}

} // namespace

llvm::ArrayRef<Builtin> spectralBuiltins() {
  static const Builtin builtins[] = {
      {"rfft", "x", runRfft},
      {"irfft", "re, im, length", runIrfft},
      {"modal_filter", "log_decay, angle, re, im, length", runModalFilter},
  };
  return builtins;
}

} // namespace hybrid::dsl
