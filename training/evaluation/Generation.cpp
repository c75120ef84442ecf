//===- Generation.cpp - whether the likeliest text has the answer ------------------===//
#include "training/evaluation/Question.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

/// Lower case, without punctuation, spaces as one: what is compared.
std::string plainText(std::string_view text) {
  std::string plain;
  for (char c : text) {
    const bool isSpace = c == ' ' || (c >= '\t' && c <= '\r');
    const auto byte = static_cast<unsigned char>(c);
    if (isSpace && !plain.empty() && plain.back() != ' ')
      plain += ' ';
    else if (byte >= 'A' && byte <= 'Z')
      plain += static_cast<char>(byte + ('a' - 'A'));
    else if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte >= 0x80)
      plain += c;
  }
  while (plain.ends_with(' '))
    plain.pop_back();
  return plain;
}

enum Match : size_t { Contains, Begins, Equals };

class Generation final : public SuiteTask {
public:
  explicit Generation(Question question) : question(std::move(question)) {}
  std::string answersField;
  std::vector<std::string> stop;
  int64_t mostTokens = 0;
  size_t match = Contains;

  size_t examples() const override { return question.examples(); }

  Result<std::vector<Share>> score(TextScorer &scorer, size_t example) override {
    const Record &record = question.record(example);
    auto answers = answersOf(record);
    if (!answers)
      return answers.error();
    auto context = question.text(example, [this](const Record &shot) -> Result<std::string> {
      auto shown = answersOf(shot);
      return shown ? Result<std::string>(shown->front()) : shown.error();
    });
    if (!context)
      return context.error();
    // Spaces before an answer belong to its first token.
    std::string asked = *context + question.delimiter();
    asked.erase(asked.find_last_not_of(' ') + 1);
    auto text = scorer.greedy(asked, stop, mostTokens);
    if (!text)
      return Error{fmt::format("{}: {}", record.place, text.error().message)};
    const std::string given = plainText(*text);
    const bool isRight = std::any_of(answers->begin(), answers->end(), [&](const auto &answer) {
      const std::string wanted = plainText(answer);
      return match == Equals   ? given == wanted
             : match == Begins ? given.starts_with(wanted)
                               : given.find(wanted) != std::string::npos;
    });
    return std::vector<Share>{{"accuracy", isRight ? 1. : 0.}};
  }

private:
  /// A text, or a list of texts of which one is enough.
  Result<std::vector<std::string>> answersOf(const Record &record) const {
    auto field = record.find(answersField);
    if (!field)
      return field.error();
    std::vector<std::string> answers;
    if (!(*field)->is_array()) {
      auto text = record.text(answersField);
      if (!text)
        return text.error();
      answers.push_back(*text);
    } else {
      for (const nlohmann::json &each : **field)
        answers.push_back(each.is_string() ? each.get<std::string>() : "");
    }
    auto isEmpty = [](const std::string &answer) { return plainText(answer).empty(); };
    if (answers.empty() || std::any_of(answers.begin(), answers.end(), isEmpty))
      return Error{fmt::format("{}: field '{}' must be an answer with a letter or a digit, or a "
                               "list of such",
                               record.place, answersField)};
    return answers;
  }

  Question question;
};

} // namespace

Result<std::unique_ptr<SuiteTask>> openGeneration(const JsonNode &node, SuiteData &data,
                                                  const TextScorer &) {
  node.allowOnly({"name", "kind", "data", "limit", "description", "context", "delimiter", "answer",
                  "shots", "shots_data", "separator", "seed", "stop", "tokens", "match"});
  auto question = Question::open(node, data);
  if (!question)
    return question.error();
  auto task = std::make_unique<Generation>(std::move(*question));
  task->answersField = node.string("answer");
  task->stop = stringsOf(node, "stop", {"\n"});
  task->mostTokens = static_cast<int64_t>(node.count("tokens", 1 << 20, 32));
  task->match = node.choice("match", {"contains", "begins", "equals"}, Contains);
  if (task->mostTokens < 1)
    node.note("tokens", "must be at least 1");
  return std::unique_ptr<SuiteTask>(std::move(task));
}

} // namespace hybrid::rt
