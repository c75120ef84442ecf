//===- ServeTest.cpp - completions for several clients ----------------------------===//
#include "FakeLanguage.h"
#include "training/serve/CompletionAnswer.h"
#include "training/serve/CompletionService.h"
#include <fmt/format.h>

using namespace hybrid::rt;

namespace {

const std::string corpus =
    "one two three four five six seven eight nine ten. ten nine eight seven.";

class Serve : public testing::Test {
protected:
  FakeLanguage language{corpus};

  /// The fault's field and message; empty: none.
  std::string fault(const std::string &body) {
    CompletionRequest request;
    auto found = readCompletionRequest(body, language.model, "fake", {}, 0, request);
    return found ? fmt::format("{} {}|{}", found->status, found->field, found->message) : "";
  }
  CompletionRequest read(const std::string &body) {
    CompletionRequest request;
    auto found = readCompletionRequest(body, language.model, "fake", {}, 7, request);
    EXPECT_FALSE(found) << found->message;
    return request;
  }
  /// The whole answer of a job.
  static nlohmann::json wholeOf(CompletionService::Job &job, const Tokenizer &tokenizer) {
    CompletionAnswer answer(job.request(), tokenizer, "fake", "id", 1);
    CompletionPiece piece;
    while (job.next(piece))
      answer.add(piece);
    EXPECT_FALSE(job.failure());
    return answer.whole();
  }
  nlohmann::json complete(const std::string &body) {
    CompletionService service(language.model, {});
    auto job = service.submit(read(body));
    return wholeOf(*job, language.model.tokenizer());
  }
};

} // namespace

TEST_F(Serve, ReadsAllFields) {
  const CompletionRequest request = read(
      R"({"model": "fake", "prompt": ["a", "bc"], "max_tokens": 3, "temperature": 0.5, "top_p": 0.9,
          "top_k": 4, "min_p": 0.1, "repetition_penalty": 1.5, "seed": 9, "stop": ["x", "y"],
          "echo": true, "logprobs": 5, "stream": true, "n": 2, "user": "u", "suffix": null,
          "presence_penalty": 0, "frequency_penalty": 0.0, "best_of": 1, "logit_bias": {}})");
  EXPECT_EQ(request.prompts, (std::vector<std::vector<int32_t>>{{'a'}, {'b', 'c'}}));
  EXPECT_EQ(request.promptTexts, (std::vector<std::string>{"a", "bc"}));
  EXPECT_EQ(request.sequences(), 4u);
  EXPECT_EQ(request.text.tokens, 3);
  EXPECT_EQ(request.text.seed, 9u);
  EXPECT_EQ(request.text.stop, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(request.text.sampler.topK, 4);
  EXPECT_EQ(request.text.sampler.temperature, 0.5);
  EXPECT_EQ(request.text.sampler.minP, 0.1);
  EXPECT_EQ(request.text.sampler.topP, 0.9);
  EXPECT_EQ(request.text.sampler.repetitionPenalty, 1.5);
  EXPECT_TRUE(request.echo && request.stream);
  EXPECT_EQ(request.logprobs, 5u);
  EXPECT_EQ(read(R"({"prompt": [97]})").promptTexts[0], "a");
  EXPECT_EQ(read(R"({"prompt": [97]})").text.seed, 7u);
}

TEST_F(Serve, FaultsNameTheField) {
  EXPECT_EQ(
      fault(R"({"prompt": "a", "tempreature": 1})").find("400 tempreature|tempreature: is not"),
      0u);
  EXPECT_EQ(fault(R"({"prompt": "a", "seed": -1})").find("400 seed|seed: must be a number"), 0u);
  EXPECT_EQ(fault(R"({"prompt": ["a", [300]]})").find("400 prompt[1]|prompt[1]: must be a text or"),
            0u);
  EXPECT_EQ(fault(R"({"prompt": [true]})").find("400 prompt[0]|"), 0u);
  EXPECT_EQ(fault(R"({"prompt": [97, 1.5]})").find("400 prompt|prompt: must be a text or"), 0u);
  EXPECT_EQ(fault(R"({"prompt": [], "n": 3})").find("400 prompt|prompt: must be a text, a list"),
            0u);
  EXPECT_EQ(fault(R"({"model": "other", "prompt": "a"})"), "404 model|model: there is only 'fake'");
  EXPECT_EQ(fault("[]").find("400 the document|the document: must be an object"), 0u);
  EXPECT_EQ(fault("").find("400 |the body: not JSON"), 0u);
}

TEST_F(Serve, AddsWhatTheModelExpects) {
  const auto answer =
      complete(R"({"prompt": "one two thre", "max_tokens": 7, "temperature": 0, "logprobs": 1})");
  const auto &choice = answer["choices"][0];
  EXPECT_EQ(choice["text"], "e four ");
  EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_EQ(choice["logprobs"]["tokens"].size(), 7u);
  EXPECT_EQ(choice["logprobs"]["text_offset"][0], 0);
  EXPECT_EQ(answer["usage"]["total_tokens"], 19);
}

TEST_F(Serve, LogProbabilitiesOfAPromptAreThoseOfPredicting) {
  std::string prompt;
  while (prompt.size() < 200) // longer than what is read in one turn
    prompt += "one two three nine ten. ";
  const auto answer = complete(fmt::format(
      R"({{"prompt": "{}", "max_tokens": 1, "temperature": 0, "logprobs": 2, "echo": true}})",
      prompt));
  const auto &logprobs = answer["choices"][0]["logprobs"];
  ASSERT_EQ(logprobs["token_logprobs"].size(), prompt.size() + 1);
  std::vector<double> expected{0};
  auto tokens = *language.model.encode(prompt);
  language.model.restart();
  ASSERT_TRUE(language.model.expectEach(std::span(tokens).first(tokens.size() - 1), 0,
                                        [&](size_t i, std::span<const double> logits) {
                                          expected.push_back(logProbability(logits, tokens[i + 1]));
                                        }));
  EXPECT_TRUE(logprobs["token_logprobs"][0].is_null());
  for (size_t i = 1; i < prompt.size(); ++i)
    EXPECT_EQ(logprobs["token_logprobs"][i].get<double>(), expected[i]) << i;
}

