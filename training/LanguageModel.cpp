//===- LanguageModel.cpp - a trained model and its tokenizer --------------------===//
#include "training/LanguageModel.h"
#include "training/CheckpointTokenizer.h"
#include "training/ParameterFile.h"
#include "training/tokenizers/SimpleTokenizers.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace hybrid::rt {
namespace {

/// What was asked for, or what the checkpoint carries, or bytes for a model of 256 tokens.
Result<std::unique_ptr<Tokenizer>> tokenizerFor(const LanguageModelChoice &choice,
                                                int64_t vocabulary) {
  if (choice.tokenizer == "numbers")
    return makeNumberTokenizer(vocabulary);
  auto tokenizer = choice.tokenizer.empty() ? tokenizerOfCheckpoint(choice.checkpoint)
                                            : namedTokenizer(choice.tokenizer);
  if (!tokenizer)
    return tokenizer.error();
  if (!*tokenizer && vocabulary == 256)
    return makeByteTokenizer();
  if (!*tokenizer)
    return Error{fmt::format("'{}' carries no tokenizer, and the model has a vocabulary of {}: say "
                             "with --tokenizer what its tokens are",
                             choice.checkpoint, vocabulary)};
  if ((*tokenizer)->vocabulary() > vocabulary)
    return Error{fmt::format("the tokenizer ({}) has {} tokens, but the model a vocabulary of {}",
                             (*tokenizer)->kind(), (*tokenizer)->vocabulary(), vocabulary)};
  return tokenizer;
}

} // namespace

Result<LanguageModel> LanguageModel::open(const LanguageModelChoice &choice) {
  auto model = loadNextToken(choice.model, choice.context, choice.threads);
  if (!model)
    return model.error();
  auto tokenizer = tokenizerFor(choice, (*model)->vocabulary());
  if (!tokenizer)
    return tokenizer.error();
  if (auto done = loadParameters((*model)->session(), choice.checkpoint, choice.average); !done)
    return done.error();
  std::unique_ptr<TokenRows> together;
  if (choice.rows > 0 && (*model)->carriesStates()) {
    auto rows = loadTokenRows(choice.model, choice.context, choice.rows, choice.threads);
    if (!rows)
      return rows.error();
    together = std::move(*rows);
  }
  if (together)
    if (auto done = loadParameters(together->session(), choice.checkpoint, choice.average); !done)
      return done.error();
  return LanguageModel(std::move(*model), std::move(*tokenizer), choice.checkpoint,
                       std::move(together));
}

Result<std::vector<int32_t>> LanguageModel::encode(const std::string &text) const {
  std::vector<int32_t> tokens;
  if (auto done = words->encode(text, {}, tokens); !done)
    return done.error();
  // Some tokenizers end every text, but this one goes on.
  const int32_t end = words->endOfText();
  if (!tokens.empty() && tokens.back() == end && !text.ends_with(words->token(end)))
    tokens.pop_back();
  if (tokens.empty() && end >= 0)
    tokens.push_back(end); // what stands before every text
  return tokens;
}

static bool areNumbers(std::span<const double> logits) {
  return std::none_of(logits.begin(), logits.end(), [](double value) { return std::isnan(value); });
}

Error LanguageModel::damaged(const std::string &where) const {
  return Error{fmt::format("the logits after {} are not numbers: the parameters of '{}' are "
                           "damaged, or their training diverged",
                           where, file)};
}

Result<std::span<const double>> LanguageModel::readRow(std::span<const double> logits) const {
  if (!areNumbers(logits))
    return damaged("a token");
  return logits.first(static_cast<size_t>(vocabulary()));
}

Result<void> LanguageModel::expectEach(std::span<const int32_t> tokens, size_t first,
                                       const NextToken::Visit &visit) {
  std::optional<size_t> last;
  auto done = model->expectEach(tokens, first, [&](size_t i, std::span<const double> logits) {
    if (!last && !areNumbers(logits))
      last = i + 1;
    visit(i, logits.first(static_cast<size_t>(vocabulary())));
  });
  if (!done)
    return done;
  return last ? damaged(fmt::format("{} tokens", *last)) : Result<void>();
}

Result<void> LanguageModel::expect(std::span<const int32_t> tokens, std::span<double> logits) {
  if (tokens.empty())
    return Error{"nothing is expected behind no token"};
  return expectEach(tokens, tokens.size() - 1, [&](size_t, std::span<const double> values) {
    std::copy_n(values.begin(), std::min(values.size(), logits.size()), logits.begin());
  });
}

} // namespace hybrid::rt
