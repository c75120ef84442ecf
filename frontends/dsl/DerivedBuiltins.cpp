//===- DerivedBuiltins.cpp - functions that are a few ops each -----------------===//
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/FreeSizes.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

/// Writes ops for a call; after a fault everything is an empty value.
struct Writer {
  Call &call;

  Value checked(const Emitter::Added &added) { return call.result(added); }
  Value scalar(double value) { return call.emit.scalar(value, call.place); }
  Value unary(UnaryKind kind, const Value &x) {
    return call.failed ? Value() : call.emit.unary(kind, x, call.place);
  }
  Value binary(BinaryKind kind, const Value &a, const Value &b) {
    return call.failed ? Value() : checked(call.emit.binary(kind, a, b, call.place));
  }
  Value reshape(const Value &x, const Shape &shape) {
    return call.failed ? Value() : checked(call.emit.reshape(x, shape, call.place));
  }
  Value transpose(const Value &x, ArrayRef<int64_t> order) {
    return call.failed ? Value() : call.emit.transpose(x, order, call.place);
  }
  Value reduce(ReduceKind kind, const Value &x, int64_t axis, bool keep) {
    if (call.failed)
      return {};
    OpBuilder &b = call.emit.builder;
    NamedAttrList attributes;
    attributes.append("kind", ReduceKindAttr::get(b.getContext(), kind));
    attributes.append("axes", b.getDenseI64ArrayAttr({axis}));
    if (keep)
      attributes.append("keep", b.getUnitAttr());
    return checked(call.emit.add(ReduceOp::getOperationName(), x, attributes, call.place));
  }
};

/// x and the axis that is meant; nothing after a report.
std::optional<std::pair<Value, int64_t>> readAxis(Call &call) {
  Value x = call.tensor(0);
  const int64_t axis = call.failed ? 0 : call.axis(1, x.shape.size());
  if (call.failed)
    return std::nullopt;
  return std::pair(std::move(x), axis);
}

/// All dimensions in order, but `axis` at the end.
SmallVector<int64_t> axisLast(size_t rank, int64_t axis) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(rank)));
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  return order;
}

/// The way back.
SmallVector<int64_t> lastToAxis(size_t rank, int64_t axis) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(rank)));
  std::rotate(order.begin() + axis, order.end() - 1, order.end());
  return order;
}

//===-- choices ----------------------------------------------------------------===//

/// Both sides are computed, and what is not chosen may be anything: infinite, or no number.
Value runWhere(Call &call) {
  Value condition = call.tensor(0), a = call.tensor(1), b = call.tensor(2);
  Writer write{call};
  if (call.failed)
    return {};
  Value off = write.binary(BinaryKind::Equal, condition, write.scalar(0));
  Value on = write.binary(BinaryKind::Equal, off, write.scalar(0));
  return write.binary(BinaryKind::Add, write.binary(BinaryKind::Masked, a, on),
                      write.binary(BinaryKind::Masked, b, off));
}

Value runArgmax(Call &call) {
  const auto read = readAxis(call);
  if (!read)
    return {};
  const auto &[x, axis] = *read;
  const bool keep = call.boolean(2, false);
  Writer write{call};
  Value turned = write.transpose(x, axisLast(x.shape.size(), axis));
  if (call.failed)
    return {};
  NamedAttribute one = call.emit.builder.getNamedAttr("k", call.emit.builder.getI64IntegerAttr(1));
  Value place = call.result(call.emit.add(TopKOp::getOperationName(), turned, {one}, call.place));
  Shape shape = x.shape;
  if (keep)
    shape[static_cast<size_t>(axis)] = Dim(1);
  else
    shape.erase(shape.begin() + axis);
  return write.reshape(place, shape);
}

Value runGather(Call &call) {
  Value x = call.tensor(0), indices = call.integers(1);
  if (call.failed)
    return {};
  const size_t rank = x.shape.size();
  const int64_t axis = call.axis(2, rank);
  if (call.failed)
    return {};
  if (indices.shape.size() != rank)
    return call.error(1,
                      "indices are " + text(indices) + ", but x is " + text(x) +
                          ": expected as many dimensions",
                      {0, 1});
  Shape wanted = x.shape;
  wanted[static_cast<size_t>(axis)] = indices.shape[static_cast<size_t>(axis)];
  Writer write{call};
  indices = write.checked(call.emit.broadcastTo(indices, wanted, call.place));
  const SmallVector<int64_t> order = axisLast(rank, axis);
  Value from = write.transpose(x, order), places = write.transpose(indices, order);
  if (call.failed)
    return {};
  Value taken =
      call.result(call.emit.add(TakeOp::getOperationName(), {from, places}, {}, call.place));
  return write.transpose(taken, lastToAxis(rank, axis));
}

//===-- along a dimension --------------------------------------------------------===//

