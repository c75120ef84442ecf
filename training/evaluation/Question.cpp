//===- Question.cpp - a question to a model, with examples before it ----------------===//
#include "training/evaluation/Question.h"
#include "training/Rng.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {

constexpr uint64_t shotStream = 0x73686f74;

Result<Question> Question::open(const JsonNode &node, SuiteData &data) {
  Question question;
  question.description = node.string("description", "");
  question.context = templateOf(node, "context");
  question.between = node.string("delimiter", " ");
  question.separator = node.string("separator", "\n\n");
  question.shots = node.count("shots", 1000, 0);
  question.seed = node.count("seed", INT64_MAX, 0);
  const std::string path = node.string("data"), shotsPath = node.string("shots_data", path);
  if (!node.isGood())
    return question;
  auto records = data.records(path), shown = data.records(shotsPath);
  if (!records || !shown)
    return records ? shown.error() : records.error();
  question.records = *records;
  question.shown = *shown;
  question.count = limitOf(node, question.records->size());
  const size_t others = question.shown->size() - (question.shown == question.records ? 1 : 0);
  if (question.shots > others)
    node.note("shots", fmt::format("must be at most {}: there are no more other records in '{}'",
                                   others, shotsPath));
  return question;
}

Result<std::string> Question::text(size_t example, const AnswerOf &answerOf) const {
  std::string text = description;
  Rng rng(seed, shotStream, example);
  std::vector<size_t> drawn;
  while (drawn.size() < shots) {
    const size_t shot = rng.below(shown->size());
    const bool isItself = shown == records && shot == example;
    if (!isItself && std::find(drawn.begin(), drawn.end(), shot) == drawn.end())
      drawn.push_back(shot);
  }
  for (size_t shot : drawn) {
    auto question = context.fill((*shown)[shot]);
    auto answer = question ? answerOf((*shown)[shot]) : question;
    if (!answer)
      return answer;
    text += *question + between + *answer + separator;
  }
  auto question = context.fill(record(example));
  if (!question)
    return question;
  return text + *question;
}

} // namespace hybrid::rt
