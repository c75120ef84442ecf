//===- Builtins.cpp - finding builtins and reading their arguments -------------===//
#include "frontends/dsl/Builtins.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace hybrid::dsl {

/// All groups, in the order in which names are looked for.
static constexpr llvm::ArrayRef<Builtin> (*groups[])() = {
    staticBuiltins, elementwiseBuiltins, shapeBuiltins,      productBuiltins, derivedBuiltins,
    expertBuiltins, attentionBuiltins,   recurrenceBuiltins, operatorBuiltins};

const Builtin *findBuiltin(llvm::StringRef name) {
  for (auto group : groups)
    for (const Builtin &builtin : group())
      if (builtin.name == name)
        return &builtin;
  return nullptr;
}

std::vector<std::string> builtinNames() {
  std::vector<std::string> names{"param", "one_of"};
  for (auto group : groups)
    for (const Builtin &builtin : group())
      names.push_back(builtin.name);
  return names;
}

std::vector<std::string> parameterNames(const Builtin &builtin) {
  std::vector<std::string> names;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(builtin.parameters).split(parts, ',', -1, false);
  for (llvm::StringRef part : parts)
    names.push_back(part.trim().rtrim("?*").str());
  return names;
}

//===-- messages -------------------------------------------------------------===//

static std::vector<Diagnostics::Note> notesAbout(const Call &call, ArrayRef<size_t> about) {
  std::vector<Diagnostics::Note> notes;
  for (size_t index : about)
    if (call.values[index] && call.values[index]->isTensor())
      notes.push_back({call.values[index]->origin,
                       call.names[index] + ": " + text(*call.values[index]) + " comes from here"});
  return notes;
}

Fault Call::error(size_t index, const llvm::Twine &message, ArrayRef<size_t> about) {
  failed = true;
  return emit.diagnostics.error(places[index], builtin.name + ": " + message,
                                notesAbout(*this, about));
}

Fault Call::errorHere(const llvm::Twine &message, ArrayRef<size_t> about) {
  failed = true;
  return emit.diagnostics.error(place, builtin.name + ": " + message, notesAbout(*this, about));
}

Fault Call::wrong(size_t index, const llvm::Twine &expected) {
  if (values[index]->isFree())
    return error(index, names[index] + " is " + text(*values[index]) +
                            ", which is only known when compiling: expected " + expected);
  return error(index, names[index] + " is " + describe(*values[index]) + ", expected " + expected);
}

//===-- arguments ------------------------------------------------------------===//

Value Call::anyTensor(size_t index) {
  const Value &value = *values[index];
  if (value.isTensor())
    return value;
  if (value.isNumber())
    return emit.scalar(value.asNumber(), places[index]);
  return wrong(index, "a tensor");
}

Value Call::tensor(size_t index) {
  Value value = anyTensor(index);
  if (!value.isTensor() || !value.holdsIntegers)
    return value;
  return error(
      index, names[index] + " holds integers " + text(value) + ", expected floating point numbers",
      {index});
}

Value Call::tensorOr(size_t index) { return has(index) ? tensor(index) : Value(); }

Value Call::integers(size_t index) {
  if (!has(index))
    return {};
  const Value &value = *values[index];
  if (value.isTensor() && value.holdsIntegers)
    return value;
  return wrong(index, "a tensor of integers");
}

int64_t Call::integer(size_t index, int64_t otherwise, int64_t smallest, int64_t largest) {
  if (!has(index))
    return otherwise;
  const Value &value = *values[index];
  if (!value.isInteger() || value.isFree()) {
    wrong(index, "an integer");
    return otherwise;
  }
  if (value.integer.size < smallest || value.integer.size > largest) {
    if (largest == INT64_MAX)
      error(index,
            names[index] + " = " + text(value) + ", expected at least " + llvm::Twine(smallest));
    else
      error(index, names[index] + " = " + text(value) + ", expected " + llvm::Twine(smallest) +
                       " to " + llvm::Twine(largest));
    return otherwise;
  }
  return value.integer.size;
}

double Call::number(size_t index, double otherwise) {
  if (!has(index))
    return otherwise;
  if (values[index]->isNumber())
    return values[index]->asNumber();
  wrong(index, "a number");
  return otherwise;
}

bool Call::boolean(size_t index, bool otherwise) {
  if (!has(index))
    return otherwise;
  if (values[index]->kind == Value::Kind::Boolean)
    return values[index]->boolean;
  wrong(index, "true or false");
  return otherwise;
}

Shape Call::listedSizes(size_t index, bool inferred) {
  const Value &value = *values[index];
  Shape shape;
  if (value.kind != Value::Kind::List) {
    wrong(index, "a list of sizes such as [B, L, D]");
    return shape;
  }
  for (const Value &size : *value.list) {
    if (!size.isInteger()) {
      if (!size.isPoison())
        error(index, names[index] + " holds " + describe(size) + ", expected integers");
      failed = true;
      return shape;
    }
    shape.push_back(size.integer);
    bool unknown = inferred && !size.integer.isFree() && size.integer.size == -1;
    if (!size.integer.isFree() && size.integer.size < 1 && !unknown) {
      error(index, names[index] + " holds a size of " + text(size) + ", expected at least 1");
      return shape;
    }
  }
  return shape;
}

Shape Call::sizes(size_t index, bool inferred) {
  Shape shape = listedSizes(index, inferred);
  if (!failed && !inferred && !emit.check(shape, places[index]))
    failed = true;
  return shape;
}

SmallVector<int64_t> Call::axes(size_t index, size_t rank) {
  auto size = static_cast<int64_t>(rank);
  Value given = has(index) ? value(index) : Value::of(int64_t(-1));
  SmallVector<int64_t> result;
  for (const Value &axis :
       given.kind == Value::Kind::List ? *given.list : std::vector<Value>{given}) {
    if (!axis.isInteger() || axis.isFree() || axis.integer.size < -size ||
        axis.integer.size >= size) {
      failed = true;
      if (!axis.isPoison())
        error(index,
              names[index] + " = " + text(axis) + " of " +
                  (value(0).isTensor() ? text(value(0))
                                       : "a tensor with " + std::to_string(rank) + " dimensions"),
              {0});
      break;
    }
    result.push_back(axis.integer.size < 0 ? axis.integer.size + size : axis.integer.size);
  }
  return result;
}

int64_t Call::axis(size_t index, size_t rank) {
  SmallVector<int64_t> given = axes(index, rank);
  if (!failed && given.size() == 1)
    return given[0];
  if (!failed)
    error(index, names[index] + " is " + describe(value(index)) + ", expected an integer");
  return 0;
}

} // namespace hybrid::dsl