/// The largest value along the axis, as a number that may be taken away, and log Σ exp of the rest.
struct LogSum {
  Value largest, log;
};
LogSum logSum(Writer &write, const Value &x, int64_t axis, bool keep) {
  // Finite, so that infinite values have a difference to it. Shifting all values by it changes
  // nothing, so that no gradient is needed.
  constexpr double most = 3e38;
  Value largest = write.reduce(ReduceKind::Max, x, axis, true);
  largest =
      write.binary(BinaryKind::Min, write.binary(BinaryKind::Max, largest, write.scalar(-most)),
                   write.scalar(most));
  largest = write.unary(UnaryKind::StopGradient, largest);
  Value terms = write.unary(UnaryKind::Exp, write.binary(BinaryKind::Sub, x, largest));
  Value log = write.unary(UnaryKind::Log, write.reduce(ReduceKind::Sum, terms, axis, keep));
  return {largest, log};
}

Value runLogSoftmax(Call &call) {
  const auto read = readAxis(call);
  if (!read)
    return {};
  const auto &[x, axis] = *read;
  Writer write{call};
  LogSum sum = logSum(write, x, axis, true);
  return write.binary(BinaryKind::Sub, write.binary(BinaryKind::Sub, x, sum.largest), sum.log);
}

Value runLogSumExp(Call &call) {
  const auto read = readAxis(call);
  if (!read)
    return {};
  const auto &[x, axis] = *read;
  const bool keep = call.boolean(2, false);
  Writer write{call};
  LogSum sum = logSum(write, x, axis, keep);
  Value largest = call.failed || keep ? sum.largest : write.reshape(sum.largest, sum.log.shape);
  return write.binary(BinaryKind::Add, sum.log, largest);
}

Value runRoll(Call &call) {
  Value x = call.anyTensor(0);
  int64_t shift = call.integer(1, 0, INT32_MIN, INT32_MAX);
  if (call.failed)
    return {};
  const auto axis = static_cast<size_t>(call.axis(2, x.shape.size()));
  if (call.failed)
    return {};
  const Dim &whole = x.shape[axis];
  if (!whole.isFree())
    shift = (shift % whole.size + whole.size) % whole.size;
  if (shift == 0)
    return x;
  SmallVector<int64_t> starts(x.shape.size(), 0);
  Shape first = x.shape, second = x.shape; // of the result: x[-shift:] and x[:-shift]
  if (shift > 0) {
    first[axis] = Dim(shift), second[axis] = whole.plus(-shift);
    starts[axis] = whole.isFree() ? -shift : whole.size - shift;
  } else { // along a free dimension: x[-shift:] is what is left
    first[axis] = whole.plus(shift), second[axis] = Dim(-shift);
    starts[axis] = -shift;
  }
  Value parts[] = {call.emit.slice(x, starts, first, call.place),
                   call.emit.slice(x, SmallVector<int64_t>(x.shape.size(), 0), second, call.place)};
  NamedAttribute along = call.emit.builder.getNamedAttr(
      "axis", call.emit.builder.getI64IntegerAttr(static_cast<int64_t>(axis)));
  return call.result(call.emit.add(ConcatOp::getOperationName(), parts, {along}, call.place));
}

/// A product with a triangle of ones: of a dimension that the batch and the length are beside.
Value sumsByTriangle(Writer &write, const Value &x, int64_t axis, int64_t size) {
  Call &call = write.call;
  OpBuilder &b = call.emit.builder;
  NamedAttrList attributes;
  attributes.append("length", call.emit.attribute({Dim(size)}));
  attributes.append("start", b.getF64FloatAttr(0));
  attributes.append("step", b.getF64FloatAttr(1));
  attributes.append("element_type", TypeAttr::get(b.getF32Type()));
  Value numbers =
      write.checked(call.emit.add(IotaOp::getOperationName(), {}, attributes, call.place));
  // Row i counts in column j from j = i on.
  Value below =
      write.binary(BinaryKind::Less, numbers, write.reshape(numbers, {Dim(size), Dim(1)}));
  Value ones = write.binary(BinaryKind::Equal, below, write.scalar(0));
  Value turned = write.transpose(x, axisLast(x.shape.size(), axis));
  if (call.failed)
    return {};
  Value sums =
      call.result(call.emit.add(MatmulOp::getOperationName(), {turned, ones}, {}, call.place));
  return write.transpose(sums, lastToAxis(x.shape.size(), axis));
}

