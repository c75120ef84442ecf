//===- Generate.cpp - hybrid-run generate: text from a language model --------------===//
#include "training/Generate.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

void addGenerate(CLI::App &app) {
  auto *verb = app.add_subcommand("generate", "continue a text with a language model");
  auto arguments = std::make_shared<rt::GenerateOptions>();
  addLanguageModel(*verb, arguments->model);
  auto *prompts = verb->add_option_group("Prompts", "one of");
  prompts->add_option("--prompt", arguments->prompt, "the text to continue");
  prompts->add_option("--prompts", arguments->prompts,
                      "a file of texts to continue, one by one: a line each, or a .jsonl with the "
                      "field prompt; prints a line of JSON for each");
  prompts->add_flag("--interactive", arguments->interactive,
                    "read lines, and go on behind each with all that was said before");
  prompts->require_option(1);
  verb->add_option("--tokens", arguments->text.tokens, "tokens to add")
      ->check(Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("--temperature", arguments->text.sampler.temperature, "0: always the likeliest")
      ->check(Range(0.0, 1e6))
      ->capture_default_str();
  verb->add_option("--top-k", arguments->text.sampler.topK, "draw from the K likeliest; 0: all")
      ->check(Range(int64_t{0}, int64_t{1} << 30))
      ->capture_default_str();
  verb->add_option("--top-p", arguments->text.sampler.topP,
                   "draw from the likeliest with this much probability")
      ->check(Range(1e-9, 1.0))
      ->capture_default_str();
  verb->add_option("--min-p", arguments->text.sampler.minP,
                   "draw from tokens with this share of the likeliest one's probability")
      ->check(Range(0.0, 1.0));
  verb->add_option("--repetition-penalty", arguments->text.sampler.repetitionPenalty,
                   "above 1: what was said becomes less likely")
      ->check(Range(1e-3, 1e3));
  verb->add_option("--stop", arguments->text.stop, "end before this text; may be given again");
  verb->add_flag("--past-end", arguments->text.goesPastEnd,
                 "the end-of-text token does not end it");
  verb->add_flag("--json", arguments->json, "a line a token, with its log-probability");
  verb->add_option("--seed", arguments->text.seed, "of the draws")->capture_default_str();
  verb->callback([arguments] { require(rt::generateText(*arguments)); });
}

} // namespace hybrid::tools
