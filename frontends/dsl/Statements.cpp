//===- Statements.cpp - running statements -------------------------------------===//
#include "dialect/Shapes.h"
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/Elaborator.h"
#include "frontends/dsl/Topology.h"

using namespace mlir;

namespace hybrid::dsl {

void Elaborator::runBlock(const std::vector<Statement> &statements) {
  ++depth;
  const Statement *previous = nullptr;
  for (const Statement &statement : statements) {
    if (!emit.step(statement.place) || frame().abandoned || isTooDeep(statement.place))
      break;
    if (frame().returned) {
      // Behind an `if` that returned, what follows is for the other case.
      if (previous->kind != Statement::Kind::Return)
        break;
      diagnostics.error(statement.place, "this statement is never reached",
                        {{frame().resultPlace, "the layer returns here"}});
      break;
    }
    runStatement(statement);
    previous = &statement;
  }
  --depth;
}

void Elaborator::runStatement(const Statement &statement) {
  using Kind = Statement::Kind;
  switch (statement.kind) {
  case Kind::Let:
    return runLet(statement);
  case Kind::Assign:
    return runAssign(statement);
  case Kind::For:
    return runFor(statement);
  case Kind::Repeat:
    return runRepeat(statement);
  case Kind::If: {
    std::optional<bool> chosen = condition(*statement.value);
    if (chosen)
      runBody(*chosen ? statement.body : statement.otherwise, false);
    return;
  }
  case Kind::Return: {
    if (isModelLevel()) {
      diagnostics.error(statement.place,
                        "a model returns nothing: its results are named by 'output NAME = ...'");
      return;
    }
    Value value = evaluate(*statement.value);
    frame().result = std::move(value);
    frame().resultPlace = statement.value->place;
    frame().returned = true;
    return;
  }
  case Kind::Topology:
    return runTopology(statement);
  case Kind::Input:
    return runInput(statement);
  case Kind::Output:
    return runOutput(statement);
  case Kind::Evaluate: {
    Value value = evaluate(*statement.value);
    // A 'require' that does not hold.
    frame().abandoned |= value.isPoison() && !isModelLevel();
    if (!value.isPoison() && !value.isNone())
      diagnostics.error(statement.value->place,
                        "this value (" + text(value) +
                            ") is not used: name it with 'let', assign it or return it");
    return;
  }
  }
}

//===-- names ----------------------------------------------------------------===//

void Elaborator::runLet(const Statement &statement) {
  const Pattern &pattern = statement.pattern;
  bool single = pattern.entries.size() == 1 && !pattern.isList;
  Value value = evaluate(*statement.value, single ? llvm::StringRef(pattern.entries[0].name) : "");
  bindPattern(pattern, value, statement.value->place);
}

void Elaborator::bindPattern(const Pattern &pattern, const Value &value, Place place) {
  auto bindAll = [&](const Value &all) {
    for (const Pattern::Entry &entry : pattern.entries)
      define(entry.name, all, entry.place);
  };
  if (!pattern.isList) {
    if (value.isNone() || value.isPoison() || !pattern.entries[0].rest)
      bindAll(value);
    return;
  }
  if (value.isPoison())
    return bindAll({});
  if (value.kind != Value::Kind::List) {
    diagnostics.error(place, "expected a list to take apart, found " + describe(value),
                      {{pattern.place, "for the names here"}});
    return bindAll({});
  }
  const std::vector<Value> &values = *value.list;
  size_t names = pattern.entries.size();
  bool hasRest =
      llvm::any_of(pattern.entries, [](const Pattern::Entry &entry) { return entry.rest; });
  if (hasRest ? values.size() + 1 < names : values.size() != names) {
    diagnostics.error(pattern.place,
                      "a list of " + llvm::Twine(values.size()) + " is taken apart into " +
                          llvm::Twine(names) + (hasRest ? " or more" : "") + " names",
                      {{place, "the list is made here"}});
    return bindAll({});
  }
  size_t next = 0, inRest = values.size() + 1 - names;
  for (const Pattern::Entry &entry : pattern.entries) {
    if (entry.rest) {
      define(entry.name, Value::of(ArrayRef(values).slice(next, inRest).vec()), entry.place);
      next += inRest;
    } else {
      define(entry.name, values[next++], entry.place);
    }
  }
}

void Elaborator::runAssign(const Statement &statement) {
  Value value = evaluate(*statement.value);
  Variable *variable = findVariable(statement.name);
  if (!variable) {
    std::vector<std::string> names;
    for (const auto &block : frame().blocks)
      for (const auto &entry : block)
        names.push_back(entry.first().str());
    llvm::sort(names);
    std::string help = didYouMean(statement.name, names);
    diagnostics.error(statement.place,
                      "'" + statement.name + "' has not been named before" +
                          (help.empty() ? ": expected 'let " + statement.name + " = ...'" : help));
    define(statement.name, {}, statement.place);
    return;
  }
  if (statement.sign)
    value = combine(emit, llvm::StringRef(&statement.sign, 1), variable->value, value,
                    statement.place, statement.name,
                    statement.value->kind == Expression::Kind::Name
                        ? llvm::StringRef(statement.value->text)
                        : "");
  // combine() may run nothing that defines names, so the pointer still holds.
  bool changes = variable->value.isTensor() && value.isTensor() && statement.sign &&
                 variable->value.shape != value.shape;
  if (changes) {
    diagnostics.error(statement.place,
                      "'" + llvm::Twine(statement.name) + "' changes its shape from " +
                          text(variable->value) + " to " + text(value) + " by '" +
                          llvm::Twine(statement.sign) + "='",
                      {{variable->value.origin,
                        statement.name + ": " + text(variable->value) + " comes from here"}});
    value = {};
  }
  variable->value = std::move(value);
  if (observer)
    observer->saw(statement.place, variable->value);
}

//===-- loops ----------------------------------------------------------------===//

void Elaborator::runBody(const std::vector<Statement> &body, bool numbered,
                         llvm::function_ref<void()> bind) {
  std::string outer = scope;
  if (numbered)
    scope = nextBlock();
  frame().blocks.emplace_back();
  bind();
  runBlock(body);
  frame().blocks.pop_back();
  scope = std::move(outer);
}

bool Elaborator::goesOn(Place place) {
  return emit.step(place) && !frame().returned && !frame().abandoned;
}

void Elaborator::runFor(const Statement &statement) {
  std::vector<Value> values;
  int64_t start = 0, end = 0;
  bool isRange = statement.end != nullptr;
  if (isRange) {
    std::optional<int64_t> from = integer(*statement.value, "the start of the range");
    std::optional<int64_t> to = integer(*statement.end, "the end of the range");
    if (!from || !to)
      return;
    start = *from;
    end = *to;
  } else {
    Value list = evaluate(*statement.value);
    if (list.isPoison())
      return;
    if (list.kind != Value::Kind::List) {
      diagnostics.error(statement.value->place,
                        "a loop runs over a list or a range such as 0..4, not over " +
                            describe(list));
      return;
    }
    values = *list.list;
    end = static_cast<int64_t>(values.size());
  }
  const auto &names = statement.pattern.entries;
  for (int64_t i = start; i < end && goesOn(statement.place); ++i)
    runBody(statement.body, isModelLevel(), [&] {
      if (names.size() == 2)
        define(names[0].name, Value::of(i - start), names[0].place);
      define(names.back().name, isRange ? Value::of(i) : values[static_cast<size_t>(i)],
             names.back().place);
    });
}

void Elaborator::runRepeat(const Statement &statement) {
  std::optional<int64_t> times = integer(*statement.value, "the number of repetitions");
  if (times && *times < 0)
    diagnostics.error(statement.value->place, "cannot repeat " + llvm::Twine(*times) + " times");
  for (int64_t i = 0; times && i < *times && goesOn(statement.place); ++i)
    runBody(statement.body, isModelLevel());
}

void Elaborator::runTopology(const Statement &statement) {
  Value pattern = evaluate(*statement.value);
  llvm::StringMap<const Statement::Letter *> letters;
  for (const Statement::Letter &letter : statement.letters) {
    auto [it, inserted] = letters.try_emplace(letter.name, &letter);
    if (!inserted)
      diagnostics.error(letter.place, "block '" + letter.name + "' is given twice",
                        {{it->second->place, "the first is here"}});
  }
  if (pattern.isPoison())
    return;
  if (pattern.kind != Value::Kind::String) {
    diagnostics.error(statement.value->place,
                      "a topology is a string such as \"(HA) x 2\", not " + describe(pattern));
    return;
  }
  Topology topology = readTopology(pattern.string);
  // A place inside the string, when the string stands here as it is.
  auto inside = [&](uint32_t position) {
    Place place = statement.value->place;
    llvm::StringRef source = diagnostics.sources.file(place.file).text;
    if (statement.value->kind == Expression::Kind::String &&
        source.substr(place.offset + 1).starts_with(pattern.string))
      place.offset += 1 + position;
    return place;
  };
  if (!topology.error.empty()) {
    diagnostics.error(inside(topology.errorPosition),
                      "topology \"" + pattern.string + "\": " + topology.error);
    return;
  }
  llvm::StringMap<bool> used;
  for (size_t i = 0; i < topology.letters.size(); ++i) {
    std::string letter(1, topology.letters[i]);
    auto found = letters.find(letter);
    bool first = used.try_emplace(letter, true).second;
    if (found == letters.end()) {
      if (first)
        diagnostics.error(inside(topology.positions[i]),
                          "topology \"" + pattern.string + "\": there is no block '" + letter + "'",
                          {{statement.place, "the blocks are given here"}});
      continue;
    }
    if (frame().returned || !emit.step(statement.place))
      return;
    runBody(found->second->body, true);
  }
}

//===-- inputs and outputs ---------------------------------------------------===//

void Elaborator::runInput(const Statement &statement) {
  Value value;
  Shape shape;
  bool good = true;
  if (!isModelLevel()) {
    diagnostics.error(statement.place,
                      "'input' belongs in a model; a layer takes its tensors as parameters");
    good = false;
  }
  for (const Input &input : inputs)
    if (input.name == statement.name) {
      diagnostics.error(statement.place, "input '" + statement.name + "' is named twice",
                        {{input.place, "the first is here"}});
      good = false;
    }
  if (good && (statement.type.kind != TypeSyntax::Kind::Tensor || statement.type.leading)) {
    diagnostics.error(statement.type.place,
                      "an input has a shape such as int[B, L] or [B, L, 8], not " +
                          text(statement.type));
    good = false;
  }
  for (const ExpressionPtr &dimension : statement.type.dimensions) {
    if (!good)
      break;
    if (dimension->kind == Expression::Kind::Name && !findVariable(dimension->text) &&
        (dimension->text == "B" || dimension->text == "L")) {
      // From here on B and L are integers of the model, known when compiling.
      frame().blocks.front()[dimension->text] = {Value::of(Dim::free(dimension->text)),
                                                 dimension->place};
    } else if (dimension->kind == Expression::Kind::Name && !findVariable(dimension->text) &&
               (dimension->text[0] >= 'A' && dimension->text[0] <= 'Z')) {
      diagnostics.error(dimension->place,
                        "the free dimensions of a model are B (batch) and L (length), not " +
                            dimension->text);
      good = false;
      break;
    }
    Value size = evaluate(*dimension);
    good = size.isInteger();
    if (!good && !size.isPoison())
      diagnostics.error(dimension->place, "a size is an integer, not " + describe(size));
    shape.push_back(size.integer);
  }
  if (good && emit.check(shape, statement.type.place)) {
    RankedTensorType type = emit.type(shape);
    if (statement.type.integerElements)
      type = tensorOf(type.getShape(), emit.builder.getI32Type());
    BlockArgument argument =
        function.getBody().front().addArgument(type, diagnostics.location(statement.place));
    inputs.push_back({statement.name, statement.place, shape});
    value = Emitter::result(argument, shape, statement.place);
  }
  define(statement.name, std::move(value), statement.place);
}

void Elaborator::runOutput(const Statement &statement) {
  Value value = evaluate(*statement.value);
  if (!isModelLevel()) {
    diagnostics.error(statement.place, "'output' belongs in a model; a layer returns its result");
    return;
  }
  for (const Output &output : outputs)
    if (output.name == statement.name) {
      diagnostics.error(statement.place, "output '" + statement.name + "' is named twice",
                        {{output.place, "the first is here"}});
      return;
    }
  if (value.isPoison())
    return;
  if (!value.isTensor()) {
    diagnostics.error(statement.value->place, "an output is a tensor, not " + describe(value));
    return;
  }
  outputs.push_back({statement.name, statement.place, value.tensor});
  define(statement.name, std::move(value), statement.place);
}

} // namespace hybrid::dsl
