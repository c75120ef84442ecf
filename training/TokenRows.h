//===- TokenRows.h - what a language model expects of several texts -----------------===//
#pragma once
#include "training/NextToken.h"

namespace hybrid::rt {

/// Several texts that go on at the same time, each in a row of one program and wherever it is.
/// Places are those of the NextToken of the same model.
class TokenRows {
public:
  virtual ~TokenRows() = default;
  virtual int64_t rows() const = 0;
  /// Whether a text that is there can take one more token. One that cannot goes on in a NextToken.
  virtual bool hasRoom(const NextToken::Place &place) const = 0;
  /// Lets a row go on from a place.
  virtual Result<void> put(int64_t row, const NextToken::Place &place) = 0;
  virtual Result<NextToken::Place> save(int64_t row) = 0;
  /// Sees the logits [vocabulary] of what is expected behind the token of a row.
  using Visit = std::function<void(int64_t row, std::span<const double> logits)>;
  /// Takes the next token of each row that has one. A row without one is at no place until put().
  virtual Result<void> step(std::span<const std::optional<int32_t>> tokens, const Visit &visit) = 0;
  virtual Session &session() = 0;
};

/// As loadNextToken(), which has loaded the same model, for `rows` texts. Nothing: texts can only
/// go on one by one, as a note says.
Result<std::unique_ptr<TokenRows>> loadTokenRows(const ModelSpec &model, int64_t context,
                                                 int64_t rows, int threads);

} // namespace hybrid::rt
