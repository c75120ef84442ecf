//===- Distill.cpp - hybrid-run distill: free filters become recurrences -----------===//
#include "training/distill/Distill.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

void addDistill(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "distill", "fit a trained model's free long filters by modal ones, whose steps need no past");
  auto arguments = std::make_shared<rt::DistillOptions>();
  addModel(*verb, arguments->model);
  addCheckpoint(*verb, arguments->checkpoint, arguments->average);
  verb->add_option("--states", arguments->states, "complex numbers that a step keeps of a channel")
      ->check(Range(int64_t{1}, int64_t{256}))
      ->capture_default_str();
  verb->add_option("--out", arguments->out, "folder for model.hyb and model.safetensors")
      ->required();
  verb->add_flag("--json", arguments->json, "for scripts");
  verb->callback([arguments] { require(rt::distillFilters(*arguments)); });
}

} // namespace hybrid::tools
