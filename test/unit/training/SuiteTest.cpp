//===- SuiteTest.cpp - evaluations of language models ----------------------------===//
#include "FakeLanguage.h"
#include "runtime/files/AtomicFile.h"
#include "training/evaluation/Question.h"
#include "training/evaluation/SuiteFolder.h"
#include "training/evaluation/TextSuite.h"
#include "training/evaluation/WordSearch.h"
#include <filesystem>
#include <fmt/format.h>

using namespace hybrid::rt;
namespace fs = std::filesystem;

namespace {

const std::string corpus = "the cat saw the dog. the dog saw a mouse. the mouse saw the cat. "
                           "question: who? answer: the dog\n";

/// A folder of its own that is removed.
struct Folder {
  Folder() : path(fs::temp_directory_path() / fmt::format("suite-test-{}", getpid())) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string write(const std::string &name, const std::string &text) const {
    const std::string file = (path / name).string();
    EXPECT_TRUE(writeFileAtomically(file, text));
    return file;
  }
  fs::path path;
};

class Suites : public testing::Test {
protected:
  Folder folder;
  FakeLanguage language{corpus};
  TextScorer scorer{language.model};

  Result<TextSuite> read(const std::string &tasks) {
    return readTextSuite(folder.write("suite.json", fmt::format(R"({{"tasks": [{}]}})", tasks)), "",
                         scorer);
  }
  std::string fault(const std::string &tasks) {
    auto suite = read(tasks);
    return suite ? "" : suite.error().message;
  }
  /// All shares of the only task.
  std::vector<std::vector<Share>> score(const std::string &task) {
    std::vector<std::vector<Share>> shares;
    auto suite = read(task);
    EXPECT_TRUE(suite) << suite.error().message;
    for (size_t i = 0; suite && i < suite->tasks[0].task->examples(); ++i) {
      auto found = suite->tasks[0].task->score(scorer, i);
      EXPECT_TRUE(found) << found.error().message;
      if (found)
        shares.push_back(*found);
    }
    return shares;
  }
};

double figure(const std::vector<std::vector<Share>> &shares, const std::string &name) {
  for (const Figure &each : figuresOf(shares))
    if (each.name == name)
      return each.value;
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

} // namespace

TEST(Figures, AMeanHasTheErrorOfAMean) {
  const auto figures = figuresOf({{{"a", 1}}, {{"a", 0}, {"b", 3, 2}}, {{"a", 0}}, {{"a", 1}}});
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].value, 0.5);
  EXPECT_NEAR(*figures[0].standardError, std::sqrt(1.0 / 3) / 2, 1e-15); // sd / sqrt(4)
  EXPECT_EQ(figures[1].value, 1.5);
  EXPECT_FALSE(figures[1].standardError) << "one example tells nothing about others";
}

TEST(Figures, ARatioIsNoMeanOfRatios) {
  const auto figures = figuresOf({{{"r", 1, 1}}, {{"r", 1, 3}}});
  EXPECT_EQ(figures[0].value, 0.5);
  // Rests 1 - 0.5 and 1 - 1.5: sqrt(2 (0.25 + 0.25)) / 4.
  EXPECT_NEAR(*figures[0].standardError, 0.25, 1e-15);
}

TEST(Figures, AnExponentialStandsBehindItsFigure) {
  auto figures = figuresOf({{{"loss", 1}, {"x", 0}}, {{"loss", 3}, {"x", 0}}});
  addExponential(figures, "loss", "perplexity");
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_EQ(figures[1].name, "perplexity");
  EXPECT_DOUBLE_EQ(figures[1].value, std::exp(2));
  EXPECT_DOUBLE_EQ(*figures[1].standardError, std::exp(2));
}

TEST(TextTemplate, FillsFieldsAndKeepsBraces) {
  const Record record{{{"q", "who"}, {"n", 3}, {"in", {{"deep", true}}}, {"l", {1}}}, "x.jsonl:7"};
  auto filled = TextTemplate::parse("{{{q}}} {n} {in.deep}")->fill(record);
  EXPECT_EQ(*filled, "{who} 3 true");
  EXPECT_EQ(TextTemplate::parse("{l}")->fill(record).error().message,
            "x.jsonl:7: field 'l' must be a string, a whole number, true or false");
  EXPECT_EQ(TextTemplate::parse("{q.x}")->fill(record).error().message,
            "x.jsonl:7: there is no field 'q.x'");
  for (const char *bad : {"{", "{}", "a}", "{a{b}"})
    EXPECT_FALSE(TextTemplate::parse(bad)) << bad;
}

