//===- Eval.cpp - hybrid-run eval: the score of a checkpoint -----------------------===//
#include "runtime/Session.h"
#include "runtime/train/Evaluate.h"
#include "runtime/train/SessionRunner.h"
#include "tools/hybrid-run/DataArgument.h"
#include "tools/hybrid-run/ModelArgument.h"
#include "tools/hybrid-run/ParameterFile.h"
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numbers>

namespace hybrid::tools {
namespace {

struct EvalArguments {
  ModelArgument model;
  DataArgument data;
  std::string checkpoint;
  uint64_t examples = 1280;
  int threads = 0;
  bool json = false;
};

void run(EvalArguments &arguments) {
  arguments.data.chooseLength(arguments.model);
  auto executable = arguments.model.load();
  auto session = valueOf(rt::Session::create(executable, {arguments.threads, false}));
  runOneReplica(*session);
  auto runner = valueOf(rt::makeSessionRunner(*session, false));
  auto source = arguments.data.open(runner->length(), 0);
  require(rt::checkFits(*runner, *source));
  loadParameters(*session, arguments.checkpoint);
  rt::EvaluationScore score = valueOf(rt::evaluate(*runner, *source, arguments.examples));
  nlohmann::json result = {{"eval_loss", score.loss},
                           {"eval_accuracy", score.accuracy},
                           {"examples", score.examples},
                           {"scored", score.scored}};
  if (score.madAccuracy >= 0)
    result["eval_mad_accuracy"] = score.madAccuracy;
  if (source->isBytes())
    result["eval_bits_per_byte"] = score.loss / std::numbers::ln2;
  if (arguments.json) {
    std::cout << result.dump(2) << "\n";
    return;
  }
  std::string text = fmt::format("loss {:.6f}\naccuracy {:.6f}  (hits over scored positions)\n",
                                 score.loss, score.accuracy);
  if (score.madAccuracy >= 0)
    text +=
        fmt::format("mad accuracy {:.6f}  (mean over classes, batches of 128, as mad-lab counts)\n",
                    score.madAccuracy);
  if (source->isBytes())
    text += fmt::format("bits per byte {:.6f}\n", score.loss / std::numbers::ln2);
  std::cout << text
            << fmt::format("{} instances, {} scored positions\n", score.examples, score.scored);
}

} // namespace

void addEval(CLI::App &app) {
  auto *verb = app.add_subcommand("eval", "score a checkpoint on a task or on data");
  auto arguments = std::make_shared<EvalArguments>();
  arguments->model.addTo(*verb);
  arguments->data.addTo(*verb, false);
  verb->add_option("--checkpoint", arguments->checkpoint, "parameters (.safetensors)")->required();
  verb->add_option("--examples", arguments->examples, "test instances; 0: all")
      ->capture_default_str();
  verb->add_option("--threads", arguments->threads, "threads; 0: all")->check(CLI::Range(0, 4096));
  verb->add_flag("--json", arguments->json, "print JSON");
  verb->callback([arguments] { run(*arguments); });
}

} // namespace hybrid::tools
