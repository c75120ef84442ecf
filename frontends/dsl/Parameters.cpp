//===- Parameters.cpp - the trained tensors of a model -------------------------===//
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/Elaborator.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace hybrid::dsl {

Value Elaborator::evaluateParam(const Expression &call, llvm::StringRef hint) {
  const Argument *shapeArgument = nullptr, *initArgument = nullptr;
  std::string name = hint.str();
  bool decay = true, trainable = true, good = true;
  double lrScale = 1;
  auto flag = [&](const Argument &argument, bool &into) {
    if (std::optional<bool> value = condition(*argument.value))
      into = *value;
    else
      good = false;
  };
  const std::vector<std::string> known{"shape", "init", "decay", "trainable", "lr_scale", "name"};
  for (const Argument &argument : call.arguments) {
    std::string key = argument.name;
    if (key.empty())
      key = !shapeArgument ? "shape" : !initArgument ? "init" : "";
    if (key == "shape") {
      shapeArgument = &argument;
    } else if (key == "init") {
      initArgument = &argument;
    } else if (key == "decay") {
      flag(argument, decay);
    } else if (key == "trainable") {
      flag(argument, trainable);
    } else if (key == "lr_scale") {
      Value value = evaluate(*argument.value);
      if (value.isNumber() && value.asNumber() >= 0)
        lrScale = value.asNumber();
      else if (!value.isPoison())
        diagnostics.error(argument.place, "param: lr_scale is " + describe(value) +
                                              ", expected a number of at least 0");
      good &= value.isNumber();
    } else if (key == "name") {
      good &= readName(argument.place, evaluate(*argument.value), name);
    } else {
      diagnostics.error(argument.place,
                        key.empty()
                            ? "param: only shape and init are given without a name"
                            : "param has no argument '" + key + "'" + didYouMean(key, known));
      good = false;
    }
  }
  if (!shapeArgument)
    return diagnostics.error(call.place, "param needs a shape: param([D], init = ones())");
  Value sizes = evaluate(*shapeArgument->value);
  if (sizes.isPoison())
    return {};
  if (sizes.kind != Value::Kind::List)
    return diagnostics.error(shapeArgument->place, "param: shape is " + describe(sizes) +
                                                       ", expected a list of sizes such as [D]");
  Shape shape;
  for (const Value &size : *sizes.list) {
    if (size.isPoison())
      return {};
    if (!size.isInteger() || size.isFree())
      return diagnostics.error(shapeArgument->place,
                               size.isFree()
                                   ? "param: a parameter has a fixed shape, but " +
                                         text(size.integer) + " is only known when compiling"
                                   : "param: a size is an integer, not " + describe(size));
    shape.push_back(size.integer);
  }
  Shape ofAll = emit.ofAllExperts(shape);
  if (!emit.check(ofAll, shapeArgument->place))
    return {};
  if (name.empty())
    return diagnostics.error(
        call.place,
        "a parameter needs a name: write 'let NAME = param(...)' or give it name = \"...\"");
  if (!initArgument)
    return diagnostics.error(
        call.place,
        "parameter '" + name +
            "' has no initial value: expected 'init = ...', such as normal(0, 0.02) or zeros()");
  if (!good)
    return {};
  std::string full = uniqueName(name);
  Value initial = initialValue(*initArgument->value, full, ofAll);
  if (initial.isPoison())
    return {};
  Location loc = emit.at(call.place);
  OpBuilder &builder = emit.builder;
  auto op = ParameterOp::create(builder, loc, emit.type(ofAll), builder.getStringAttr(full),
                                initial.tensor, builder.getBoolAttr(trainable),
                                builder.getBoolAttr(decay), builder.getF64FloatAttr(lrScale));
  return Emitter::result(emit.ownPart(op), shape, call.place);
}

Value Elaborator::initialValue(const Expression &init, const std::string &name,
                               const Shape &shape) {
  Emitter::Initial initial{name, shape, 0};
  Emitter::Initial *outer = std::exchange(emit.initial, &initial);
  Value value = evaluate(init);
  emit.initial = outer;
  if (value.isPoison())
    return {};
  if (value.isNumber())
    return emit.filled(value.asNumber(), shape, init.place);
  if (!value.isTensor() || value.holdsIntegers)
    return diagnostics.error(init.place, "param: the initial value of '" + name + "' is " +
                                             describe(value) + ", expected numbers");
  Emitter::Added added = emit.broadcastTo(value, shape, init.place);
  if (!added.fault.empty())
    return diagnostics.error(init.place,
                             "param: '" + name + "' is " + text(shape) +
                                 ", but its initial value is " + text(value),
                             {{value.origin, "the initial value comes from here"}});
  if (!isIndependent(value, init.place, name))
    return {};
  return added.results[0];
}

bool Elaborator::isIndependent(const Value &initial, Place place, llvm::StringRef name) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<mlir::Value> pending{initial.tensor};
  while (!pending.empty()) {
    mlir::Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || isa<ParameterOp>(op)) {
      std::string what = op ? "another parameter" : "an input of the model";
      diagnostics.error(place, "param: the initial value of '" + name + "' depends on " + what);
      return false;
    }
    if (seen.insert(op).second)
      pending.append(op->operand_begin(), op->operand_end());
  }
  return true;
}

} // namespace hybrid::dsl
