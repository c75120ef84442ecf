//===- Generate.cpp - text from a language model ----------------------------------===//
#include "training/Generate.h"
#include "runtime/Session.h"
#include "runtime/files/Json.h"
#include "training/CheckpointTokenizer.h"
#include "training/GeneratedText.h"
#include "training/NextToken.h"
#include "training/ParameterFile.h"
#include "training/tokenizers/SimpleTokenizers.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <limits>

namespace hybrid::rt {
namespace {

/// What was asked for, or what the checkpoint carries, or bytes for a model of 256 tokens.
Result<std::unique_ptr<Tokenizer>> tokenizerFor(const GenerateOptions &options,
                                                int64_t vocabulary) {
  auto tokenizer = options.tokenizer.empty() ? tokenizerOfCheckpoint(options.checkpoint)
                                             : namedTokenizer(options.tokenizer);
  if (!tokenizer)
    return tokenizer.error();
  if (!*tokenizer && vocabulary == 256)
    return makeByteTokenizer();
  if (!*tokenizer)
    return Error{fmt::format("'{}' carries no tokenizer, and the model has a vocabulary of {}: say "
                             "with --tokenizer what its tokens are",
                             options.checkpoint, vocabulary)};
  if ((*tokenizer)->vocabulary() > vocabulary)
    return Error{fmt::format("the tokenizer ({}) has {} tokens, but the model a vocabulary of {}",
                             (*tokenizer)->kind(), (*tokenizer)->vocabulary(), vocabulary)};
  return tokenizer;
}

class Generator {
public:
  Generator(NextToken &model, const Tokenizer &tokenizer, const GenerateOptions &options)
      : model(model), tokenizer(tokenizer), options(options),
        row(static_cast<size_t>(model.vocabulary())) {}

  Result<void> run();

private:
  Result<void> readPrompt();
  /// Fills `row` with what the model expects after all tokens.
  Result<void> computeLogits();
  void printToken(int32_t token, const std::string &text, double logProbability) const;

  NextToken &model;
  const Tokenizer &tokenizer;
  const GenerateOptions &options;
  std::vector<int32_t> tokens;
  std::vector<double> row; // logits
};

Result<void> Generator::readPrompt() {
  if (auto done = tokenizer.encode(options.prompt, {}, tokens); !done)
    return done;
  // Some tokenizers end every text, but this one goes on.
  const int32_t end = tokenizer.endOfText();
  if (!tokens.empty() && tokens.back() == end && !options.prompt.ends_with(tokenizer.token(end)))
    tokens.pop_back();
  if (tokens.empty() && end >= 0)
    tokens.push_back(end); // what stands before every text
  if (tokens.empty())
    return Error{"--prompt is empty: give the first characters of the text"};
  return {};
}

Result<void> Generator::computeLogits() {
  if (auto done = model.expect(tokens, row); !done)
    return done;
  if (std::any_of(row.begin(), row.end(), [](double value) { return std::isnan(value); }))
    return Error{fmt::format("the logits after {} tokens are not numbers: the parameters of '{}' "
                             "are damaged, or their training diverged",
                             tokens.size(), options.checkpoint)};
  // A vocabulary is often rounded up; what has no text is never drawn.
  std::fill(row.begin() + tokenizer.vocabulary(), row.end(),
            -std::numeric_limits<double>::infinity());
  return {};
}

void Generator::printToken(int32_t token, const std::string &text, double logProbability) const {
  const nlohmann::json line = {{"token", token}, {"text", text}, {"logprob", logProbability}};
  std::fputs((jsonLine(line) + "\n").c_str(), stdout);
}

Result<void> Generator::run() {
  if (auto done = readPrompt(); !done)
    return done;
  if (!options.json)
    std::fputs(options.prompt.c_str(), stdout);
  std::fflush(stdout);
  StreamDecoder decoder(tokenizer);
  for (int32_t token : tokens) // so that the first new token is read behind those before it
    if (auto text = decoder.next(token); !text)
      return text.error();
  GeneratedText output(options.stop);
  for (int64_t i = 0; i < options.tokens && !output.isStopped(); ++i) {
    if (auto done = computeLogits(); !done)
      return done;
    const std::vector<double> plain = options.json ? row : std::vector<double>();
    if (options.sampler.repetitionPenalty != 1)
      penaliseRepetition(row, tokens, options.sampler.repetitionPenalty);
    Rng rng(options.seed, 0x67656e, static_cast<uint64_t>(i));
    const int32_t next = sampleToken(row, options.sampler, rng);
    if (next == tokenizer.endOfText() && !options.goesPastEnd)
      break;
    tokens.push_back(next);
    auto text = decoder.next(next);
    if (!text)
      return text.error();
    const std::string sure = output.add(*text);
    if (options.json)
      printToken(next, *text, logProbability(plain, next));
    else
      std::fwrite(sure.data(), 1, sure.size(), stdout);
    if (std::fflush(stdout) != 0)
      return {}; // nobody reads any more
  }
  if (!options.json) {
    const std::string rest = output.add(decoder.finish()) + output.finish() + "\n";
    std::fwrite(rest.data(), 1, rest.size(), stdout);
  }
  return {};
}

} // namespace

Result<void> generateText(GenerateOptions options) {
  auto model = loadNextToken(options.model, options.context, options.threads);
  if (!model)
    return model.error();
  auto tokenizer = tokenizerFor(options, (*model)->vocabulary());
  if (!tokenizer)
    return tokenizer.error();
  if (auto done = loadParameters((*model)->session(), options.checkpoint, options.average); !done)
    return done;
  return Generator(**model, **tokenizer, options).run();
}

} // namespace hybrid::rt
