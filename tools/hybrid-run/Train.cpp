//===- Train.cpp - hybrid-run train: from a model and data to checkpoints ----------===//
#include "laboratory/Training.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/RecordedArguments.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

std::shared_ptr<rt::lab::TrainingOptions> addTrainOptions(CLI::App *verb) {
  auto arguments = std::make_shared<rt::lab::TrainingOptions>();
  arguments->version = version;
  rt::TrainOptions &options = arguments->run;
  addModel(*verb, arguments->model);
  addData(*verb, arguments->data, true);
  auto number = [&](const char *name, auto &value, const char *text) {
    return verb->add_option(name, value, text)->capture_default_str();
  };
  verb->add_option("--steps", arguments->steps,
                   "updates (default 1000; with --time-limit as many as it allows at the speed "
                   "of its beginning)")
      ->check(Range(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--epochs", arguments->epochs,
                   "passes over the training data instead of --steps")
      ->check(Range(1e-6, 1e9));
  number("--accumulate", arguments->accumulate,
         "batches whose gradients make an update: one of N * --batch sequences in the memory of "
         "--batch")
      ->check(Range(int64_t{1}, int64_t{1} << 20));
  auto *initFrom = verb->add_option(
      "--init-from", options.warmStart.path,
      "begin with the parameters of this checkpoint (.safetensors) of the model, also "
      "of another length");
  verb->add_option("--init-new", options.warmStart.mayDiffer,
                   "PATTERN (* and ?) of parameters that --init-from need not fit: drawn where it "
                   "lacks them; of another size the common part is taken; may be repeated")
      ->needs(initFrom)
      ->allow_extra_args(false);
  const Range positive(1e-12, 1e12), share(0.0, 1.0), count(int64_t{1}, int64_t{1} << 40);
  addOptimizer(*verb, options);
  number("--seed", options.seed, "of parameters and of the order of the data");
  number("--threads", arguments->threads, "threads; 0: all")->check(Range(0, 4096));
  number("--report-every", options.reportEvery, "steps between reports")->check(count);
  number("--eval-every", options.evalEvery, "steps between evaluations")->check(count);
  number("--eval-examples", options.evalExamples,
         "test instances of an evaluation while training; 0: all");
  number("--final-examples", options.finalExamples,
         "test instances of the last evaluation; 0: all");
  verb->add_option("--stop-accuracy", options.stopAccuracy, "stop when an evaluation reaches it")
      ->check(share);
  number("--checkpoint-every", options.checkpointEvery, "steps between checkpoints")->check(count);
  number("--keep", options.keep, "checkpoints kept, besides the best")->check(count);
  number("--ema", options.averageDecay,
         "decay a step of an average of the parameters, kept in checkpoints; 0: none")
      ->check(Range(0.0, 0.999999999));
  number("--ema-every", options.averageEvery, "steps from one update of the average to the next")
      ->check(count);
  verb->add_option_function<std::string>(
          "--length-warmup",
          [arguments](const std::string &text) {
            arguments->lengthWarmup = valueOf(rt::lab::LengthWarmup::parse(text));
          },
          "LENGTH:STEPS,...: first steps with shorter sequences, and as many more of them in a "
          "batch; then --length")
      ->type_name("PARTS");
  verb->add_flag("--overfit-batch", arguments->overfitBatch,
                 "every step is of the first one's batch, which a sound model learns by heart");
  verb->add_option("--skip-outliers", options.skipOutliers,
                   "Z: leave out an update whose loss or gradient norm is so many standard "
                   "deviations above the last 128")
      ->check(Range(1e-6, 1e6));
  auto *prompts = verb->add_option("--sample-prompt", arguments->samples.prompts,
                                   "go on with TEXT while training, for samples.jsonl; may be "
                                   "repeated")
                      ->allow_extra_args(false);
  arguments->samples.text.tokens = 64;
  options.sampleEvery = 100;
  number("--sample-every", options.sampleEvery, "steps between samples")
      ->check(count)
      ->needs(prompts);
  number("--sample-tokens", arguments->samples.text.tokens, "tokens of a sample")
      ->check(count)
      ->needs(prompts);
  number("--sample-temperature", arguments->samples.text.sampler.temperature,
         "of samples; 0: the likeliest tokens")
      ->check(Range(0.0, 100.0))
      ->needs(prompts);
  auto *profile =
      verb->add_option("--profile", arguments->profile,
                       "FILE: write where the time goes, for chrome://tracing or Perfetto; steps "
                       "are taken one by one")
          ->type_name("FILE");
  number("--profile-steps", arguments->profileSteps,
         "steps, behind the first 3, whose operations --profile has")
      ->check(Range(int64_t{1}, int64_t{1} << 20))
      ->needs(profile);
  verb->add_option("--time-limit", options.timeLimit, "stop after SECONDS of training")
      ->check(positive);
  verb->add_option("--data-parallel", arguments->ranks.dataParallel,
                   "ranks that share each batch, --batch sequences each (default: all that mpirun "
                   "or srun has started)")
      ->check(Range(int64_t{1}, int64_t{1} << 16));
  verb->add_option("--sequence-parallel", arguments->ranks.sequenceParallel,
                   "ranks that have parts of each sequence, for lengths that are too much for one; "
                   "those that were started are so many times the ranks that share each batch")
      ->check(Range(int64_t{1}, int64_t{1} << 16));
  verb->add_flag("--shard-optimizer{state}", arguments->ranks.shards,
                 "each rank keeps and updates its share of the optimizer's state (state), or of "
                 "parameters and gradients, too, which are gathered where they are used "
                 "(parameters)")
      ->check(CLI::IsMember({"state", "parameters"}));
  verb->add_option("--reduce", arguments->ranks.wire,
                   "how ranks send gradients: f32 (as they are) or bf16 (rounded)")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  verb->add_option_function<std::string>(
          "--emulate-link",
          [arguments](const std::string &text) {
            arguments->ranks.link = valueOf(rt::lab::linkOf(text));
          },
          "let ranks talk over a slower link: seconds of delay and bytes per second, as in "
          "50e-6,1e9")
      ->type_name("DELAY,RATE");
  verb->add_option("--out", options.out, "run folder (default runs/MODEL-DATA-TIME)");
  auto *resume = verb->add_flag(
      "--resume", options.resume,
      "go on with the run in --out; what is not given is as it was; --steps, --schedule, --min-lr, "
      "--decay-steps, --decay-shape and --stop-accuracy may give it another end");
  verb->add_option("--repeat", arguments->repeated,
                   "RUN: train as the run in this folder was begun, but for what is given")
      ->excludes(resume);
  verb->add_flag("--quiet", options.quiet, "no progress on standard error");
  verb->add_flag("--json", arguments->json, "print the summary as JSON");
  verb->add_option_function<std::string>(
          "--preset",
          [arguments](const std::string &name) {
            arguments->preset = valueOf(rt::lab::findPreset(name));
          },
          "how a paper trained: its rates, betas, steps and sequences of an update, where they are "
          "not given; `hybrid-run paper --presets` lists them")
      ->type_name("NAME");
  return arguments;
}

void addTrain(CLI::App &app) {
  auto *verb = app.add_subcommand("train", "train a model on a task or on data");
  auto arguments = addTrainOptions(verb);
  verb->callback([arguments, verb] {
    for (const CLI::Option *option : verb->get_options())
      if (option->count() > 0)
        arguments->given.insert(option->get_name());
    arguments->kept = argumentsToKeep(*verb);
    if (arguments->run.resume || !arguments->repeated.empty())
      arguments->command = commandOf(arguments->kept, arguments->run.out);
    require(rt::lab::trainAndReport(*arguments));
  });
}

} // namespace hybrid::tools
