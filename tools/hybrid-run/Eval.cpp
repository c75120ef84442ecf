//===- Eval.cpp - hybrid-run eval: the score of a checkpoint -----------------------===//
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/ScoreCheckpoint.h"
#include "training/evaluation/NamedSuites.h"
#include "training/evaluation/ScoreSuite.h"

namespace hybrid::tools {

namespace {
struct EvalArguments {
  rt::ScoreOptions score;
  rt::SuiteOptions suite;
};
} // namespace

static void runEval(EvalArguments &arguments) {
  rt::ScoreOptions &score = arguments.score;
  if (arguments.suite.suite.empty())
    return require(rt::scoreCheckpoint(score));
  arguments.suite.model.model = score.model;
  arguments.suite.model.checkpoint = score.checkpoint;
  arguments.suite.model.average = score.average;
  arguments.suite.model.threads = score.threads;
  arguments.suite.json = score.json;
  require(rt::scoreSuite(arguments.suite));
}

void addEval(CLI::App &app) {
  auto *verb = app.add_subcommand("eval", "score a checkpoint on a task, on data or on a suite");
  auto arguments = std::make_shared<EvalArguments>();
  rt::ScoreOptions &score = arguments->score;
  addModel(*verb, score.model);
  CLI::Option_group *data = addData(*verb, score.data, false);
  auto *suite = data->add_option("--suite", arguments->suite.suite,
                                 "a file of tasks for language models (.json): perplexity, last "
                                 "words, choices, answers, needles; or a suite by name: " +
                                     rt::namesOfSuites());
  addCheckpoint(*verb, score.checkpoint, score.average);
  auto *examples = verb->add_option("--examples", score.examples, "test instances; 0: all")
                       ->capture_default_str();
  auto *chunk = verb->add_option("--chunk", score.chunk,
                                 "take sequences of any length in chunks of so many positions, "
                                 "each from the state that the one before has left")
                    ->check(Range(1, 1 << 24));
  suite->excludes(examples)->excludes(chunk);
  for (CLI::Option *option : addReading(*verb, arguments->suite.model))
    option->needs(suite);
  verb->add_option("--data-folder", arguments->suite.dataFolder,
                   "where the files are that a suite names (default: beside it)")
      ->needs(suite);
  verb->add_option("--out", arguments->suite.out,
                   "a folder that keeps the score of each example of a suite: the same command "
                   "goes on there when it was stopped")
      ->needs(suite);
  verb->add_option("--threads", score.threads, "threads; 0: all")->check(Range(0, 4096));
  verb->add_flag("--json", score.json, "print JSON");
  verb->callback([arguments] { runEval(*arguments); });
}

} // namespace hybrid::tools
