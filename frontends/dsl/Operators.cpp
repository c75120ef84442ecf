//===- Operators.cpp - the ops of the dialect that the language offers ---------===//
//
// Arguments become operands and attributes as dialect/Operators.h says; the rest is the op's.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/Builtins.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace hybrid::dsl {

using Kind = OperatorParameter::Kind;

//===-- arguments ------------------------------------------------------------===//

static void readOperand(Call &call, size_t index, const OperatorParameter &parameter,
                        std::vector<Value> &operands) {
  if (!call.has(index))
    return;
  if (!parameter.list) {
    operands.push_back(parameter.kind == Kind::Integers ? call.integers(index)
                       : parameter.kind == Kind::Tensor ? call.tensor(index)
                                                        : call.anyTensor(index));
    return;
  }
  const Value &list = call.value(index);
  if (list.kind != Value::Kind::List || list.list->empty()) {
    call.error(index, "expected a list of tensors, found " + describe(list));
    return;
  }
  for (const Value &part : *list.list) {
    if (part.isTensor() && part.holdsIntegers == (*list.list)[0].holdsIntegers) {
      operands.push_back(part);
      continue;
    }
    call.failed = true;
    if (!part.isPoison())
      call.error(index, "the list holds " + describe(part) + ", expected tensors of one kind");
    return;
  }
}

/// Null for a flag that is not set and after a report.
static Attribute readAttribute(Call &call, size_t index, Kind kind, size_t rank) {
  OpBuilder &b = call.emit.builder;
  switch (kind) {
  case Kind::Tensor:
  case Kind::Integers:
  case Kind::AnyTensor:
    break;
  case Kind::Integer:
    return b.getI64IntegerAttr(call.integer(index, 0, INT64_MIN, INT64_MAX));
  case Kind::Number:
    return b.getF64FloatAttr(call.number(index, 0));
  case Kind::Boolean:
    return b.getBoolAttr(call.boolean(index, false));
  case Kind::Flag:
    return call.boolean(index, false) ? b.getUnitAttr() : UnitAttr();
  case Kind::Axis:
    return b.getI64IntegerAttr(call.axis(index, rank));
  case Kind::Axes:
    return b.getDenseI64ArrayAttr(call.axes(index, rank));
  case Kind::Sizes: {
    SmallVector<int64_t> sizes;
    for (const Dim &size : call.listedSizes(index)) {
      if (size.isFree())
        call.error(index, call.names[index] + " holds " + size.name +
                              ", which is only known when compiling");
      sizes.push_back(size.size);
    }
    return b.getDenseI64ArrayAttr(sizes);
  }
  case Kind::Size: {
    const Value &size = call.value(index);
    if (size.isInteger())
      return call.emit.attribute({size.integer});
    call.error(index, call.names[index] + " is " + describe(size) + ", expected an integer");
    break;
  }
  }
  return {};
}