TEST_F(Suites, TextsBehindAContextAreScoredAsEachAlone) {
  const std::vector<std::string> texts{"cat", "dog", "d", "mouse."};
  auto all = scorer.follow("the mouse saw the ", texts);
  ASSERT_TRUE(all);
  const size_t taken = language.taken;
  double whole = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto alone = scorer.follow("the mouse saw the", std::vector{" " + texts[i]});
    ASSERT_TRUE(alone);
    EXPECT_EQ(alone->front().logProbability, (*all)[i].logProbability);
    EXPECT_EQ(alone->front().tokens, texts[i].size() + 1) << "the space is the text's";
    EXPECT_EQ(alone->front().isGreedy, texts[i] == "cat");
    whole += alone->front().logProbability;
  }
  EXPECT_LT(whole, 0);
  EXPECT_LT(taken, (language.taken - taken) / 2) << "the context was read for each text";
}

TEST_F(Suites, PredictingAddsUpTokenByToken) {
  auto tokens = *scorer.encode("the dog saw");
  const auto both = scorer.predict(tokens, 1);
  double sum = 0;
  for (size_t i = 1; i < tokens.size(); ++i)
    sum += scorer.predict(std::span(tokens).first(i + 1), i)->logProbability;
  EXPECT_NEAR(both->logProbability, sum, 1e-12);
  EXPECT_EQ(both->tokens, tokens.size() - 1);
}

TEST_F(Suites, NothingStandsBeforeBytes) {
  auto found = scorer.follow("", std::vector<std::string>{"a"});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("the context is empty"), std::string::npos);
}

TEST_F(Suites, WindowsPredictEachTokenOnce) {
  std::string text;
  for (int i = 0; i < 10; ++i)
    text += "the dog saw a mouse. ";
  folder.write("t.txt", text);
  for (int length : {1, 7, 64, 209, 210, 400})
    for (int stride : {1, length / 2, length}) {
      if (stride < 1 || (stride == 1 && length > 64))
        continue;
      const auto shares = score(fmt::format(
          R"({{"name": "p", "kind": "perplexity", "data": "t.txt", "length": {}, "stride": {}}})",
          length, stride));
      double tokens = 0, bytes = 0;
      for (const auto &example : shares) {
        bytes += example[0].whole;
        tokens += example[1].whole;
      }
      EXPECT_EQ(tokens, 209) << length << ' ' << stride;
      EXPECT_EQ(bytes, 209);
    }
  const auto whole = score(R"({"name": "p", "kind": "perplexity", "data": "t.txt"})");
  ASSERT_EQ(whole.size(), 1u);
  const auto one = score(R"({"name": "p", "kind": "perplexity", "data": "t.txt", "length": 400})");
  EXPECT_EQ(figure(whole, "bits_per_byte"), figure(one, "bits_per_byte"));
  EXPECT_NEAR(figure(one, "loss_per_token"), figure(one, "bits_per_byte") * std::log(2), 1e-12);
}

TEST_F(Suites, ALongerContextOfAWindowHelps) {
  folder.write("t.txt", corpus);
  auto loss = [&](int stride) {
    return figure(score(fmt::format(R"({{"name": "p", "kind": "perplexity", "data": "t.txt",
                                         "length": 12, "stride": {}}})",
                                    stride)),
                  "loss_per_token");
  };
  EXPECT_LT(loss(1), loss(12));
}

TEST_F(Suites, LastWordsCountWhole) {
  folder.write("w.jsonl", "{\"text\": \"the mouse saw the cat\"}\n\n{\"text\": \"the mouse saw the "
                          "dog \"}\n");
  const auto shares = score(R"({"name": "w", "kind": "last_word", "data": "w.jsonl"})");
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0][0].part, 1);
  EXPECT_EQ(shares[1][0].part, 0);
  EXPECT_GT(shares[1][1].part, shares[0][1].part);
}

TEST(WordSearch, PassesOverStopWordsAndBeginningsOfWords) {
  // Behind "saw" come "the" (3 times), "then" (2) and "them" (2), but the word "the" only 3 times
  // of 7.
  FakeLanguage language("he saw the, he saw the, he saw the, he saw then, he saw then, he saw "
                        "them, he saw them, he saw zebra, ",
                        6);
  TextScorer scorer(language.model);
  auto word = [&](std::set<std::string> stopWords, size_t beam) {
    auto search = WordSearch::create(scorer.tokenizer(), std::move(stopWords), beam);
    return *search->next(scorer, "and he saw");
  };
  EXPECT_EQ(word({}, 4), "the");
  EXPECT_EQ(word({"the", "them"}, 4), "then");
  EXPECT_EQ(word({"the", "them", "then"}, 4), "zebra");
  EXPECT_EQ(word({"the"}, 1), word({"the"}, 1));
}

