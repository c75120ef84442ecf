//===- TextScorer.cpp - how likely a model finds texts ----------------------------===//
#include "training/evaluation/TextScorer.h"
#include "training/Generate.h"
#include "training/Scorer.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

/// A text with its context, as tokens; the text begins at `first`.
struct Following {
  std::vector<int32_t> tokens;
  size_t first = 0;
};

Result<Following> encodeFollowing(const LanguageModel &model, std::string context,
                                  std::string text) {
  const size_t kept = context.find_last_not_of(" \t\n\r\v\f") + 1; // npos + 1 is 0
  text.insert(0, context, kept, std::string::npos);
  context.resize(kept);
  auto whole = model.encode(context + text), alone = model.encode(context);
  if (!whole || !alone)
    return whole ? alone.error() : whole.error();
  if (alone->empty())
    return Error{"the context is empty, and the tokenizer has no token that stands before a text: "
                 "nothing says what the first token could be"};
  if (whole->size() <= alone->size())
    return Error{fmt::format("'{}' adds no token to its context", text)};
  return Following{std::move(*whole), alone->size()};
}

size_t commonBeginning(const Following &a, const Following &b) {
  const size_t most = std::min(a.first, b.first) - 1;
  size_t same = 0;
  while (same < most && a.tokens[same] == b.tokens[same])
    ++same;
  return same;
}

} // namespace

Result<Likelihood> TextScorer::goOn(std::span<const int32_t> tokens, size_t first) {
  Likelihood likelihood{0, tokens.size() - first, true};
  auto done = model.expectEach(tokens.first(tokens.size() - 1), first - 1,
                               [&](size_t i, std::span<const double> logits) {
                                 const Answer answer = answerOf(logits, tokens[i + 1]);
                                 likelihood.logProbability -= answer.loss;
                                 likelihood.isGreedy &= answer.predicted == answer.target;
                               });
  if (!done)
    return done.error();
  return likelihood;
}

Result<Likelihood> TextScorer::predict(std::span<const int32_t> tokens, size_t first) {
  model.restart();
  return goOn(tokens, first);
}

Result<std::vector<Likelihood>> TextScorer::follow(const std::string &context,
                                                   std::span<const std::string> texts) {
  std::vector<Following> all;
  for (const std::string &text : texts) {
    auto encoded = encodeFollowing(model, context, text);
    if (!encoded)
      return encoded.error();
    all.push_back(std::move(*encoded));
  }
  size_t common = all.empty() ? 0 : all[0].first - 1;
  for (const Following &each : all)
    common = std::min(common, commonBeginning(all[0], each));
  model.restart();
  NextToken::Place place;
  if (all.size() > 1 && common > 0) {
    auto read = model.expectEach(std::span(all[0].tokens).first(common), common - 1,
                                 [](size_t, std::span<const double>) {});
    if (!read)
      return read.error();
    auto saved = model.save();
    if (!saved)
      return saved.error();
    place = std::move(*saved);
  }
  std::vector<Likelihood> likelihoods;
  for (const Following &each : all) {
    if (auto done = model.restore(place); !done)
      return done.error();
    auto likelihood = goOn(each.tokens, each.first);
    if (!likelihood)
      return likelihood.error();
    likelihoods.push_back(*likelihood);
  }
  return likelihoods;
}

Result<std::string> TextScorer::greedy(const std::string &context,
                                       const std::vector<std::string> &stop, int64_t mostTokens) {
  auto prompt = model.encode(context);
  if (!prompt)
    return prompt.error();
  if (prompt->empty())
    return Error{"the context is empty, and the tokenizer has no token that stands before a text"};
  ContinuationOptions options;
  options.sampler.temperature = 0;
  options.tokens = mostTokens;
  options.stop = stop;
  auto text = TextContinuation::begin(model.tokenizer(), std::move(*prompt), options);
  if (!text)
    return text.error();
  return goOnWith(model, *text);
}

} // namespace hybrid::rt
