//===- CompletionRequest.cpp - what a client asks to be completed -----------------===//
#include "training/serve/CompletionRequest.h"
#include "training/tokenizers/JsonNode.h"
#include "training/tokenizers/Utf8.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

/// Fields of the common protocol that ask for nothing while they have this value.
void refuseUnlessNeutral(const JsonNode &root) {
  for (const char *key : {"presence_penalty", "frequency_penalty"})
    if (root.number(key, -1e9, 1e9, 0) != 0)
      root.note(key, "is not supported, but for 0");
  if (root.count("best_of", 1 << 20, 1) != 1)
    root.note("best_of", "is not supported, but for 1");
  if (!root.string("suffix", "").empty())
    root.note("suffix", "is not supported");
  if (const JsonNode bias = root["logit_bias"]; !bias.isNull() && !bias.json().empty())
    bias.refuse("is not supported");
  root.string("user", "");
}

class Reader {
public:
  Reader(const LanguageModel &model, const CompletionLimits &limits, CompletionRequest &request)
      : model(model), limits(limits), request(request) {}

  void readPrompts(const JsonNode &root) {
    const JsonNode prompt = root["prompt"];
    const nlohmann::json &value = prompt.json();
    if (value.is_string())
      return addText(prompt, value.get<std::string>());
    if (!value.is_array() || value.empty())
      return prompt.refuse("must be a text, a list of texts, a list of tokens, or a list of lists "
                           "of tokens, and none of them empty");
    if (value[0].is_number())
      return addTokens(prompt);
    if (value.size() > limits.sequences)
      return prompt.refuse(fmt::format("must have at most {} prompts", limits.sequences));
    for (const JsonNode &element : root.elements("prompt")) {
      if (!root.isGood())
        return;
      if (element.json().is_string())
        addText(element, element.json().get<std::string>());
      else
        addTokens(element);
    }
  }

  void readStop(const JsonNode &stop) {
    std::vector<std::string> &texts = request.text.stop;
    const nlohmann::json &value = stop.json();
    const bool isList = value.is_array() && value.size() <= mostStopTexts;
    for (size_t i = 0; isList && i < value.size(); ++i)
      if (value[i].is_string())
        texts.push_back(value[i].get<std::string>());
    if (value.is_string())
      texts.push_back(value.get<std::string>());
    auto isLong = [](const std::string &text) { return text.size() > mostStopBytes; };
    if ((!value.is_null() && !value.is_string() && (!isList || texts.size() != value.size())) ||
        std::any_of(texts.begin(), texts.end(), isLong))
      stop.refuse(fmt::format("must be a text or a list of at most {}, each of at most {} bytes",
                              mostStopTexts, mostStopBytes));
  }

private:
  void add(const JsonNode &prompt, std::vector<int32_t> tokens, std::string text) {
    allTokens += tokens.size();
    if (tokens.empty())
      return prompt.refuse("is empty, and nothing stands before a text of this model");
    if (allTokens > limits.promptTokens)
      return prompt.refuse(
          fmt::format("makes more than {} tokens of prompts", limits.promptTokens));
    request.prompts.push_back(std::move(tokens));
    request.promptTexts.push_back(std::move(text));
  }

  void addText(const JsonNode &prompt, const std::string &text) {
    auto tokens = model.encode(text);
    if (!tokens)
      return prompt.refuse(tokens.error().message);
    add(prompt, std::move(*tokens), text);
  }

  void addTokens(const JsonNode &prompt) {
    std::vector<int32_t> tokens;
    const nlohmann::json &value = prompt.json();
    for (size_t i = 0; value.is_array() && i < value.size(); ++i)
      if (value[i].is_number_unsigned() &&
          value[i].get<uint64_t>() < static_cast<uint64_t>(model.vocabulary()))
        tokens.push_back(value[i].get<int32_t>());
    if (!value.is_array() || tokens.size() != value.size())
      return prompt.refuse(
          fmt::format("must be a text or a list of tokens from 0 to {}", model.vocabulary() - 1));
    auto text = model.tokenizer().decode(tokens, {true, true});
    if (!text)
      return prompt.refuse(text.error().message);
    add(prompt, std::move(tokens), std::move(*text));
  }

  const LanguageModel &model;
  const CompletionLimits &limits;
  CompletionRequest &request;
  uint64_t allTokens = 0;
};

void readSampler(const JsonNode &root, SamplerOptions &sampler) {
  sampler.temperature = root.number("temperature", 0, 100, 1);
  sampler.topP = root.number("top_p", 1e-9, 1, 1);
  sampler.minP = root.number("min_p", 0, 1, 0);
  sampler.topK = static_cast<int64_t>(root.count("top_k", 1 << 30, 0));
  sampler.repetitionPenalty = root.number("repetition_penalty", 1e-3, 1e3, 1);
}

} // namespace

std::optional<RequestFault> readCompletionRequest(std::string_view body, const LanguageModel &model,
                                                  const std::string &name,
                                                  const CompletionLimits &limits, uint64_t seed,
                                                  CompletionRequest &request) {
  auto document = parseJson(body, "the body", {.depth = 8, .uniqueKeys = true});
  if (!document)
    return RequestFault{400, "", document.error().message};
  std::string fault;
  const JsonNode root(*document, "", fault);
  root.allowOnly({"model",
                  "prompt",
                  "max_tokens",
                  "temperature",
                  "top_p",
                  "top_k",
                  "min_p",
                  "repetition_penalty",
                  "seed",
                  "stop",
                  "echo",
                  "logprobs",
                  "stream",
                  "n",
                  "best_of",
                  "presence_penalty",
                  "frequency_penalty",
                  "suffix",
                  "logit_bias",
                  "user"});
  if (fault.empty() && root.string("model", name) != name && fault.empty())
    return RequestFault{404, "model", fmt::format("model: there is only '{}'", name)};
  refuseUnlessNeutral(root);
  request.text.tokens = static_cast<int64_t>(root.count("max_tokens", limits.tokens, 16));
  request.text.seed = root.count("seed", UINT64_MAX, seed);
  request.echo = root.boolean("echo", false);
  request.stream = root.boolean("stream", false);
  request.choices = root.count("n", limits.sequences, 1);
  if (!root["logprobs"].isNull())
    request.logprobs = root.count("logprobs", mostLogprobs);
  readSampler(root, request.text.sampler);
  Reader reader(model, limits, request);
  reader.readStop(root["stop"]);
  if (fault.empty())
    reader.readPrompts(root);
  if (request.choices < 1 || request.sequences() > limits.sequences)
    root.note("n",
              fmt::format("must be at least 1, and at most {} with all prompts", limits.sequences));
  if (fault.empty())
    return std::nullopt;
  return RequestFault{400, fault.substr(0, fault.find(": ")), fault};
}

std::string namedToken(const Tokenizer &tokenizer, int32_t token) {
  auto text = tokenizer.decode(std::span(&token, 1), {true, false});
  if (!text)
    return "";
  if (utf8::replaceIllFormed(*text) == *text)
    return *text;
  std::string name = "bytes:";
  for (char c : *text)
    name += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  return name;
}

} // namespace hybrid::rt
