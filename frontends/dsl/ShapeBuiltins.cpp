//===- ShapeBuiltins.cpp - operators that rearrange ----------------------------===//
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/FreeSizes.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

/// What -1 stands for in the shape `to` of a tensor that has the shape `from`, if there is such a
/// size.
std::optional<Dim> missingSize(Shape from, Shape to) {
  to.erase(llvm::find(to, Dim(-1)));
  // What both have does not matter, which leaves small products.
  llvm::erase_if(to, [&](const Dim &dim) {
    auto same = llvm::find(from, dim);
    bool both = same != from.end();
    if (both)
      from.erase(same);
    return both;
  });
  int64_t sizes[freeSizeSets];
  for (size_t set = 0; set < freeSizeSets; ++set) {
    __int128 whole = 1, others = 1;
    for (const Dim &dim : from)
      whole *= standIn(dim, set);
    for (const Dim &dim : to)
      if (others <= whole) // more are not divided by it, and could be too many for these bits
        others *= standIn(dim, set);
    if (whole % others != 0)
      return std::nullopt;
    sizes[set] = static_cast<int64_t>(whole / others);
  }
  return sizeOf(sizes[0], sizes[1]);
}

Value runReshape(Call &call) {
  Value x = call.anyTensor(0);
  Shape shape = call.sizes(1, true);
  if (call.failed)
    return {};
  if (llvm::count(shape, Dim(-1)) > 1)
    return call.error(1, "only one size can be -1");
  if (auto unknown = llvm::find(shape, Dim(-1)); unknown != shape.end()) {
    std::optional<Dim> size = missingSize(x.shape, shape);
    if (!size)
      return call.errorHere("cannot make " + text(shape) + " of " + text(x) +
                                ": the number of elements differs",
                            {0});
    *unknown = *size;
  }
  return call.emit.check(shape, call.places[1])
             ? call.result(call.emit.reshape(x, shape, call.place))
             : Value();
}

Value runBroadcast(Call &call) {
  Value x = call.anyTensor(0);
  Shape shape = call.sizes(1);
  return call.failed ? Value() : call.result(call.emit.broadcastTo(x, shape, call.place));
}

/// `parts` may be a number of equal ones, too.
Value runSplit(Call &call) {
  Value x = call.anyTensor(0);
  if (call.failed)
    return {};
  auto axis = static_cast<size_t>(call.axis(2, x.shape.size()));
  if (call.failed)
    return {};
  if (x.shape[axis].isFree())
    return call.error(0,
                      "dimension " + llvm::Twine(axis) + " of " + text(x) +
                          " is only known when compiling: it cannot be split",
                      {0});
  if (call.value(1).kind != Value::Kind::List) {
    int64_t parts = call.integer(1, 1, 1, 4096), total = x.shape[axis].size;
    if (!call.failed && total % parts != 0)
      call.error(1,
                 llvm::Twine(total) + " channels cannot be split into " + llvm::Twine(parts) +
                     " equal parts",
                 {0});
    if (call.failed)
      return {};
    call.values[1] =
        Value::of(std::vector<Value>(static_cast<size_t>(parts), Value::of(total / parts)));
  }
  bool whole =
      call.value(1).list->size() == 1 && text((*call.value(1).list)[0]) == text(x.shape[axis]);
  return whole ? Value::of(std::vector<Value>{x}) : runOperator(call);
}

/// A list of one is that one.
Value runConcat(Call &call) {
  const Value &list = call.value(0);
  bool single = list.kind == Value::Kind::List && list.list->size() == 1;
  return single && (*list.list)[0].isTensor() ? (*list.list)[0] : runOperator(call);
}

/// Besides x [..., k, D] with a slot for each row, x [..., D] whose rows go to each of their k
/// slots.
Value runDispatch(Call &call) {
  Value x = call.tensor(0), slots = call.integers(1);
  if (call.failed)
    return {};
  bool several = x.shape.size() == slots.shape.size() && !x.shape.empty() &&
                 std::equal(x.shape.begin(), x.shape.end() - 1, slots.shape.begin());
  if (several) {
    Shape shape = x.shape;
    shape.insert(shape.end() - 1, Dim(1));
    x = call.result(call.emit.reshape(x, shape, call.place));
    shape[shape.size() - 2] = slots.shape.back();
    if (!call.failed)
      x = call.result(call.emit.broadcastTo(x, shape, call.place));
    if (call.failed)
      return {};
    call.values[0] = x;
  }
  return runOperator(call);
}

Value runPad(Call &call) {
  Value x = call.tensor(0);
  if (call.failed)
    return {};
  int64_t before = call.integer(1, 0, 0, int64_t(1) << 40),
          after = call.integer(2, 0, 0, int64_t(1) << 40);
  auto axis = static_cast<size_t>(call.axis(3, x.shape.size()));
  if (call.failed)
    return {};
  Shape shape = x.shape;
  if (shape[axis].isFree())
    return call.error(0,
                      "dimension " + llvm::Twine(axis) + " of " + text(x) +
                          " is only known when compiling: it cannot be padded",
                      {0});
  shape[axis].size += before + after;
  SmallVector<int64_t> starts(shape.size(), 0);
  starts[axis] = before;
  NamedAttrList attributes;
  attributes.append("starts", call.emit.builder.getDenseI64ArrayAttr(starts));
  attributes.append("shape", call.emit.attribute(shape));
  return call.result(call.emit.add(PadOp::getOperationName(), x, attributes, call.place));
}

} // namespace

/// An operator of the dialect with something done before.
static Builtin operatorWith(llvm::StringRef name, Value (*run)(Call &call)) {
  Builtin builtin =
      *llvm::find_if(operatorBuiltins(), [&](const Builtin &other) { return other.name == name; });
  builtin.run = run;
  return builtin;
}

llvm::ArrayRef<Builtin> shapeBuiltins() {
  static const Builtin builtins[] = {
      {"reshape", "x, shape", runReshape}, {"broadcast_to", "x, shape", runBroadcast},
      operatorWith("split", runSplit),     {"pad", "x, before?, after?, axis?", runPad},
      operatorWith("concat", runConcat),   operatorWith("dispatch", runDispatch),
  };
  return builtins;
}

} // namespace hybrid::dsl