TEST_F(Suites, ChoicesByLikelihoodAndByLength) {
  folder.write("c.jsonl", "{\"q\": \"the mouse saw the\", \"o\": [\"cat\", \"xyzzy\"], \"a\": 0}\n"
                          "{\"q\": \"the mouse saw the\", \"o\": [\"cat\", \"dog\"], \"a\": "
                          "\"dog\"}\n");
  const auto shares = score(R"({"name": "c", "kind": "multiple_choice", "data": "c.jsonl",
                                "context": "{q}", "choices": "o", "answer": "a"})");
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0][0].part, 1);
  EXPECT_EQ(shares[1][0].part, 0);
  // A long choice of likely bytes against a short one that is likelier as a whole.
  folder.write("l.jsonl", "{\"q\": \"the dog saw\", \"o\": [\"x\", \"a mouse. the mouse saw the "
                          "zzz\"], \"a\": true}\n");
  const auto long_ = score(R"({"name": "c", "kind": "multiple_choice", "data": "l.jsonl",
                               "context": "{q}", "choices": "o", "answer": "a"})");
  EXPECT_EQ(long_[0][0].part, 0);
  EXPECT_EQ(long_[0][1].part, 1);
}

TEST_F(Suites, ShotsAreOtherExamplesAndAlwaysTheSame) {
  std::string lines;
  for (int i = 0; i < 5; ++i)
    lines += fmt::format("{{\"q\": \"q{0}\", \"a\": \"a{0}\"}}\n", i);
  folder.write("q.jsonl", lines);
  std::string fault;
  const auto node = nlohmann::json{{"data", "q.jsonl"},
                                   {"context", "Q: {q} A:"},
                                   {"shots", 4u},
                                   {"separator", ";"},
                                   {"seed", 3u}};
  SuiteData data(folder.path.string());
  auto question = Question::open(JsonNode(node, "", fault), data);
  ASSERT_TRUE(question && fault.empty()) << fault;
  auto text = [&](size_t example) {
    return *question->text(example, [](const Record &shot) { return shot.text("a"); });
  };
  std::set<std::string> orders;
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(text(i), text(i));
    EXPECT_TRUE(text(i).ends_with(fmt::format(";Q: q{} A:", i)));
    EXPECT_EQ(text(i).find(fmt::format("a{}", i)), std::string::npos) << "shows its own answer";
    for (size_t other = 0; other < 5; ++other)
      if (other != i)
        EXPECT_NE(text(i).find(fmt::format("Q: q{0} A: a{0};", other)), std::string::npos);
    orders.insert(text(i));
  }
  EXPECT_EQ(orders.size(), 5u);
}

TEST_F(Suites, GeneratedAnswersAreComparedAsPlainText) {
  folder.write("g.jsonl", "{\"q\": \"question: who?\", \"a\": [\"nobody\", \"The  Dog!\"]}\n"
                          "{\"q\": \"question: who?\", \"a\": \"cat\"}\n");
  auto task = [](const char *match) {
    return fmt::format(R"({{"name": "g", "kind": "generation", "data": "g.jsonl", "context":
                            "{{q}} answer:", "answer": "a", "match": "{}"}})",
                       match);
  };
  for (const char *match : {"contains", "begins", "equals"}) {
    const auto shares = score(task(match));
    EXPECT_EQ(shares[0][0].part, 1) << match;
    EXPECT_EQ(shares[1][0].part, 0) << match;
  }
}

