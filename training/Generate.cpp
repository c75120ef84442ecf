//===- Generate.cpp - text from a language model ----------------------------------===//
#include "training/Generate.h"
#include "runtime/files/Json.h"
#include <cstdio>

namespace hybrid::rt {
namespace {

void printToken(const TextContinuation::Piece &piece, double logProbability) {
  const nlohmann::json line = {
      {"token", piece.token}, {"text", piece.text}, {"logprob", logProbability}};
  std::fputs((jsonLine(line) + "\n").c_str(), stdout);
}

Result<void> generate(LanguageModel &model, const GenerateOptions &options) {
  auto prompt = model.encode(options.prompt);
  if (!prompt)
    return prompt.error();
  if (prompt->empty())
    return Error{"--prompt is empty: give the first characters of the text"};
  auto text = TextContinuation::begin(model.tokenizer(), std::move(*prompt), options.text);
  if (!text)
    return text.error();
  if (!options.json)
    std::fputs(options.prompt.c_str(), stdout);
  std::fflush(stdout);
  std::vector<double> logits(static_cast<size_t>(model.vocabulary())), plain;
  while (!text->isDone()) {
    if (auto done = model.expect(text->tokens(), logits); !done)
      return done;
    plain = logits;
    auto piece = text->take(logits);
    if (!piece)
      return piece.error();
    if (options.json && piece->token >= 0)
      printToken(*piece, logProbability(plain, piece->token));
    else
      std::fwrite(piece->certain.data(), 1, piece->certain.size(), stdout);
    if (std::fflush(stdout) != 0)
      return {}; // nobody reads any more
  }
  if (!options.json) {
    const std::string rest = text->finish() + "\n";
    std::fwrite(rest.data(), 1, rest.size(), stdout);
  }
  return {};
}

} // namespace

Result<void> generateText(GenerateOptions options) {
  auto model = LanguageModel::open(options.model);
  if (!model)
    return model.error();
  return generate(*model, options);
}

} // namespace hybrid::rt
