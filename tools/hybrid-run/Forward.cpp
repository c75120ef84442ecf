//===- Forward.cpp - hybrid-run forward: outputs and gradients as arrays -----------===//
#include "training/arrays/Forward.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

void addForward(CLI::App &app) {
  auto *verb = app.add_subcommand("forward",
                                  "run a model once on arrays; with cotangents also its gradients");
  auto options = std::make_shared<rt::ForwardOptions>();
  addModel(*verb, options->model);
  addArrays(*verb, options->parameters, options->seed, options->inputs);
  verb->add_option("--save-params", options->saved,
                   "write the parameters that are used (.safetensors)");
  verb->add_option("--cotangent", options->cotangents,
                   "NAME=FILE.npy: weight of an output in the scalar that is differentiated")
      ->allow_extra_args(false);
  verb->add_option("--out", options->out, "folder for output.NAME.npy and grad.NAME.npy")
      ->required();
  verb->add_option("--threads", options->threads, "threads (default: all)")->check(Range(0, 4096));
  verb->callback([options] { require(rt::runForward(*options)); });
}

} // namespace hybrid::tools