TEST_F(Suites, ANeedleIsFoundByWhoCopies) {
  // The fake knows the needle's sentence only from its corpus, so the number must be in there.
  std::string hay;
  for (int i = 0; i < 60; ++i)
    hay += "the cat saw the dog. ";
  folder.write("h.txt", hay);
  const std::string task =
      R"({"name": "n", "kind": "needle", "data": "h.txt", "lengths": [100, 300],
                              "depths": [0, 1], "count": 3})";
  const auto shares = score(task);
  EXPECT_EQ(shares.size(), 12u);
  std::set<std::string> names;
  for (const Figure &each : figuresOf(shares))
    names.insert(each.name);
  EXPECT_TRUE(names.contains("accuracy_length_300_depth_1"));
  EXPECT_EQ(fault(R"({"name": "n", "kind": "needle", "data": "h.txt", "lengths": [0],
                      "depths": [0]})"),
            (folder.path / "suite.json").string() +
                ": tasks[0].lengths[0]: must be a number of tokens");
  auto longer = read(R"({"name": "n", "kind": "needle", "data": "h.txt", "lengths": [99999],
                         "depths": [0]})");
  ASSERT_TRUE(longer);
  auto found = longer->tasks[0].task->score(scorer, 0);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("tokens of text in a row"), std::string::npos);
}

TEST_F(Suites, FaultsNameFileAndKey) {
  folder.write("w.jsonl", "{\"text\": \"a b\"}\n{\"tex\": 1}\n");
  folder.write("bad.jsonl", "{\"text\": \"a b\"}\n\n{\"text\": \n");
  const std::string file = (folder.path / "suite.json").string() + ": ";
  const std::string base = R"("name": "w", "kind": "last_word", "data": "w.jsonl")";
  EXPECT_EQ(fault("{" + base + R"(, "beem": 3})"),
            file +
                "tasks[0].beem: is not supported; supported here: name, kind, data, limit, text, "
                "stop_words, beam");
  EXPECT_EQ(fault(R"({"name": "w", "kind": "lastword"})"),
            file + "tasks[0].kind: 'lastword' is not known; known: perplexity, last_word, "
                   "multiple_choice, generation, needle");
  EXPECT_EQ(fault("{" + base + "}, {" + base + "}"),
            file + "tasks[1].name: 'w' is the name of another task");
  EXPECT_EQ(fault(""), file + "tasks: must not be empty");
  EXPECT_EQ(fault("{" + base + R"(, "text": "{text"})"),
            file + "tasks[0].text: '{' at byte 0 begins no field: write {name}, or {{ for a brace");
  EXPECT_EQ(fault(R"({"name": "p", "kind": "perplexity", "data": "w.jsonl", "length": 4,
                      "stride": 5})"),
            file + "tasks[0].stride: must be a number from 1 to the length, 4");
  EXPECT_EQ(fault(R"({"name": "m", "kind": "multiple_choice", "data": "w.jsonl", "context": "x",
                      "answer": "a", "choices": ["one"]})")
                .find(file + "tasks[0].choices: must be a list of 2"),
            0u);
  const std::string bad = fault(R"({"name": "w", "kind": "last_word", "data": "bad.jsonl"})");
  EXPECT_NE(bad.find("bad.jsonl:3: not JSON"), std::string::npos) << bad;
  auto suite = read("{" + base + "}");
  ASSERT_TRUE(suite);
  auto found = suite->tasks[0].task->score(scorer, 1);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("w.jsonl:2: there is no field 'text'"), std::string::npos);
}

TEST(SuiteFolder, GoesOnBehindTheLastWholeLine) {
  Folder folder;
  const std::string path = (folder.path / "out").string();
  const nlohmann::json identity = {{"suite", "1"}, {"checkpoint", "2"}};
  const std::vector<Share> shares{{"loss", 1.0 / 3, 7}};
  {
    auto opened = SuiteFolder::open(path, identity);
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE(opened->keep("t", 0, shares));
    ASSERT_TRUE(opened->keep("t", 1, shares));
    EXPECT_FALSE(SuiteFolder::open(path, identity)) << "two writers";
  }
  fs::resize_file(path + "/examples.jsonl", fs::file_size(path + "/examples.jsonl") - 3);
  {
    auto opened = SuiteFolder::open(path, identity);
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE(opened->find("t", 0));
    EXPECT_EQ(opened->find("t", 0)->front().part, 1.0 / 3) << "to the last bit";
    EXPECT_FALSE(opened->find("t", 1));
    ASSERT_TRUE(opened->keep("t", 1, shares));
    ASSERT_TRUE(opened->keep("t", 2, {{"loss", INFINITY, 7}}));
    ASSERT_TRUE(opened->finish({{"done", true}}));
  }
  {
    auto opened = SuiteFolder::open(path, identity);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_TRUE(opened->find("t", 1));
    EXPECT_EQ(opened->find("t", 2)->front().part, INFINITY);
  }
  auto other = SuiteFolder::open(path, {{"suite", "1"}, {"checkpoint", "3"}});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("whose 'checkpoint' is another one"), std::string::npos);
}
