//===- Replay.cpp - hybrid-run replay: training on given arrays, step by step ------===//
#include "training/arrays/Replay.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

void addReplay(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "replay", "train on given arrays and write losses, gradient norms and parameters as arrays");
  auto arguments = std::make_shared<rt::ReplayOptions>();
  auto scheduleSteps = std::make_shared<std::optional<int64_t>>();
  addModel(*verb, arguments->model);
  const Range count(int64_t{1}, int64_t{1} << 40);
  addArrays(*verb, arguments->parameters, arguments->seed, arguments->inputs,
            ": the same at every step");
  verb->add_option("--per-step", arguments->perStep,
                   "NAME=FILE.npy, an array whose row i is the input of step i; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--steps", arguments->steps, "updates")->check(count)->capture_default_str();
  verb->add_option("--schedule-steps", *scheduleSteps,
                   "steps that the schedule spans (default: --steps)")
      ->check(count);
  addOptimizer(*verb, arguments->optimizer);
  verb->add_flag("--trajectory", arguments->trajectory,
                 "write trajectory.NAME too: the parameters after every step");
  verb->add_option("--out", arguments->out,
                   "folder for loss, grad_norm, lr and final.NAME, m.NAME, v.NAME (.npy)")
      ->required();
  verb->add_option("--threads", arguments->threads, "threads; 0: all")->check(Range(0, 4096));
  verb->callback([arguments, scheduleSteps] {
    arguments->optimizer.schedule.total = scheduleSteps->value_or(arguments->steps);
    require(rt::replayTraining(*arguments));
  });
}

} // namespace hybrid::tools
