//===- Elaborator.cpp - a model: settings, names, inputs and outputs -----------===//
#include "frontends/dsl/Elaborator.h"
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/Library.h"
#include "frontends/dsl/PublishedTerms.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace hybrid::dsl {

void Elaborator::begin(const Module &module, const Definition &model) {
  Location loc = diagnostics.sources.location(&diagnostics.context, model.place);
  program = ModuleOp::create(loc);
  (*program)->setAttr("hybrid.model", emit.builder.getStringAttr(model.name));
  emit.builder.setInsertionPointToEnd(program->getBody());
  function =
      func::FuncOp::create(emit.builder, loc, "forward", emit.builder.getFunctionType({}, {}));
  emit.builder.setInsertionPointToStart(function.addEntryBlock());

  frames.push_back(std::make_unique<Frame>());
  frame().module = &module;
  frame().definition = &model;
  frame().blocks.emplace_back();
}

OwningOpRef<ModuleOp> Elaborator::run(const Module &module, const Definition &model,
                                      const llvm::StringMap<std::string> &settings,
                                      llvm::ArrayRef<std::string> optimizers,
                                      const Module &optimizerNames) {
  begin(module, model);
  bindSettings(model, settings);
  if (model.result)
    diagnostics.error(model.result->place,
                      "model '" + model.name +
                          "' has a result type, but a model has 'output' statements instead");
  runBlock(model.body);
  if (!diagnostics.failed())
    finish(model);
  if (!diagnostics.failed() && !optimizers.empty())
    writeOptimizers(optimizers, optimizerNames);
  writePublished(*program, emit.published);
  frames.clear();
  if (diagnostics.failed())
    return nullptr;
  if (failed(verify(*program))) {
    emitError(program->getLoc()) << "internal error: the program written out for model '"
                                 << model.name << "' is not valid, please report";
    return nullptr;
  }
  return std::move(program);
}

void Elaborator::look(const Module &module, const Definition &model) {
  begin(module, model);
  bindSettings(model, {}, false);
  runBlock(model.body);
  if (!diagnostics.failed() && llvm::all_of(model.parameters, [](const ParameterSyntax &each) {
        return each.initial != nullptr;
      }))
    finish(model);
  frames.clear();
}

//===-- parameters of the model ----------------------------------------------===//

void Elaborator::bindSettings(const Definition &model, const llvm::StringMap<std::string> &settings,
                              bool allNeeded) {
  std::vector<std::string> names;
  for (const ParameterSyntax &parameter : model.parameters)
    names.push_back(parameter.name);
  // Sorted: a StringMap has no order, and messages are to be the same in every run.
  std::vector<std::string> given;
  for (const auto &setting : settings)
    given.push_back(setting.first().str());
  llvm::sort(given);
  for (const std::string &name : given)
    if (!llvm::is_contained(names, name)) {
      std::string help = didYouMean(name, names);
      if (help.empty())
        help = names.empty() ? "; it has none" : ": expected " + llvm::join(names, ", ");
      diagnostics.error(model.place, "--set " + name + ": model '" + model.name +
                                         "' has no parameter '" + name + "'" + help);
    }
  for (const ParameterSyntax &parameter : model.parameters) {
    if (frame().blocks.back().contains(parameter.name)) {
      diagnostics.error(parameter.place, "parameter '" + parameter.name + "' is named twice");
      continue;
    }
    Value value;
    auto setting = settings.find(parameter.name);
    if (parameter.type.kind == TypeSyntax::Kind::Tensor) {
      diagnostics.error(parameter.type.place,
                        "parameter '" + parameter.name +
                            "' of a model is a tensor: tensors come in by 'input " +
                            parameter.name + ": ...'");
    } else if (isChoice(parameter)) {
      value = choose(model, parameter, setting != settings.end() ? &setting->second : nullptr);
    } else if (setting != settings.end()) {
      value = readSetting(parameter, setting->second);
    } else if (parameter.initial) {
      Value initial = evaluate(*parameter.initial);
      value = convert(initial, parameter, parameter.initial->place, "model '" + model.name + "'");
    } else if (allNeeded) {
      diagnostics.error(parameter.place, "parameter '" + parameter.name +
                                             "' has no value: give it one with --set " +
                                             parameter.name + "=VALUE");
    }
    define(parameter.name, std::move(value), parameter.place);
  }
}

