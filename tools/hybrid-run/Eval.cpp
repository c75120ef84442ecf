//===- Eval.cpp - hybrid-run eval: the score of a checkpoint -----------------------===//
#include "runtime/Session.h"
#include "tools/hybrid-run/DataArgument.h"
#include "tools/hybrid-run/ModelArgument.h"
#include "tools/hybrid-run/ParameterFile.h"
#include "training/ChunkedEvaluation.h"
#include "training/SessionRunner.h"
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
  int64_t chunk = 0;
  int threads = 0;
  bool json = false;
};

void requireChunks(const rt::Executable &executable, int64_t length) {
  int64_t compiled = valueOf(rt::chunkLength(executable));
  if (compiled != length)
    throw Failure(fmt::format("{} takes chunks of {} positions, but --chunk {} is asked for",
                              executable.name(), compiled, length));
}

void run(EvalArguments &arguments) {
  if (arguments.chunk > 0 && arguments.model.isSource()) {
    if (arguments.model.length)
      throw Failure("--chunk says what the model is compiled for: --length goes without it");
    arguments.model.length = arguments.chunk;
    arguments.model.chunked = true;
  }
  arguments.data.chooseLength(arguments.model);
  auto executable = arguments.model.load();
  auto session = valueOf(rt::Session::create(executable, {arguments.threads, false}));
  require(session->keepFirstActive());
  std::unique_ptr<rt::StepRunner> runner; // none: in chunks
  if (arguments.chunk > 0)
    requireChunks(*executable, arguments.chunk);
  else
    runner = valueOf(rt::makeSessionRunner(*session, false));
  auto source = arguments.data.open(runner ? runner->length() : arguments.chunk, 0);
  if (runner)
    require(rt::checkFits(*runner, *source));
  loadParameters(*session, arguments.checkpoint);
  rt::EvaluationScore score =
      valueOf(runner ? rt::evaluate(*runner, *source, arguments.examples)
                     : rt::evaluateInChunks(*session, *source, arguments.examples));
  nlohmann::json result = {{"eval_loss", score.loss},
                           {"eval_accuracy", score.accuracy},
                           {"examples", score.examples},
                           {"scored", score.scored}};
  if (score.madAccuracy >= 0)
    result["eval_mad_accuracy"] = score.madAccuracy;
  if (score.sequenceAccuracy >= 0 && !source->isBytes())
    result["eval_sequence_accuracy"] = score.sequenceAccuracy;
  if (source->inputNumbers() > 0) {
    result["eval_relative_loss"] = score.loss / static_cast<double>(source->inputNumbers());
    result["eval_least_squares_loss"] = source->referenceLoss(score.examples);
  }
  if (source->isBytes())
    result["eval_bits_per_byte"] = score.loss / std::numbers::ln2;
  if (arguments.json) {
    std::cout << result.dump(2) << "\n";
    return;
  }
  std::string text = fmt::format("loss {:.6f}\n", score.loss);
  if (source->inputNumbers() > 0)
    text += fmt::format("relative loss {:.6f}  (1: as saying 0)\nleast squares {:.6f}\n",
                        result["eval_relative_loss"].get<double>(),
                        result["eval_least_squares_loss"].get<double>());
  else
    text += fmt::format("accuracy {:.6f}  (hits over scored positions)\n", score.accuracy);
  if (score.madAccuracy >= 0)
    text +=
        fmt::format("mad accuracy {:.6f}  (mean over classes, batches of 128, as mad-lab counts)\n",
                    score.madAccuracy);
  if (score.sequenceAccuracy >= 0 && !source->isBytes())
    text += fmt::format("sequence accuracy {:.6f}  (instances with every scored position right)\n",
                        score.sequenceAccuracy);
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
  verb->add_option("--chunk", arguments->chunk,
                   "take sequences of any length in chunks of so many positions, each from the "
                   "state that the one before has left")
      ->check(CLI::PositiveNumber);
  verb->add_option("--threads", arguments->threads, "threads; 0: all")->check(CLI::Range(0, 4096));
  verb->add_flag("--json", arguments->json, "print JSON");
  verb->callback([arguments] { run(*arguments); });
}

} // namespace hybrid::tools
