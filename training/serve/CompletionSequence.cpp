//===- CompletionSequence.cpp - one completion, turn by turn -----------------------===//
#include "training/serve/CompletionSequence.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace hybrid::rt {
namespace {

constexpr size_t promptPart = 64; // tokens of a prompt that are read in one turn

size_t charactersOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

/// The likeliest tokens, of equals the smaller first, and the one that stands there.
std::vector<std::pair<int32_t, double>> likeliest(std::span<const double> logits, size_t count,
                                                  int32_t token) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                    [&](int32_t a, int32_t b) {
                      const double x = logits[static_cast<size_t>(a)];
                      const double y = logits[static_cast<size_t>(b)];
                      return x > y || (x == y && a < b);
                    });
  order.resize(count);
  if (std::find(order.begin(), order.end(), token) == order.end())
    order.push_back(token);
  std::vector<std::pair<int32_t, double>> top;
  for (int32_t each : order)
    top.emplace_back(each, logProbability(logits, each));
  return top;
}

} // namespace

Result<CompletionSequence> CompletionSequence::begin(const CompletionRequest &request, size_t index,
                                                     const Tokenizer &tokenizer) {
  ContinuationOptions options = request.text;
  options.seed += index % request.choices;
  auto text = TextContinuation::begin(tokenizer, request.prompts[index / request.choices], options);
  if (!text)
    return text.error();
  return CompletionSequence(request, index, tokenizer, std::move(*text));
}

Result<std::optional<CompletionPiece>> CompletionSequence::expect(LanguageModel &model) {
  if (isReading())
    return read(model);
  logits.resize(static_cast<size_t>(model.vocabulary()));
  if (auto taken = model.expect(text.tokens(), logits); !taken)
    return taken.error();
  ahead = true;
  return std::optional<CompletionPiece>();
}

void CompletionSequence::give(std::span<const double> values) {
  logits.assign(values.begin(), values.end());
  ahead = true;
}

Result<void> CompletionSequence::note(int32_t token, std::span<const double> before,
                                      std::vector<TokenEntry> &entries) {
  TokenEntry entry{token, std::nullopt, {}, characters};
  if (!before.empty()) {
    entry.logprob = logProbability(before, token);
    entry.top = likeliest(before, *request.logprobs, token);
  }
  auto more = shown.next(token);
  if (!more)
    return more.error();
  characters += charactersOf(*more);
  entries.push_back(std::move(entry));
  return {};
}

Result<std::optional<CompletionPiece>> CompletionSequence::read(LanguageModel &model) {
  const std::span<const int32_t> tokens = prompt();
  const bool areNoted = request.logprobs && request.echo;
  const size_t end = std::min(tokens.size(), done + promptPart);
  Result<void> noted;
  if (areNoted && done == 0)
    noted = note(tokens[0], {}, waiting);
  auto visit = [&](size_t i, std::span<const double> values) {
    if (i + 1 == tokens.size())
      logits.assign(values.begin(), values.end());
    else if (areNoted && noted)
      noted = note(tokens[i + 1], values, waiting);
  };
  if (auto taken = model.expectEach(tokens.first(end), areNoted ? done : end - 1, visit); !taken)
    return taken.error();
  if (!noted)
    return noted.error();
  done = end;
  if (done < tokens.size())
    return std::optional<CompletionPiece>();
  ahead = true;
  CompletionPiece piece;
  piece.index = index;
  if (request.echo)
    piece.text = request.promptTexts[index / request.choices];
  piece.entries = std::exchange(waiting, {});
  if (request.text.tokens == 0)
    piece.finish = "length";
  if (request.logprobs && !areNoted) // so that entries of new tokens are read behind the prompt
    for (int32_t token : tokens)
      if (auto passed = shown.next(token); !passed)
        return passed.error();
  return piece.text.empty() && piece.entries.empty() && !piece.finish
             ? std::optional<CompletionPiece>()
             : std::optional(std::move(piece));
}

Result<CompletionPiece> CompletionSequence::add() {
  ahead = false;
  const std::vector<double> plain = request.logprobs ? logits : std::vector<double>();
  auto drawn = text.take(logits);
  if (!drawn)
    return drawn.error();
  CompletionPiece piece;
  piece.index = index;
  piece.text = std::move(drawn->certain);
  piece.added = drawn->token >= 0;
  if (request.logprobs && drawn->token >= 0)
    if (auto noted = note(drawn->token, plain, piece.entries); !noted)
      return noted.error();
  if (text.isDone()) {
    piece.finish = text.isStopped() ? "stop" : "length";
    const std::string rest = text.finish();
    piece.text += rest;
    // What was held back may hold a stop text only now.
    if (text.isStopped())
      piece.finish = "stop";
  }
  return piece;
}

} // namespace hybrid::rt
