//===- Eval.cpp - hybrid-run eval: the score of a checkpoint -----------------------===//
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/ScoreCheckpoint.h"

namespace hybrid::tools {

void addEval(CLI::App &app) {
  auto *verb = app.add_subcommand("eval", "score a checkpoint on a task or on data");
  auto arguments = std::make_shared<rt::ScoreOptions>();
  addModel(*verb, arguments->model);
  addData(*verb, arguments->data, false);
  verb->add_option("--checkpoint", arguments->checkpoint, "parameters (.safetensors)")->required();
  verb->add_flag("--ema", arguments->average,
                 "with the average of the parameters that `train --ema` has kept");
  verb->add_option("--examples", arguments->examples, "test instances; 0: all")
      ->capture_default_str();
  verb->add_option("--chunk", arguments->chunk,
                   "take sequences of any length in chunks of so many positions, each from the "
                   "state that the one before has left")
      ->check(Range(1, 1 << 24));
  verb->add_option("--threads", arguments->threads, "threads; 0: all")->check(Range(0, 4096));
  verb->add_flag("--json", arguments->json, "print JSON");
  verb->callback([arguments] { require(rt::scoreCheckpoint(*arguments)); });
}

} // namespace hybrid::tools