/// A linear recurrence that keeps all of its state, where the dimensions before the axis are one,
/// as the batch is.
Value runCumsum(Call &call) {
  const auto read = readAxis(call);
  if (!read)
    return {};
  const auto &[x, axis] = *read;
  Writer write{call};
  const llvm::ArrayRef<Dim> dims(x.shape);
  const Dim &size = dims[static_cast<size_t>(axis)];
  const std::optional<Dim> before = productOf(dims.take_front(static_cast<size_t>(axis))),
                           after = productOf(dims.drop_front(static_cast<size_t>(axis) + 1));
  const bool asScan = before && after && !after->isFree();
  if (!asScan && size.isFree())
    return call.errorHere("a sum along " + text(size) + " of " + text(x) +
                              " needs known sizes behind it, and one that is not at most before it",
                          {0});
  if (!asScan)
    return sumsByTriangle(write, x, axis, size.size);
  const Shape rows{*before, size, *after};
  Value ones = call.emit.filled(1, rows, call.place), values = write.reshape(x, rows);
  if (call.failed || ones.isPoison())
    return {};
  OpBuilder &b = call.emit.builder;
  NamedAttrList attributes;
  attributes.append("heads", b.getI64IntegerAttr(after->size));
  attributes.append("operandSegmentSizes", b.getDenseI32ArrayAttr({1, 1, 1, 0, 0, 0}));
  Value sums = call.result(call.emit.add(LinearScanOp::getOperationName(), {ones, ones, values},
                                         attributes, call.place));
  return write.reshape(sums, x.shape);
}

//===-- while training -----------------------------------------------------------===//

Value dropout(Call &call, const Value &x, ArrayRef<int64_t> axes) {
  const double rate = call.number(1, 0);
  if (call.failed)
    return {};
  if (call.emit.initial)
    return call.errorHere("is of a model that trains, and not of the 'init' of a parameter");
  if (call.emit.experts)
    return call.errorHere("leaves out values of a whole batch, and an expert has only rows that "
                          "chose it: expected it before or behind the experts");
  if (rate == 0)
    return x;
  // Two draws of one name would be the same numbers.
  std::string stream = call.emit.scope + call.builtin.name;
  if (const int before = call.emit.draws[stream]++)
    stream += "_" + std::to_string(before + 1);
  OpBuilder &b = call.emit.builder;
  NamedAttrList attributes;
  attributes.append("rate", b.getF64FloatAttr(rate));
  attributes.append("axes", b.getDenseI64ArrayAttr(axes));
  attributes.append("stream", b.getStringAttr(stream));
  return call.result(call.emit.add(DropoutOp::getOperationName(), x, attributes, call.place));
}

Value runDropout(Call &call) {
  Value x = call.tensor(0);
  if (call.failed)
    return {};
  SmallVector<int64_t> axes;
  if (call.has(2))
    axes = call.axes(2, x.shape.size());
  else
    llvm::append_range(axes, llvm::seq<int64_t>(0, static_cast<int64_t>(x.shape.size())));
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  return dropout(call, x, axes);
}

Value runStochasticDepth(Call &call) {
  Value x = call.tensor(0);
  return call.failed ? Value() : dropout(call, x, {0});
}

} // namespace

llvm::ArrayRef<Builtin> derivedBuiltins() {
  static const Builtin builtins[] = {
      {"where", "condition, a, b", runWhere, nullptr,
       "a where the condition is not 0, else b. A comparison of tensors, x < y, is 1 or 0. What is "
       "not chosen may be\n  infinite or no number, but not its derivative."},
      {"argmax", "x, axis?, keep?", runArgmax, nullptr,
       "The index of the largest value along the axis (the last when left out), as integers; of "
       "equal values the lowest.\n  It has no gradient."},
      {"gather", "x, indices, axis?", runGather, nullptr,
       "`result[..., i, ...] = x[..., indices[..., i, ...], ...]` along the axis (the last when "
       "left out). Other dimensions of\n  indices are those of x, or 1."},
      {"log_softmax", "x, axis?", runLogSoftmax, nullptr,
       "x - log Σ exp(x) along the axis (the last when left out)."},
      {"logsumexp", "x, axis?, keep?", runLogSumExp, nullptr,
       "log Σ exp(x) along the axis (the last when left out), which is removed unless `keep`."},
      {"cumsum", "x, axis", runCumsum, nullptr,
       "Sums of x up to each index of the axis. Along the sequence, [B, L, ...], it has a state."},
      {"roll", "x, shift, axis?", runRoll, nullptr,
       "x with the elements of the axis (the last when left out) moved by `shift`; what leaves at "
       "the end comes in at the start."},
      {"dropout", "x, rate, axes?", runDropout, nullptr,
       "While training, x with values left out at the probability `rate` and the others divided by "
       "1 - rate; else x itself.\n  With `axes` a draw is for each index of these, and the same "
       "along the others."},
      {"stochastic_depth", "x, rate", runStochasticDepth, nullptr,
       "dropout of whole sequences: a draw for each index of the first dimension."},
  };
  return builtins;
}

} // namespace hybrid::dsl
