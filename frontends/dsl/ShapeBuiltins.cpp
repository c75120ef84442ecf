//===- ShapeBuiltins.cpp - operators that rearrange ----------------------------===//
#include "frontends/dsl/Builtins.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

/// The free sizes of a shape in name order, and the product of the others (-1 stands for a size to
/// find).
struct Factors {
  std::vector<std::string> free;
  int64_t product = 1;
  bool overflow = false;

  explicit Factors(const Shape &shape) {
    for (const Dim &dim : shape) {
      if (dim.isFree())
        free.push_back(dim.name);
      else if (dim.size != -1)
        overflow |= llvm::MulOverflow(product, dim.size, product);
    }
    llvm::sort(free);
  }
};

Value runReshape(Call &call) {
  Value x = call.anyTensor(0);
  Shape shape = call.sizes(1, true);
  if (call.failed || !x.isTensor())
    return {};
  Factors from(x.shape), to(shape);
  auto impossible = [&] {
    call.errorHere(
        "cannot make " + text(shape) + " of " + text(x) + ": the number of elements differs", {0});
    return Value();
  };
  if (to.overflow)
    return impossible();
  SmallVector<size_t> unknown;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == Dim(-1))
      unknown.push_back(i);
  if (unknown.size() > 1) {
    call.error(1, "only one size can be -1");
    return {};
  }
  if (unknown.size() == 1) {
    std::vector<std::string> rest;
    std::set_difference(from.free.begin(), from.free.end(), to.free.begin(), to.free.end(),
                        std::back_inserter(rest));
    if (rest.empty() && from.free == to.free && from.product % to.product == 0)
      shape[unknown[0]] = Dim(from.product / to.product);
    else if (rest.size() == 1 && from.free.size() == to.free.size() + 1 &&
             from.product == to.product)
      shape[unknown[0]] = Dim::free(rest[0]);
    else
      return impossible();
  } else if (from.free != to.free || from.product != to.product) {
    return impossible();
  }
  return call.emit.check(shape, call.places[1]) ? call.emit.reshape(x, shape, call.place) : Value();
}

Value runTranspose(Call &call) {
  Value x = call.anyTensor(0);
  if (call.failed)
    return {};
  const Value &list = call.value(1);
  auto rank = static_cast<int64_t>(x.shape.size());
  SmallVector<int64_t> permutation;
  SmallVector<bool> seen(x.shape.size(), false);
  bool good = list.kind == Value::Kind::List && static_cast<int64_t>(list.list->size()) == rank;
  Shape shape;
  for (size_t i = 0; good && i < list.list->size(); ++i) {
    const Value &axis = (*list.list)[i];
    good = axis.isInteger() && !axis.isFree() && axis.integer.size >= -rank &&
           axis.integer.size < rank;
    if (!good)
      break;
    int64_t index = axis.integer.size < 0 ? axis.integer.size + rank : axis.integer.size;
    good = !std::exchange(seen[static_cast<size_t>(index)], true);
    permutation.push_back(index);
    shape.push_back(x.shape[static_cast<size_t>(index)]);
  }
  if (!good) {
    call.error(1,
               "expected every axis of " + text(x) + " once, such as [" +
                   (rank == 3 ? "0, 2, 1" : "1, 0") + "]",
               {0});
    return {};
  }
  Location loc = call.emit.at(call.place);
  return Emitter::result(TransposeOp::create(call.emit.builder, loc, x.tensor, permutation), shape,
                         call.place);
}

Value runBroadcast(Call &call) {
  Value x = call.anyTensor(0);
  Shape shape = call.sizes(1);
  if (call.failed)
    return {};
  if (Emitter::broadcast(x.shape, shape) != shape) {
    call.errorHere(text(x) + " cannot be repeated to " + text(shape) +
                       ": sizes must be equal or 1, counted from the last",
                   {0});
    return {};
  }
  return call.emit.broadcastTo(x, shape, call.place);
}

Value runReverse(Call &call) {
  Value x = call.anyTensor(0);
  if (call.failed)
    return {};
  int64_t axis = call.axis(1, -1, x.shape.size());
  if (call.failed)
    return {};
  Location loc = call.emit.at(call.place);
  return Emitter::result(ReverseOp::create(call.emit.builder, loc, x.tensor, axis), x.shape,
                         call.place);
}

