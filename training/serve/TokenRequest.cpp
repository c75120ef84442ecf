//===- TokenRequest.cpp - what a client asks of the tokenizer ----------------------===//
#include "training/serve/TokenRequest.h"
#include "training/tokenizers/JsonNode.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {

using nlohmann::json;

json tokenizerInfo(const Tokenizer &tokenizer) {
  const std::vector<Tokenizer::Special> special = tokenizer.specialTokens();
  auto named = [&](std::initializer_list<std::string_view> names) -> json {
    for (std::string_view name : names)
      if (std::ranges::find(special, name, &Tokenizer::Special::text) != special.end())
        return name;
    return nullptr;
  };
  const int32_t end = tokenizer.endOfText();
  return {{"eos_token", end < 0 ? json() : json(tokenizer.token(end))},
          {"bos_token", named({"<s>", "<|begin_of_text|>"})},
          {"pad_token", named({"<pad>", "[PAD]"})},
          {"chat_template", nullptr}};
}

/// Reads a body whose fields are `known`, and what `read` makes of it.
template <typename Read>
static std::optional<RequestFault>
readBody(std::string_view body, std::initializer_list<std::string_view> known, const Read &read) {
  auto document = parseJson(body, "the body", {.depth = 3, .uniqueKeys = true});
  if (!document)
    return RequestFault{400, "", document.error().message};
  std::string fault;
  const JsonNode root(*document, "", fault);
  root.allowOnly(known);
  if (fault.empty())
    read(root);
  if (fault.empty())
    return std::nullopt;
  return RequestFault{400, fault.substr(0, fault.find(": ")), fault};
}

std::optional<RequestFault> answerTokenize(std::string_view body, const Tokenizer &tokenizer,
                                           json &answer) {
  return readBody(body, {"prompt", "add_special_tokens", "model"}, [&](const JsonNode &root) {
    const JsonNode prompt = root["prompt"];
    if (!prompt.json().is_string())
      return prompt.refuse("must be a text");
    std::vector<int32_t> ids;
    const EncodeOptions options{.addSpecial = root.boolean("add_special_tokens", true)};
    if (auto done = tokenizer.encode(prompt.json().get<std::string>(), options, ids); !done)
      return prompt.refuse(done.error().message);
    answer = {{"tokens", ids}};
  });
}

std::optional<RequestFault> answerDetokenize(std::string_view body, const Tokenizer &tokenizer,
                                             json &answer) {
  return readBody(body, {"tokens", "model"}, [&](const JsonNode &root) {
    const JsonNode tokens = root["tokens"];
    std::vector<int32_t> ids;
    for (const json &each : tokens.json().is_array() ? tokens.json() : json::array())
      if (each.is_number_unsigned() &&
          each.get<uint64_t>() < static_cast<uint64_t>(tokenizer.vocabulary()))
        ids.push_back(each.get<int32_t>());
    if (!tokens.json().is_array() || ids.size() != tokens.json().size())
      return tokens.refuse(
          fmt::format("must be a list of tokens from 0 to {}", tokenizer.vocabulary() - 1));
    auto text = tokenizer.decode(ids, {.keepSpecial = true, .asText = true});
    if (!text)
      return tokens.refuse(text.error().message);
    answer = {{"prompt", *text}};
  });
}

} // namespace hybrid::rt