TEST_F(Serve, RequestsInTurnsGetWhatTheyWouldGetAlone) {
  const std::vector<std::string> bodies{
      R"({"prompt": "one two", "max_tokens": 30, "temperature": 0, "logprobs": 3, "echo": true})",
      R"({"prompt": ["ten nine", "zzz"], "max_tokens": 20, "seed": 4, "n": 2})",
      R"({"prompt": "five six", "max_tokens": 25, "temperature": 0, "stop": "nine"})",
      R"({"prompt": "eight", "max_tokens": 0, "echo": true})"};
  std::vector<nlohmann::json> alone;
  for (const std::string &body : bodies)
    alone.push_back(complete(body));
  CompletionService service(language.model, {.inWork = 3, .waiting = 8});
  std::vector<std::unique_ptr<CompletionService::Job>> jobs;
  for (const std::string &body : bodies)
    jobs.push_back(service.submit(read(body)));
  for (size_t i = bodies.size(); i-- > 0;)
    EXPECT_EQ(wholeOf(*jobs[i], language.model.tokenizer()), alone[i]) << bodies[i];
}

TEST_F(Serve, RequestsInRowsGetWhatTheyWouldGetAlone) {
  const std::vector<std::string> bodies{
      R"({"prompt": "one two", "max_tokens": 30, "temperature": 0, "logprobs": 3, "echo": true})",
      R"({"prompt": ["ten nine", "zzz"], "max_tokens": 20, "seed": 4, "n": 2})",
      R"({"prompt": "five six", "max_tokens": 25, "temperature": 0, "stop": "nine"})",
      R"({"prompt": "eight", "max_tokens": 0, "echo": true})",
      R"({"prompt": "four five six seven", "max_tokens": 40, "seed": 2})"};
  std::vector<nlohmann::json> alone;
  for (const std::string &body : bodies)
    alone.push_back(complete(body));
  for (int64_t most : {1000, 25}) { // with room for all, and for less than some texts have
    FakeLanguage together(corpus, 10, 3, most);
    CompletionService service(together.model, {.inWork = 8, .waiting = 8});
    std::vector<std::unique_ptr<CompletionService::Job>> jobs;
    for (const std::string &body : bodies)
      jobs.push_back(service.submit(read(body)));
    for (size_t i = bodies.size(); i-- > 0;)
      EXPECT_EQ(wholeOf(*jobs[i], together.model.tokenizer()), alone[i]) << bodies[i];
    service.stop();
    EXPECT_EQ(together.rows->mostTogether, 3u);
    EXPECT_LT(together.rows->steps, 150u) << "each token was a step of its own";
  }
}

TEST_F(Serve, WhoDoesNotTakePiecesHoldsUpNobodyInRows) {
  FakeLanguage together(corpus, 10, 2, 100000);
  CompletionService service(together.model, {.inWork = 2, .waiting = 4, .bytesHeld = 2000});
  const std::string longBody = R"({"prompt": "one", "max_tokens": 400, "seed": 3})";
  auto deaf = service.submit(read(longBody));
  for (int i = 0; i < 3; ++i) {
    auto job = service.submit(read(R"({"prompt": "one two", "max_tokens": 5, "temperature": 0})"));
    ASSERT_TRUE(job);
    EXPECT_EQ(wholeOf(*job, together.model.tokenizer())["choices"][0]["text"], " thre");
  }
  EXPECT_EQ(wholeOf(*deaf, together.model.tokenizer()), complete(longBody))
      << "it stood still in between";
}

TEST_F(Serve, WhoDoesNotTakePiecesHoldsUpNobody) {
  {
    CompletionService service(language.model, {.inWork = 2, .waiting = 2, .bytesHeld = 2000});
    auto deaf = service.submit(read(R"({"prompt": "one", "max_tokens": 4000})"));
    for (int i = 0; i < 3; ++i) {
      auto job =
          service.submit(read(R"({"prompt": "one two", "max_tokens": 5, "temperature": 0})"));
      ASSERT_TRUE(job);
      EXPECT_EQ(wholeOf(*job, language.model.tokenizer())["choices"][0]["text"], " thre");
    }
    CompletionPiece piece;
    EXPECT_TRUE(deaf->next(piece)) << "it is served still";
  }
  EXPECT_LT(language.taken, 2000u) << "the deaf one was not passed over";
}

TEST_F(Serve, RefusesMoreThanMayWait) {
  CompletionService service(language.model, {.inWork = 1, .waiting = 1, .bytesHeld = 500});
  std::vector<std::unique_ptr<CompletionService::Job>> jobs;
  const std::string body = R"({"prompt": "one", "max_tokens": 4000})";
  while (jobs.size() < 10) {
    auto job = service.submit(read(body));
    if (!job)
      break;
    jobs.push_back(std::move(job));
  }
  EXPECT_GE(jobs.size(), 1u);
  EXPECT_LE(jobs.size(), 2u);
  service.stop();
  CompletionPiece piece;
  while (jobs[0]->next(piece))
    ;
  ASSERT_TRUE(jobs[0]->failure());
  EXPECT_EQ(jobs[0]->failure()->message, "the server was stopped");
  EXPECT_FALSE(service.submit(read(body)));
}