Value runSplit(Call &call) {
  Value x = call.anyTensor(0);
  if (call.failed)
    return {};
  auto axis = static_cast<size_t>(call.axis(2, -1, x.shape.size()));
  if (call.failed)
    return {};
  if (x.shape[axis].isFree()) {
    call.error(0,
               "dimension " + llvm::Twine(axis) + " of " + text(x) +
                   " is only known when compiling: it cannot be split",
               {0});
    return {};
  }
  int64_t total = x.shape[axis].size;
  SmallVector<int64_t> sizes;
  if (call.value(1).kind == Value::Kind::List) {
    int64_t sum = 0;
    for (const Dim &size : call.sizes(1)) {
      if (size.isFree()) {
        call.error(1, "a part of " + size.name + " is only known when compiling");
        return {};
      }
      sizes.push_back(size.size);
      if (llvm::AddOverflow(sum, size.size, sum))
        sum = -1;
    }
    if (call.failed)
      return {};
    if (sum != total) {
      call.error(1,
                 "the parts add up to " + llvm::Twine(sum) + ", but dimension " +
                     llvm::Twine(axis) + " of " + text(x) + " has " + llvm::Twine(total),
                 {0});
      return {};
    }
  } else {
    int64_t parts = call.integer(1, 1, 1, 4096);
    if (call.failed)
      return {};
    if (total % parts != 0) {
      call.error(1,
                 llvm::Twine(total) + " channels cannot be split into " + llvm::Twine(parts) +
                     " equal parts",
                 {0});
      return {};
    }
    sizes.assign(static_cast<size_t>(parts), total / parts);
  }
  if (sizes.size() == 1)
    return Value::of(std::vector<Value>{x});
  Location loc = call.emit.at(call.place);
  auto op = SplitOp::create(call.emit.builder, loc, x.tensor,
                            call.emit.builder.getI64IntegerAttr(static_cast<int64_t>(axis)),
                            call.emit.builder.getDenseI64ArrayAttr(sizes));
  std::vector<Value> parts;
  for (auto [part, size] : llvm::zip(op.getParts(), sizes)) {
    Shape shape = x.shape;
    shape[axis] = Dim(size);
    parts.push_back(Emitter::result(part, shape, call.place));
  }
  return Value::of(std::move(parts));
}

Value runConcat(Call &call) {
  const Value &list = call.value(0);
  if (list.kind != Value::Kind::List || list.list->empty()) {
    call.error(0, "expected a list of tensors, found " + describe(list));
    return {};
  }
  const std::vector<Value> &parts = *list.list;
  for (const Value &part : parts) {
    if (part.isPoison())
      return {};
    if (!part.isTensor() || part.holdsIntegers != parts[0].holdsIntegers) {
      call.error(0, "the list holds " + describe(part) + ", expected tensors of one kind");
      return {};
    }
  }
  auto axis = static_cast<size_t>(call.axis(1, -1, parts[0].shape.size()));
  if (call.failed)
    return {};
  if (parts.size() == 1)
    return parts[0];
  Shape shape = parts[0].shape;
  SmallVector<mlir::Value> values{parts[0].tensor};
  for (size_t i = 1; i < parts.size(); ++i) {
    Shape other = parts[i].shape;
    bool fits = other.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d)
      fits = d == axis ? !other[d].isFree() && !shape[d].isFree() : other[d] == shape[d];
    if (!fits) {
      call.failed = true;
      call.emit.diagnostics.error(
          call.place,
          "concat: " + text(parts[i]) + " does not continue " + text(parts[0]) +
              " along dimension " + llvm::Twine(axis),
          {{parts[0].origin, "part 0: " + text(parts[0]) + " comes from here"},
           {parts[i].origin,
            "part " + std::to_string(i) + ": " + text(parts[i]) + " comes from here"}});
      return {};
    }
    if (llvm::AddOverflow(shape[axis].size, other[axis].size, shape[axis].size))
      shape[axis].size = INT64_MAX;
    values.push_back(parts[i].tensor);
  }
  if (!call.emit.check(shape, call.place))
    return {};
  Location loc = call.emit.at(call.place);
  return Emitter::result(
      ConcatOp::create(call.emit.builder, loc, values,
                       call.emit.builder.getI64IntegerAttr(static_cast<int64_t>(axis))),
      shape, call.place);
}

Value runPad(Call &call) {
  Value x = call.tensor(0);
  if (call.failed)
    return {};
  int64_t before = call.integer(1, 0, 0, int64_t(1) << 40),
          after = call.integer(2, 0, 0, int64_t(1) << 40);
  auto axis = static_cast<size_t>(call.axis(3, -1, x.shape.size()));
  if (call.failed)
    return {};
  Shape shape = x.shape;
  if (shape[axis].isFree()) {
    call.error(0,
               "dimension " + llvm::Twine(axis) + " of " + text(x) +
                   " is only known when compiling: it cannot be padded",
               {0});
    return {};
  }
  shape[axis].size += before + after;
  if (!call.emit.check(shape, call.place))
    return {};
  SmallVector<int64_t> starts(shape.size(), 0);
  starts[axis] = before;
  Location loc = call.emit.at(call.place);
  return Emitter::result(
      PadOp::create(call.emit.builder, loc, x.tensor, starts, call.emit.attribute(shape)), shape,
      call.place);
}

} // namespace

llvm::ArrayRef<Builtin> shapeBuiltins() {
  static const Builtin builtins[] = {
      {"reshape", "x, shape", runReshape},          {"transpose", "x, permutation", runTranspose},
      {"broadcast_to", "x, shape", runBroadcast},   {"split", "x, parts, axis?", runSplit},
      {"concat", "parts, axis?", runConcat},        {"reverse", "x, axis?", runReverse},
      {"pad", "x, before?, after?, axis?", runPad},
  };
  return builtins;
}

} // namespace hybrid::dsl
