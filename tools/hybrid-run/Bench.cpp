//===- Bench.cpp - hybrid-run bench: time a program -----------------------------------===//
#include "laboratory/machine/Benchmark.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

void addBench(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "bench", "time a program of a model; `train` includes the optimizer's update");
  auto options = std::make_shared<rt::lab::BenchmarkOptions>();
  addModel(*verb, options->model);
  verb->add_option("--program", options->program,
                   "train, eval, forward, vjp, update, init, step or prefill")
      ->capture_default_str();
  verb->add_option("--steps", options->steps, "runs to measure")
      ->check(Range(1, 1000000))
      ->capture_default_str();
  verb->add_option("--warmup", options->warmup, "runs before")
      ->check(Range(0, 1000000))
      ->capture_default_str();
  verb->add_option(
          "--tokens", options->tokens,
          "of step: tokens that are decoded, one after another from the start; of prefill: "
          "those of a prompt, which is read in turns with a run of forward")
      ->check(Range(int64_t{200}, int64_t{1} << 30))
      ->capture_default_str();
  verb->add_flag("--read-rate", options->readRate,
                 "of step: also the rate at which its weights can be read, in turns with tokens");
  verb->add_option("--burst", options->burst, "on a GPU: steps that run as one graph")
      ->check(Range(1, 10000))
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "threads (default: all)")->check(Range(0, 4096));
  verb->add_flag("--profile", options->profile, "also the time of each kind of op");
  verb->add_flag("--json", options->json, "for scripts");
  verb->callback([options] { require(rt::lab::benchmark(*options)); });
}

} // namespace hybrid::tools
