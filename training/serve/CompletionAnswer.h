//===- CompletionAnswer.h - answers of the common protocol --------------------------===//
#pragma once
#include "training/serve/CompletionSequence.h"
#include <nlohmann/json.hpp>

namespace hybrid::rt {

/// Of one request: JSON objects as /v1/completions has them.
class CompletionAnswer {
public:
  CompletionAnswer(const CompletionRequest &request, const Tokenizer &tokenizer, std::string model,
                   std::string id, int64_t created);

  /// A piece on its own: an event of a stream.
  nlohmann::json event(const CompletionPiece &piece) const;
  /// Collects pieces into the answer as a whole.
  void add(const CompletionPiece &piece);
  nlohmann::json whole() const;

private:
  nlohmann::json frame(nlohmann::json choices) const;
  nlohmann::json logprobsOf(const std::vector<TokenEntry> &entries) const;
  nlohmann::json choiceOf(const CompletionPiece &piece) const;

  const CompletionRequest &request;
  const Tokenizer &tokenizer;
  std::string model, id;
  int64_t created;
  std::vector<CompletionPiece> choices; // pieces joined
};

/// {"error": {...}} of a fault.
nlohmann::json errorAnswer(const RequestFault &fault);

} // namespace hybrid::rt
