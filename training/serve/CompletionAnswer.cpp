//===- CompletionAnswer.cpp - answers of the common protocol -------------------------===//
#include "training/serve/CompletionAnswer.h"
#include <algorithm>

namespace hybrid::rt {

using nlohmann::json;

CompletionAnswer::CompletionAnswer(const CompletionRequest &request, const Tokenizer &tokenizer,
                                   std::string model, std::string id, int64_t created)
    : request(request), tokenizer(tokenizer), model(std::move(model)), id(std::move(id)),
      created(created), choices(request.sequences()) {
  for (size_t i = 0; i < choices.size(); ++i)
    choices[i].index = i;
}

json CompletionAnswer::logprobsOf(const std::vector<TokenEntry> &entries) const {
  if (!request.logprobs)
    return nullptr;
  json tokens = json::array(), logprobs = json::array(), tops = json::array(),
       offsets = json::array();
  for (const TokenEntry &entry : entries) {
    tokens.push_back(namedToken(tokenizer, entry.token));
    offsets.push_back(entry.offset);
    logprobs.push_back(entry.logprob ? json(*entry.logprob) : json());
    json top = entry.logprob ? json::object() : json();
    for (const auto &[token, logprob] : entry.top)
      top.emplace(namedToken(tokenizer, token), logprob); // of equal names the likeliest stays
    tops.push_back(std::move(top));
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

json CompletionAnswer::choiceOf(const CompletionPiece &piece) const {
  return {{"index", piece.index},
          {"text", piece.text},
          {"logprobs", logprobsOf(piece.entries)},
          {"finish_reason", piece.finish ? json(piece.finish) : json()}};
}

json CompletionAnswer::frame(json list) const {
  return {{"id", id},
          {"object", "text_completion"},
          {"created", created},
          {"model", model},
          {"choices", std::move(list)}};
}

json CompletionAnswer::event(const CompletionPiece &piece) const {
  return frame(json::array({choiceOf(piece)}));
}

void CompletionAnswer::add(const CompletionPiece &piece) {
  CompletionPiece &choice = choices[piece.index];
  choice.text += piece.text;
  choice.entries.insert(choice.entries.end(), piece.entries.begin(), piece.entries.end());
  choice.added += piece.added;
  choice.finish = piece.finish;
}

json CompletionAnswer::whole() const {
  json list = json::array();
  uint64_t prompts = 0, added = 0;
  for (const std::vector<int32_t> &prompt : request.prompts)
    prompts += prompt.size();
  for (const CompletionPiece &choice : choices) {
    list.push_back(choiceOf(choice));
    added += choice.added;
  }
  json answer = frame(std::move(list));
  answer["usage"] = {
      {"prompt_tokens", prompts}, {"completion_tokens", added}, {"total_tokens", prompts + added}};
  return answer;
}

json errorAnswer(const RequestFault &fault) {
  const char *type = fault.status >= 500 ? "server_error" : "invalid_request_error";
  return {{"error",
           {{"message", fault.message},
            {"type", type},
            {"param", fault.field.empty() ? json() : json(fault.field)},
            {"code", fault.status}}}};
}

} // namespace hybrid::rt
