//===- Generate.cpp - text from a language model ----------------------------------===//
#include "training/Generate.h"
#include "runtime/files/Json.h"
#include "training/evaluation/Records.h"
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <unistd.h>

namespace hybrid::rt {
namespace {

nlohmann::json describe(const TextContinuation::Piece &piece, double logProbability) {
  return {{"token", piece.token}, {"text", piece.text}, {"logprob", logProbability}};
}

/// Called for each piece, with the log-probability of its token; false: nobody reads any more.
using Show = std::function<bool(const TextContinuation::Piece &piece, double logProbability)>;

Result<void> add(LanguageModel &model, TextContinuation &text, const Show &show) {
  std::vector<double> logits(static_cast<size_t>(model.vocabulary())), plain;
  while (!text.isDone()) {
    if (auto done = model.expect(text.tokens(), logits); !done)
      return done;
    plain = logits;
    auto piece = text.take(logits);
    if (!piece)
      return piece.error();
    if (!show(*piece, piece->token < 0 ? 0 : logProbability(plain, piece->token)))
      break;
  }
  return {};
}

bool print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0;
}

/// As it comes.
Result<void> addAndPrint(LanguageModel &model, TextContinuation &text, bool json) {
  auto done = add(model, text, [&](const TextContinuation::Piece &piece, double logProbability) {
    if (!json)
      return print(piece.certain);
    return piece.token < 0 || print(jsonLine(describe(piece, logProbability)) + "\n");
  });
  if (done && !json)
    print(text.finish() + "\n");
  return done;
}

Result<TextContinuation> begin(const LanguageModel &model, const std::string &prompt,
                               const std::string &place, const ContinuationOptions &options) {
  auto tokens = model.encode(prompt);
  if (!tokens)
    return tokens.error();
  if (tokens->empty())
    return Error{fmt::format("{} is empty: give the first characters of the text", place)};
  return TextContinuation::begin(model.tokenizer(), std::move(*tokens), options);
}

/// {"prompt", "text", "finish"} a line, and "tokens" with their log-probabilities if asked for.
Result<void> generateAll(LanguageModel &model, const GenerateOptions &options) {
  auto records = readLines(options.prompts, "prompt");
  if (!records)
    return records.error();
  for (const Record &record : *records) {
    auto prompt = record.text("prompt");
    auto text = prompt ? begin(model, *prompt, record.place, options.text) : prompt.error();
    if (!text)
      return text.error();
    model.restart();
    std::string added;
    nlohmann::json tokens = nlohmann::json::array();
    auto done = add(model, *text, [&](const auto &piece, double logProbability) {
      added += piece.certain;
      if (options.json && piece.token >= 0)
        tokens.push_back(describe(piece, logProbability));
      return true;
    });
    if (!done)
      return done;
    const char *finish = text->isStopped() ? "stop" : "length";
    nlohmann::json line = {
        {"prompt", *prompt}, {"text", added + text->finish()}, {"finish", finish}};
    if (options.json)
      line["tokens"] = std::move(tokens);
    if (!print(jsonLine(line) + "\n"))
      break; // nobody reads any more
  }
  return {};
}

/// The states go on from line to line, so that each one is read once.
Result<void> converse(LanguageModel &model, const GenerateOptions &options) {
  const bool isTerminal = isatty(STDIN_FILENO);
  std::vector<int32_t> tokens;
  std::string line;
  for (ContinuationOptions each = options.text;; ++each.seed) {
    if (isTerminal)
      print("> ");
    if (!std::getline(std::cin, line))
      return {};
    if (tokens.empty()) {
      auto first = model.encode(line);
      if (!first)
        return first.error();
      tokens = std::move(*first);
    } else if (auto read = model.tokenizer().encode(line, {false, true}, tokens); !read) {
      return read;
    }
    if (tokens.empty())
      continue;
    auto text = TextContinuation::begin(model.tokenizer(), tokens, each);
    if (!text)
      return text.error();
    if (auto done = addAndPrint(model, *text, options.json); !done)
      return done;
    tokens.assign(text->tokens().begin(), text->tokens().end());
    if (text->isEnded()) // it has said so, and goes on behind that
      tokens.push_back(model.tokenizer().endOfText());
  }
}

} // namespace

Result<std::string> goOnWith(LanguageModel &model, TextContinuation &text) {
  model.restart();
  std::string added;
  auto done = add(model, text, [&](const TextContinuation::Piece &piece, double) {
    added += piece.certain;
    return true;
  });
  return done ? Result<std::string>(added + text.finish()) : done.error();
}

Result<void> generateText(GenerateOptions options) {
  auto model = LanguageModel::open(options.model);
  if (!model)
    return model.error();
  if (options.interactive)
    return converse(*model, options);
  if (!options.prompts.empty())
    return generateAll(*model, options);
  auto text = begin(*model, options.prompt, "--prompt", options.text);
  if (!text)
    return text.error();
  if (!options.json)
    print(options.prompt);
  return addAndPrint(*model, *text, options.json);
}

} // namespace hybrid::rt
