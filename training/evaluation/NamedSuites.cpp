//===- NamedSuites.cpp - suites that need no file --------------------------------===//
#include "training/evaluation/NamedSuites.h"

namespace hybrid::rt {
namespace {

struct NamedSuite {
  std::string_view name, text;
};

constexpr NamedSuite suites[] = {
    // Paperno et al. 2016, as OpenAI and EleutherAI distribute it; the filter of GPT-2's report.
    {"lambada", R"({"name": "lambada", "tasks": [
  {"name": "lambada", "kind": "last_word", "data": "lambada.jsonl", "stop_words": true}]})"},
    // Wang et al. 2019, the tasks of SuperGLUE whose labels number their choices, as it distributes
    // them; scored by logits as in Poli et al. 2023, appendix A.3.
    {"superglue", R"({"name": "superglue", "tasks": [
  {"name": "boolq", "kind": "multiple_choice", "data": "BoolQ/val.jsonl",
   "context": "{passage}\nQuestion: {question}?\nAnswer:", "choices": ["no", "yes"], "answer": "label"},
  {"name": "copa", "kind": "multiple_choice", "data": "COPA/val.jsonl", "context": "{premise}",
   "choices": ["{choice1}", "{choice2}"], "answer": "label"},
  {"name": "wic", "kind": "multiple_choice", "data": "WiC/val.jsonl",
   "context": "{sentence1}\n{sentence2}\nDoes the word {word} mean the same in both?",
   "choices": ["no", "yes"], "answer": "label"}]})"},
    // Zellers et al. 2019.
    {"hellaswag", R"({"name": "hellaswag", "tasks": [
  {"name": "hellaswag", "kind": "multiple_choice", "data": "hellaswag_val.jsonl", "context": "{ctx}",
   "choices": "endings", "answer": "label"}]})"},
    {"needle", R"({"name": "needle", "tasks": [
  {"name": "needle", "kind": "needle", "data": "haystack.txt", "lengths": [256, 512, 1024, 2048],
   "depths": [0, 0.25, 0.5, 0.75, 1], "count": 10}]})"},
    {"perplexity", R"({"name": "perplexity", "tasks": [
  {"name": "text", "kind": "perplexity", "data": "text.txt", "length": 1024, "stride": 512}]})"},
};

} // namespace

std::optional<std::string_view> namedSuite(std::string_view name) {
  for (const NamedSuite &suite : suites)
    if (suite.name == name)
      return suite.text;
  return std::nullopt;
}

std::string namesOfSuites() {
  std::string names;
  for (const NamedSuite &suite : suites)
    names += (names.empty() ? "" : ", ") + std::string(suite.name);
  return names;
}

} // namespace hybrid::rt
