//===- Train.cpp - hybrid-run train: from a model and data to checkpoints ----------===//
#include "executable/Executable_generated.h"
#include "laboratory/report/TrainingReport.h"
#include "runtime/Session.h"
#include "tools/hybrid-run/DataArgument.h"
#include "tools/hybrid-run/ModelArgument.h"
#include "tools/hybrid-run/OptimizerArgument.h"
#include "tools/hybrid-run/Process.h"
#include "training/SessionRunner.h"
#include "training/Trainer.h"
#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>

namespace hybrid::tools {
namespace {

struct TrainArguments {
  ModelArgument model;
  DataArgument data;
  rt::TrainOptions options;
  std::optional<int64_t> steps;
  std::optional<double> epochs;
  OptimizerArgument optimizer;
  int threads = 0;
  bool json = false;
};

std::string defaultFolder(const std::string &model, const rt::Source &source) {
  std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  return fmt::format("runs/{}-{}-{}", std::filesystem::path(model).stem().string(),
                     source.shortName(), stamp);
}

/// What config.json says of where the numbers came from.
nlohmann::json provenance(const TrainArguments &arguments, const rt::Session &session) {
  const fb::Executable &format = session.executable().format();
  nlohmann::json settings = nlohmann::json::object();
  if (format.settings())
    for (const fb::Setting *setting : *format.settings())
      settings[setting->name()->str()] = setting->value() ? setting->value()->str() : "";
  auto text = [](const flatbuffers::String *value) { return value ? value->str() : std::string(); };
  return {{"model", arguments.model.path},       {"model_name", text(format.model())},
          {"model_settings", settings},          {"model_source", text(format.source())},
          {"compiler", text(format.compiler())}, {"runtime", "hybrid-run " HYBRID_VERSION},
          {"threads", session.threads()}};
}

void decideSteps(TrainArguments &arguments, const rt::Source &source, int64_t batch) {
  rt::TrainOptions &options = arguments.options;
  if (arguments.steps)
    options.steps = *arguments.steps;
  else if (arguments.epochs)
    options.steps = std::max<int64_t>(
        1, std::llround(std::ceil(*arguments.epochs * static_cast<double>(source.epochExamples()) /
                                  static_cast<double>(batch))));
  else if (options.timeLimit <= 0)
    options.steps = 1000;
}

void printSummary(const TrainArguments &arguments, const nlohmann::json &summary) {
  if (arguments.json) {
    std::cout << summary.dump(2) << "\n";
    return;
  }
  std::string text = fmt::format("eval loss {:.4f}", summary["eval_loss"].get<double>());
  if (summary.contains("eval_relative_loss"))
    text += fmt::format(", {:.4f} of what saying 0 would cost, least squares {:.4f}",
                        summary["eval_relative_loss"].get<double>(),
                        summary["eval_least_squares_loss"].get<double>());
  else
    text += fmt::format(", accuracy {:.4f}", summary["eval_accuracy"].get<double>());
  if (summary.contains("eval_bits_per_byte"))
    text += fmt::format(", {:.4f} bits per byte", summary["eval_bits_per_byte"].get<double>());
  text += fmt::format(" over {} test instances\n", summary["eval_examples"].get<uint64_t>());
  text += fmt::format("{} steps in {:.1f} s", summary["steps"].get<int64_t>(),
                      summary["train_seconds"].get<double>());
  if (summary["tokens_per_second"].is_number())
    text += fmt::format(", {:.0f} tokens/s", summary["tokens_per_second"].get<double>());
  text += fmt::format(", peak memory {:.0f} MB\n{}\n",
                      static_cast<double>(summary["peak_bytes"].get<uint64_t>()) / 1e6,
                      arguments.options.out);
  std::cout << text;
}

void run(TrainArguments &arguments) {
  rt::TrainOptions &options = arguments.options;
  if (arguments.steps && arguments.epochs)
    throw Failure("give --steps or --epochs, not both");
  arguments.optimizer.check();
  options.schedule = arguments.optimizer.schedule;
  options.weightDecay = arguments.optimizer.weightDecay;
  options.beta1 = arguments.optimizer.beta1;
  options.beta2 = arguments.optimizer.beta2;
  options.epsilon = arguments.optimizer.epsilon;
  options.clip = arguments.optimizer.clip;
  arguments.data.chooseLength(arguments.model);
  auto executable = arguments.model.load();
  auto session = valueOf(rt::Session::create(executable, {arguments.threads, true}));
  auto runner = valueOf(rt::makeSessionRunner(*session, true));
  auto source = arguments.data.open(runner->length(), options.seed);
  decideSteps(arguments, *source, runner->batch());
  if (options.out.empty())
    options.out = defaultFolder(arguments.model.path, *source);
  options.config = provenance(arguments, *session);
  options.config["command"] = commandLine();
  std::error_code error;
  const bool refused = !options.resume && std::filesystem::exists(options.out, error) &&
                       !std::filesystem::is_empty(options.out, error); // a folder not ours
  auto trained = rt::trainModel(*runner, *source, options);
  // Also of a run that failed: its curves show where. What it failed of is what is told.
  rt::Result<void> reported;
  if (!refused)
    reported = rt::writeTrainingReport(options.out);
  rt::TrainOutcome outcome = valueOf(std::move(trained));
  require(reported);
  if (outcome.interrupted.empty())
    printSummary(arguments, outcome.summary);
}

} // namespace

void addTrain(CLI::App &app) {
  auto *verb = app.add_subcommand("train", "train a model on a task or on data");
  auto arguments = std::make_shared<TrainArguments>();
  rt::TrainOptions &options = arguments->options;
  arguments->model.addTo(*verb);
  arguments->data.addTo(*verb, true);
  auto number = [&](const char *name, auto &value, const char *text) {
    return verb->add_option(name, value, text)->capture_default_str();
  };
  verb->add_option("--steps", arguments->steps,
                   "updates (default 1000; with --time-limit as many as it allows)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  verb->add_option("--epochs", arguments->epochs,
                   "passes over the training data instead of --steps")
      ->check(CLI::Range(1e-6, 1e9));
  const CLI::Range positive(1e-12, 1e12), share(0.0, 1.0), count(int64_t{1}, int64_t{1} << 40);
  arguments->optimizer.addTo(*verb);
  number("--seed", options.seed, "of parameters and of the order of the data");
  number("--threads", arguments->threads, "threads; 0: all")->check(CLI::Range(0, 4096));
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
  verb->add_option("--time-limit", options.timeLimit, "stop after SECONDS of training")
      ->check(positive);
  verb->add_option("--out", options.out, "run folder (default runs/MODEL-DATA-TIME)");
  verb->add_flag("--resume", options.resume, "go on with the run in --out");
  verb->add_flag("--quiet", options.quiet, "no progress on standard error");
  verb->add_flag("--json", arguments->json, "print the summary as JSON");
  verb->callback([arguments] {
    if (arguments->options.resume && arguments->options.out.empty())
      throw Failure("--resume needs --out, the folder of the run");
    run(*arguments);
  });
}

} // namespace hybrid::tools