Value runOperator(Call &call) {
  const Operator &op = *call.builtin.op;
  for (auto [index, parameter] : llvm::enumerate(op.parameters))
    if (!parameter.optional && !call.has(index)) // absent ones were reported
      return call.error(index, call.names[index] + " is none, which it may not be");
  std::vector<std::vector<Value>> groups(op.operands);
  for (auto [index, parameter] : llvm::enumerate(op.parameters))
    if (parameter.isOperand())
      readOperand(call, index, parameter, groups[parameter.operand]);
  if (call.failed)
    return {};
  std::vector<Value> operands;
  SmallVector<int32_t> segments;
  for (const std::vector<Value> &group : groups) {
    segments.push_back(static_cast<int32_t>(group.size()));
    operands.insert(operands.end(), group.begin(), group.end());
  }
  OpBuilder &b = call.emit.builder;
  NamedAttrList attributes;
  size_t rank = operands.empty() ? 0 : operands[0].shape.size();
  for (auto [index, parameter] : llvm::enumerate(op.parameters)) {
    size_t from = call.has(index) || parameter.other.empty()
                      ? index
                      : llvm::find(call.names, parameter.other) - call.names.begin();
    if (parameter.isOperand() || (!call.has(from) && parameter.kind != Kind::Axis))
      continue;
    if (Attribute attribute = readAttribute(call, from, parameter.kind, rank))
      attributes.append(parameter.attribute, attribute);
  }
  if (call.failed)
    return {};
  for (llvm::StringRef flag : op.flags)
    attributes.append(flag, b.getUnitAttr());
  OperationName name(op.op, b.getContext());
  if (name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    attributes.append("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  Emitter::Added added = call.emit.add(op.op, operands, attributes, call.place);
  if (!call.report(added))
    return {};
  if (op.listed)
    return Value::of(std::move(added.results));
  std::vector<Value> results;
  for (unsigned result : op.results)
    if (result < added.results.size())
      results.push_back(added.results[result]);
  return results.size() == 1 ? results[0] : Value::of(std::move(results));
}

std::string operatorParameters(const Operator &op) {
  std::vector<std::string> parameters;
  for (const OperatorParameter &parameter : op.parameters)
    parameters.push_back((parameter.name + (parameter.optional ? "?" : "")).str());
  return llvm::join(parameters, ", ");
}

llvm::ArrayRef<Builtin> operatorBuiltins() {
  static const std::vector<Builtin> builtins = [] {
    std::vector<Builtin> list;
    for (const Operator &op : operators())
      list.push_back({op.name.str(), operatorParameters(op), runOperator, &op});
    return list;
  }();
  return builtins;
}

//===-- what an op says against itself ---------------------------------------===//

/// Where `message` speaks of `name` as something that is, has or takes; npos if nowhere.
static size_t mentionOf(llvm::StringRef name, llvm::StringRef message) {
  for (size_t at = message.find(name); at != llvm::StringRef::npos;
       at = message.find(name, at + 1)) {
    bool begins = at == 0 || !(llvm::isAlnum(message[at - 1]) || message[at - 1] == '_');
    llvm::StringRef rest = message.substr(at + name.size());
    if (begins && llvm::any_of(llvm::ArrayRef<llvm::StringRef>{" is ", " are ", " has ", " takes "},
                               [&](llvm::StringRef verb) { return rest.starts_with(verb); }))
      return at;
  }
  return llvm::StringRef::npos;
}

bool Call::report(const Emitter::Added &added) {
  if (added.fault.empty())
    return true;
  failed = true;
  std::string fault = added.fault;
  // The op may call an attribute by another name than the language.
  if (builtin.op)
    for (const OperatorParameter &parameter : builtin.op->parameters)
      if (parameter.attribute != parameter.name && !parameter.isOperand() &&
          llvm::StringRef(fault).starts_with((parameter.attribute + " = ").str()))
        fault.replace(0, parameter.attribute.size(), parameter.name.str());
  struct Mention {
    size_t at;
    std::string name;
    const Value *tensor;
  };
  std::vector<Mention> tensors;
  Place about = place;
  for (auto [index, name] : llvm::enumerate(names)) {
    for (llvm::StringRef verb : {" = ", " is ", " are ", " has "})
      if (llvm::StringRef(fault).starts_with((name + verb).str()))
        about = places[index];
    if (!has(index))
      continue;
    const Value &given = value(index);
    if (given.isTensor())
      tensors.push_back({mentionOf(name, fault), name, &given});
    if (given.kind == Value::Kind::List)
      for (auto [i, part] : llvm::enumerate(*given.list)) {
        std::string numbered = name + "[" + std::to_string(i) + "]";
        if (part.isTensor())
          tensors.push_back({fault.find(numbered), numbered, &part});
      }
  }
  // A message at the call that names none is about all of them.
  bool named = llvm::any_of(
      tensors, [](const Mention &mention) { return mention.at != llvm::StringRef::npos; });
  if (named || about != place) {
    llvm::erase_if(tensors,
                   [](const Mention &mention) { return mention.at == llvm::StringRef::npos; });
    llvm::sort(tensors, [](const Mention &a, const Mention &b) { return a.at < b.at; });
  }
  std::vector<Diagnostics::Note> notes;
  for (const Mention &mention : tensors)
    notes.push_back(
        {mention.tensor->origin, mention.name + ": " + text(*mention.tensor) + " comes from here"});
  emit.diagnostics.error(about, builtin.name + ": " + fault, notes);
  return false;
}

Value Call::result(const Emitter::Added &added) {
  return report(added) ? added.results[0] : Value();
}

} // namespace hybrid::dsl
