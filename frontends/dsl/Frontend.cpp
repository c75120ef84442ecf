//===- Frontend.cpp - the language Hybrid, from text to the dialect ------------===//
#include "frontends/dsl/Frontend.h"
#include "frontends/dsl/Elaborator.h"
#include "frontends/dsl/LayerHelp.h"
#include "frontends/dsl/Modules.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

/// The model asked for, or null after a diagnostic.
const Definition *chooseModel(const Module &main, Diagnostics &diagnostics,
                              const std::string &wanted) {
  std::vector<std::string> names;
  const Definition *chosen = nullptr;
  for (const auto &definition : main.syntax.definitions) {
    if (!definition->isModel)
      continue;
    names.push_back(definition->name);
    if (wanted.empty() || definition->name == wanted)
      chosen = definition.get();
  }
  Place start{main.syntax.file, 0};
  if (names.empty())
    diagnostics.error(start, "this file has no model: expected 'model NAME(...) { ... }'");
  else if (wanted.empty() && names.size() > 1)
    diagnostics.error(start, "this file has several models (" + llvm::join(names, ", ") +
                                 "): choose one with --model");
  else if (!chosen)
    diagnostics.error(start, "this file has no model '" + wanted + "'" + didYouMean(wanted, names));
  else
    return chosen;
  return nullptr;
}

/// What `use` makes of the model asked for, or an empty result after diagnostics. `files`: where
/// what was read is wanted.
template <typename Use>
auto withModel(llvm::SourceMgr &manager, MLIRContext &context, const Options &options, Use use,
               FilesRead *files = nullptr)
    -> std::invoke_result_t<Use, Diagnostics &, const Module &, const Definition &,
                            const Module *> {
  context.loadDialect<HybridDialect, func::FuncDialect>();
  SourceFiles sources(manager);
  Diagnostics diagnostics(context, sources);
  ModuleLoader loader(diagnostics, options.importPaths);
  const Module &main = loader.loadMain();
  const Module *optimizers =
      options.optimizers.empty() ? nullptr : loader.useAlso("std.optimizers");
  if (files)
    *files = loader.files();
  // What a broken file means is anybody's guess: only its own faults are worth reading.
  const Definition *model =
      diagnostics.failed() ? nullptr : chooseModel(main, diagnostics, options.model);
  if (!model)
    return {};
  return use(diagnostics, main, *model, optimizers);
}

} // namespace

OwningOpRef<ModuleOp> compileFile(llvm::SourceMgr &manager, MLIRContext &context,
                                  const Options &options, FilesRead &files) {
  return withModel(
      manager, context, options,
      [&](Diagnostics &diagnostics, const Module &main, const Definition &model,
          const Module *library) {
        // The library's optimizers are known, behind all that the file knows.
        Module behind, names;
        if (library)
          behind.uses.push_back(library);
        names.uses = {&main, &behind};
        return Elaborator(diagnostics)
            .run(main, model, options.settings, options.optimizers, names);
      },
      &files);
}

std::optional<ModelSpace> describeSpace(llvm::SourceMgr &manager, MLIRContext &context,
                                        const Options &options) {
  return withModel(
      manager, context, options,
      [&](Diagnostics &diagnostics, const Module &main, const Definition &model, const Module *) {
        return Elaborator(diagnostics).describeSpace(main, model, options.settings);
      });
}

std::optional<ModelDescription> describeModel(llvm::SourceMgr &manager, MLIRContext &context,
                                              const Options &options) {
  auto describe = [&](Diagnostics &diagnostics, const Module &, const Definition &model,
                      const Module *) {
    ModelDescription description{model.name, documentationOf(diagnostics.sources, model), {}};
    for (const ParameterSyntax &parameter : model.parameters) {
      ModelParameter entry{parameter.name, text(parameter.type), std::nullopt};
      if (parameter.initial)
        entry.defaultText = parameter.initialText;
      description.parameters.push_back(std::move(entry));
    }
    return std::optional(description);
  };
  return withModel(manager, context, options, describe);
}

} // namespace hybrid::dsl
