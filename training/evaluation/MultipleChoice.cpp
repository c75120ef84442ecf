//===- MultipleChoice.cpp - which answer a model finds likeliest -------------------===//
#include "training/evaluation/Question.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

constexpr size_t mostChoices = 64;

class MultipleChoice final : public SuiteTask {
public:
  explicit MultipleChoice(Question question) : question(std::move(question)) {}
  std::vector<TextTemplate> templates; // none: they are in `choicesField` of a record
  std::string choicesField, answerField;

  size_t examples() const override { return question.examples(); }

  Result<std::vector<Share>> score(TextScorer &scorer, size_t example) override {
    const Record &record = question.record(example);
    auto choices = read(record);
    if (!choices)
      return choices.error();
    const std::vector<std::string> &texts = choices->texts;
    auto context = question.text(example, [this](const Record &shot) { return answerText(shot); });
    if (!context)
      return context.error();
    std::vector<std::string> following;
    for (const std::string &text : texts)
      following.push_back(question.delimiter() + text);
    auto found = scorer.follow(*context, following);
    if (!found)
      return Error{fmt::format("{}: {}", record.place, found.error().message)};
    size_t plain = 0, byLength = 0;
    auto perByte = [&](size_t i) {
      return (*found)[i].logProbability / static_cast<double>(texts[i].size());
    };
    for (size_t i = 1; i < texts.size(); ++i) {
      if ((*found)[i].logProbability > (*found)[plain].logProbability)
        plain = i;
      if (perByte(i) > perByte(byLength))
        byLength = i;
    }
    return std::vector<Share>{{"accuracy", plain == choices->right ? 1. : 0.},
                              {"accuracy_by_length", byLength == choices->right ? 1. : 0.}};
  }

private:
  /// The choices of a record, and which one is right.
  struct Choices {
    std::vector<std::string> texts;
    size_t right = 0;
  };
  Result<Choices> read(const Record &record) const {
    auto texts = choicesOf(record);
    auto right = texts ? answerOf(record, *texts) : texts.error();
    if (!right)
      return right.error();
    return Choices{std::move(*texts), *right};
  }

  Result<std::vector<std::string>> choicesOf(const Record &record) const {
    std::vector<std::string> texts;
    for (const TextTemplate &choice : templates) {
      auto text = choice.fill(record);
      if (!text)
        return text.error();
      texts.push_back(*text);
    }
    if (!choicesField.empty()) {
      auto field = record.find(choicesField);
      if (!field)
        return field.error();
      const bool isList = (*field)->is_array();
      for (size_t i = 0; isList && i < (*field)->size(); ++i)
        if ((**field)[i].is_string())
          texts.push_back((**field)[i].get<std::string>());
      if (!isList || texts.size() != (*field)->size() || texts.size() < 2 ||
          texts.size() > mostChoices)
        return Error{fmt::format("{}: field '{}' must be a list of 2 to {} strings", record.place,
                                 choicesField, mostChoices)};
    }
    for (const std::string &text : texts)
      if (text.empty())
        return Error{fmt::format("{}: a choice is empty", record.place)};
    return texts;
  }

  /// By its number from 0, or by its text.
  Result<size_t> answerOf(const Record &record, const std::vector<std::string> &texts) const {
    auto field = record.find(answerField);
    if (!field)
      return field.error();
    if ((*field)->is_number_unsigned() && (*field)->get<uint64_t>() < texts.size())
      return (*field)->get<size_t>();
    if ((*field)->is_boolean() && texts.size() == 2)
      return static_cast<size_t>((*field)->get<bool>());
    if ((*field)->is_string())
      if (auto at = std::find(texts.begin(), texts.end(), (*field)->get<std::string>());
          at != texts.end())
        return static_cast<size_t>(at - texts.begin());
    return Error{fmt::format("{}: field '{}' must be a number from 0 to {}, or one of the choices",
                             record.place, answerField, texts.size() - 1)};
  }

  Result<std::string> answerText(const Record &record) const {
    auto choices = read(record);
    if (!choices)
      return choices.error();
    return choices->texts[choices->right];
  }

  Question question;
};

} // namespace

Result<std::unique_ptr<SuiteTask>> openMultipleChoice(const JsonNode &node, SuiteData &data,
                                                      const TextScorer &) {
  node.allowOnly({"name", "kind", "data", "limit", "description", "context", "delimiter", "choices",
                  "answer", "shots", "shots_data", "separator", "seed"});
  auto question = Question::open(node, data);
  if (!question)
    return question.error();
  auto task = std::make_unique<MultipleChoice>(std::move(*question));
  task->answerField = node.string("answer");
  if (node["choices"].json().is_string()) {
    task->choicesField = node.string("choices");
  } else {
    for (const std::string &text : stringsOf(node, "choices", {})) {
      auto choice = TextTemplate::parse(text);
      if (choice)
        task->templates.push_back(*choice);
      else
        node.note("choices", choice.error().message);
    }
    if (task->templates.size() < 2 || task->templates.size() > mostChoices)
      node.note("choices", fmt::format("must be a list of 2 to {} templates, or the name of a "
                                       "field with a list of strings",
                                       mostChoices));
  }
  return std::unique_ptr<SuiteTask>(std::move(task));
}

} // namespace hybrid::rt
