//===- ScoreCheckpoint.cpp - the score of a checkpoint ----------------------------===//
#include "training/ScoreCheckpoint.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/CheckpointTokenizer.h"
#include "training/ChunkedEvaluation.h"
#include "training/ParameterFile.h"
#include "training/SessionRunner.h"
#include "training/compile/OpenModel.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hybrid::rt {
namespace {

nlohmann::json describe(const EvaluationScore &score, const Source &source) {
  nlohmann::json result = {{"eval_loss", score.loss},
                           {"eval_accuracy", score.accuracy},
                           {"examples", score.examples},
                           {"scored", score.scored}};
  if (score.madAccuracy >= 0)
    result["eval_mad_accuracy"] = score.madAccuracy;
  if (score.sequenceAccuracy >= 0 && !source.isBytes())
    result["eval_sequence_accuracy"] = score.sequenceAccuracy;
  if (source.inputNumbers() > 0) {
    result["eval_relative_loss"] = score.loss / static_cast<double>(source.inputNumbers());
    result["eval_least_squares_loss"] = source.referenceLoss(score.examples);
  }
  if (source.bytesPerToken() > 0)
    result["eval_bits_per_byte"] = source.bitsPerByte(score.loss);
  return result;
}

std::string textOf(const EvaluationScore &score, const Source &source,
                   const nlohmann::json &result) {
  std::string text = fmt::format("loss {:.6f}\n", score.loss);
  if (source.inputNumbers() > 0)
    text += fmt::format("relative loss {:.6f}  (1: as saying 0)\nleast squares {:.6f}\n",
                        result["eval_relative_loss"].get<double>(),
                        result["eval_least_squares_loss"].get<double>());
  else
    text += fmt::format("accuracy {:.6f}  (hits over scored positions)\n", score.accuracy);
  if (score.madAccuracy >= 0)
    text +=
        fmt::format("mad accuracy {:.6f}  (mean over classes, batches of 128, as mad-lab counts)\n",
                    score.madAccuracy);
  if (score.sequenceAccuracy >= 0 && !source.isBytes())
    text += fmt::format("sequence accuracy {:.6f}  (instances with every scored position right)\n",
                        score.sequenceAccuracy);
  if (source.bytesPerToken() > 0)
    text += fmt::format("bits per byte {:.6f}\n", source.bitsPerByte(score.loss));
  return text + fmt::format("{} instances, {} scored positions\n", score.examples, score.scored);
}

Result<void> checkChunks(const Executable &executable, int64_t length) {
  auto compiled = chunkLength(executable);
  if (!compiled)
    return compiled.error();
  if (*compiled != length)
    return Error{fmt::format("{} takes chunks of {} positions, but --chunk {} is asked for",
                             executable.name(), *compiled, length)};
  return {};
}

/// Numbers of one tokenizer mean nothing to a model of another.
Result<void> checkTokenizer(const std::string &checkpoint, const Source &source) {
  auto carried = tokenizerOfCheckpoint(checkpoint);
  if (!carried)
    return carried.error();
  if (*carried && source.tokenizer() && (*carried)->identity() != source.tokenizer()->identity())
    return Error{fmt::format("the data is read with a tokenizer of {} ({}), but '{}' was trained "
                             "with one of {} ({}), which it carries: leave the tokenizer out",
                             source.tokenizer()->kind(), source.tokenizer()->identity(), checkpoint,
                             (*carried)->kind(), (*carried)->identity())};
  return {};
}

} // namespace

Result<void> scoreCheckpoint(ScoreOptions options) {
  if (options.chunk > 0 && options.model.isSource()) {
    if (options.model.length)
      return Error{"--chunk says what the model is compiled for: --length goes without it"};
    options.model.length = options.chunk;
    options.model.chunked = true;
  }
  if (auto done = options.data.chooseLength(options.model); !done)
    return done;
  auto created = openOneReplica(options.model, {options.threads, false});
  if (!created)
    return created.error();
  Session &session = **created;
  std::unique_ptr<StepRunner> runner; // none: in chunks
  if (options.chunk > 0) {
    if (auto done = checkChunks(session.executable(), options.chunk); !done)
      return done;
  } else {
    auto made = makeSessionRunner(session, false);
    if (!made)
      return made.error();
    runner = std::move(*made);
  }
  options.data.checkpoint = options.checkpoint;
  auto opened = options.data.open(runner ? runner->length() : options.chunk, 0);
  if (!opened)
    return opened.error();
  const Source &source = **opened;
  if (auto same = checkTokenizer(options.checkpoint, source); !same)
    return same;
  if (runner)
    if (auto done = checkFits(*runner, source); !done)
      return done;
  if (auto done = loadParameters(session, options.checkpoint, options.average); !done)
    return done;
  auto score = runner ? evaluate(*runner, source, options.examples)
                      : evaluateInChunks(session, source, options.examples);
  if (!score)
    return score.error();
  const nlohmann::json result = describe(*score, source);
  say("{}", options.json ? jsonText(result) + "\n" : textOf(*score, source, result));
  return {};
}

} // namespace hybrid::rt