Value Elaborator::readSetting(const ParameterSyntax &parameter, const std::string &setting) {
  using Kind = TypeSyntax::Kind;
  llvm::StringRef given(setting);
  auto wrong = [&](llvm::StringRef expected) {
    diagnostics.error(parameter.place, "--set " + parameter.name + "=" + setting + ": '" + setting +
                                           "' is not " + expected);
    return Value();
  };
  switch (parameter.type.kind) {
  case Kind::Integer: {
    int64_t value;
    return given.getAsInteger(10, value) ? wrong("an integer") : Value::of(value);
  }
  case Kind::Float: {
    double value;
    return given.empty() || given.getAsDouble(value) || !std::isfinite(value) ? wrong("a number")
                                                                              : Value::of(value);
  }
  case Kind::Boolean:
    if (given != "true" && given != "false")
      return wrong("true or false");
    return Value::of(given == "true");
  case Kind::Layer: {
    Module::Found found = frame().module->find(given);
    LayerValue layer;
    layer.definition = found.definition;
    layer.module = found.module;
    layer.builtin = found.definition ? nullptr : findBuiltin(given);
    if (!layer.definition && !layer.builtin) {
      std::string module = libraryModuleOf(given, diagnostics.importPaths);
      return wrong("a layer that this file knows" +
                   (module.empty() ? didYouMean(given, visibleNames())
                                   : "; it is one of the library, which 'use " + module +
                                         "' at the top of the file makes known"));
    }
    return Value::of(std::move(layer));
  }
  case Kind::String:
  case Kind::Tensor:
    break;
  }
  return Value::of(setting);
}

void Elaborator::finish(const Definition &model) {
  if (outputs.empty()) {
    diagnostics.error(model.place,
                      "model '" + model.name +
                          "' has no output: expected a statement such as 'output logits = ...'");
    return;
  }
  OpBuilder &builder = emit.builder;
  SmallVector<mlir::Value> values;
  for (const Output &output : outputs)
    values.push_back(output.value);
  func::ReturnOp::create(builder, diagnostics.location(outputs.back().place), values);
  function.setFunctionType(builder.getFunctionType(function.getBody().front().getArgumentTypes(),
                                                   ValueRange(values).getTypes()));
  for (auto [i, input] : llvm::enumerate(inputs)) {
    function.setArgAttr(static_cast<unsigned>(i), "hybrid.name", builder.getStringAttr(input.name));
    function.setArgAttr(static_cast<unsigned>(i), "hybrid.dims", emit.attribute(input.shape));
  }
  for (auto [i, output] : llvm::enumerate(outputs))
    function.setResultAttr(static_cast<unsigned>(i), "hybrid.name",
                           builder.getStringAttr(output.name));
}

//===-- names ----------------------------------------------------------------===//

Elaborator::Variable *Elaborator::findVariable(llvm::StringRef name) {
  for (auto &block : llvm::reverse(frame().blocks))
    if (auto it = block.find(name); it != block.end())
      return &it->second;
  return nullptr;
}

void Elaborator::define(llvm::StringRef name, Value value, Place place) {
  // `_` takes a value that is not wanted.
  if (observer)
    observer->saw(place, value);
  if (name != "_")
    frame().blocks.back()[name] = {std::move(value), place};
}

std::vector<std::string> Elaborator::visibleNames() {
  std::vector<std::string> names;
  for (const auto &block : frame().blocks)
    for (const auto &entry : block)
      names.push_back(entry.first().str());
  llvm::sort(names);
  for (const auto &list : {frame().module->names(), builtinNames()})
    names.insert(names.end(), list.begin(), list.end());
  return names;
}

std::string Elaborator::uniqueName(llvm::StringRef base) {
  std::string full = scope + base.str();
  int count = ++usedNames[full];
  if (count == 1)
    return full;
  while (true) {
    std::string numbered = full + "_" + std::to_string(count);
    if (usedNames.try_emplace(numbered, 1).second)
      return numbered;
    count = ++usedNames[full];
  }
}

std::string Elaborator::nextBlock() {
  // Counted under a name that no parameter can have.
  int number = usedNames[scope + "blocks.*"]++;
  return scope + "blocks." + std::to_string(number) + ".";
}

} // namespace hybrid::dsl
