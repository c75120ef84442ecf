//===- Question.h - a question to a model, with examples before it -----------------===//
#pragma once
#include "training/evaluation/SuiteTask.h"
#include <functional>

namespace hybrid::rt {

/// Puts together what a model reads: description, questions of other records with their answers
/// (shots), and the record's own question.
class Question {
public:
  /// Reads "data", "limit", "description", "context", "delimiter" (" "), "shots" (0), "shots_data"
  /// (as "data"), "separator" ("\n\n") and "seed" (0).
  static Result<Question> open(const JsonNode &node, SuiteData &data);

  size_t examples() const { return count; }
  const Record &record(size_t example) const { return (*records)[example]; }
  /// Between a question and its answer.
  const std::string &delimiter() const { return between; }

  /// The answer of a record that is shown.
  using AnswerOf = std::function<Result<std::string>(const Record &)>;
  /// The text up to the delimiter. Shots are drawn without repetition by the seed and the number of
  /// the example, and never the example itself.
  Result<std::string> text(size_t example, const AnswerOf &answerOf) const;

private:
  std::shared_ptr<const std::vector<Record>> records, shown;
  size_t count = 0, shots = 0;
  uint64_t seed = 0;
  std::string description, between, separator;
  TextTemplate context;
};

} // namespace hybrid::rt
