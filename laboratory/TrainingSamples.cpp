//===- TrainingSamples.cpp - what a model writes while it is trained -----------------===//
#include "laboratory/TrainingSamples.h"
#include "training/Generate.h"
#include "training/NextToken.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::lab {
namespace {

class PromptSampler final : public TrainingSampler {
public:
  PromptSampler(Session &session, LanguageModel model, SampleOptions options)
      : session(session), model(std::move(model)), options(std::move(options)) {}

  Result<nlohmann::json> sample(StepRunner &runner, int64_t replica) override {
    if (auto done = takeParameters(runner, replica); !done)
      return done.error();
    nlohmann::json samples = nlohmann::json::array();
    std::string all;
    for (const std::string &prompt : options.prompts) {
      auto text = goOn(prompt);
      if (!text)
        return text.error();
      samples.push_back({{"prompt", prompt}, {"text", *text}});
      all += (all.empty() ? "" : "\n") + prompt + *text;
    }
    return nlohmann::json{{"text", all}, {"samples", std::move(samples)}};
  }

private:
  /// By name: programs of one text have the same parameters, though not in the same places.
  Result<void> takeParameters(StepRunner &runner, int64_t replica) {
    const std::vector<StateTensor> state = runner.state(replica);
    const std::vector<ParameterInfo> &parameters = session.executable().parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      auto found = std::find_if(state.begin(), state.end(), [&](const StateTensor &tensor) {
        return tensor.name == parameters[i].name;
      });
      if (found == state.end())
        return Error{fmt::format("--sample-prompt: the run has no parameter '{}', which the model "
                                 "has that decodes",
                                 parameters[i].name)};
      if (auto done = session.setParameter(i, found->data); !done)
        return done;
    }
    return {};
  }

  Result<std::string> goOn(const std::string &prompt) {
    auto tokens = model.encode(prompt);
    if (!tokens)
      return tokens.error();
    auto text = TextContinuation::begin(model.tokenizer(), std::move(*tokens), options.text);
    if (!text)
      return text.error();
    return goOnWith(model, *text);
  }

  Session &session; // the model's
  LanguageModel model;
  SampleOptions options;
};

} // namespace

Result<std::shared_ptr<TrainingSampler>> makeSampler(const ModelSpec &model, const Source &data,
                                                     const SampleOptions &options, int threads) {
  if (!data.tokenizer())
    return Error{"--sample-prompt: the data has no tokenizer, so that its tokens are no text"};
  auto tokenizer = tokenizerFromText(data.tokenizer()->serialized(), "the data's tokenizer");
  if (!tokenizer)
    return tokenizer.error();
  for (const std::string &prompt : options.prompts)
    if (prompt.empty())
      return Error{"--sample-prompt is empty: give the first characters of a text"};
  auto decoder = loadNextToken(model, 0, threads);
  if (!decoder)
    return decoder.error();
  if ((*decoder)->vocabulary() < (*tokenizer)->vocabulary())
    return Error{fmt::format("--sample-prompt: the tokenizer has {} tokens, but the model a "
                             "vocabulary of {}",
                             (*tokenizer)->vocabulary(), (*decoder)->vocabulary())};
  Session &session = (*decoder)->session();
  LanguageModel language(std::move(*decoder), std::move(*tokenizer), "the run");
  return std::shared_ptr<TrainingSampler>(
      std::make_shared<PromptSampler>(session, std::move(language), options));
}

} // namespace hybrid::rt::lab
