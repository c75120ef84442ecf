//===- TokenizerTest.cpp - tokenizers beside the cases of other programs ----===//
#include "training/tokenizers/Tokenizer.h"
#include "training/tokenizers/TrainBpe.h"
#include "training/tokenizers/Utf8.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace hybrid::rt;
using nlohmann::json;

namespace {

std::vector<int32_t> encode(const Tokenizer &tokenizer, std::string_view text,
                            EncodeOptions options = {}) {
  std::vector<int32_t> ids;
  Result<void> done = tokenizer.encode(text, options, ids);
  EXPECT_TRUE(bool(done)) << (done ? "" : done.error().message);
  return ids;
}

std::string trained(int64_t vocabulary, std::string_view text, const std::string &splitting) {
  TrainBpeOptions options;
  options.vocabulary = vocabulary;
  options.splitting = splitting;
  auto trainer = BpeTrainer::create(options);
  EXPECT_TRUE(bool(trainer));
  EXPECT_TRUE(bool((*trainer)->add(text)));
  Result<std::string> made = (*trainer)->train();
  EXPECT_TRUE(bool(made));
  return *made;
}

json smallDocument() {
  return json::parse(trained(260, "aaaa bbbb aaaa bbbb", "gpt2"), nullptr, false);
}

std::string refusal(const json &document) {
  auto tokenizer = tokenizerFromText(document.dump(), "t.json");
  return tokenizer ? "" : tokenizer.error().message;
}

} // namespace

TEST(Tokenizer, BytesAreTheirNumbers) {
  auto tokenizer = loadTokenizer("bytes");
  ASSERT_TRUE(bool(tokenizer));
  std::string text("a\xFF\0z", 4);
  EXPECT_EQ(encode(**tokenizer, text), (std::vector<int32_t>{97, 255, 0, 122}));
  EXPECT_EQ(*(*tokenizer)->decode(encode(**tokenizer, text), {}), text);
  EXPECT_TRUE((*tokenizer)->isBytes());
}

TEST(Tokenizer, DnaHasTheNumbersOfHyenaDna) {
  auto tokenizer = loadTokenizer("dna");
  ASSERT_TRUE(bool(tokenizer));
  EXPECT_EQ(encode(**tokenizer, "ACGTNacgtR-"),
            (std::vector<int32_t>{7, 8, 9, 10, 11, 7, 8, 9, 10, 11, 6, 1}));
  EXPECT_EQ(*(*tokenizer)->decode(std::vector<int32_t>{7, 8, 1}, {false}), "AC");
}

TEST(Tokenizer, WhatACheckpointKeepsIsTheSameTokenizer) {
  for (const std::string &text :
       {std::string(R"({"hybrid_tokenizer":1,"type":"bytes"})"),
        std::string(R"({"hybrid_tokenizer":1,"type":"dna"})"), smallDocument().dump()}) {
    auto first = tokenizerFromText(text, "first");
    ASSERT_TRUE(bool(first)) << first.error().message;
    auto second = tokenizerFromText((*first)->serialized(), "second");
    ASSERT_TRUE(bool(second));
    EXPECT_EQ((*first)->identity(), (*second)->identity());
    EXPECT_EQ((*first)->vocabulary(), (*second)->vocabulary());
  }
}

TEST(Tokenizer, ALearnedOneGivesEveryTextBackAndIsTheSameEachTime) {
  std::string text = "the cat sat on the mat; the cats' 123 mats\n\n  naïve \xFF ";
  for (const char *splitting : {"gpt2", "llama3"}) {
    std::string made = trained(300, text, splitting);
    EXPECT_EQ(made, trained(300, text, splitting));
    auto tokenizer = tokenizerFromText(made, "made");
    ASSERT_TRUE(bool(tokenizer)) << tokenizer.error().message;
    std::vector<int32_t> ids = encode(**tokenizer, text);
    EXPECT_LT(ids.size(), text.size());
    EXPECT_EQ(*(*tokenizer)->decode(ids, {}), text);
    EXPECT_EQ((*tokenizer)->endOfText(), 0);
    EXPECT_EQ(encode(**tokenizer, "a<|endoftext|>").back(), 0);
    EXPECT_NE(encode(**tokenizer, "a<|endoftext|>", {true, false}).back(), 0);
  }
}

TEST(Tokenizer, NoTextIsASpecialTokenThatItSpells) {
  std::string text;
  for (int i = 0; i < 50; ++i)
    text += "the other ";
  auto trainer = BpeTrainer::create({300, 2, "gpt2", {"the"}});
  ASSERT_TRUE(bool(trainer)) << trainer.error().message;
  ASSERT_TRUE(bool((*trainer)->add(text)));
  auto made = (*trainer)->train();
  ASSERT_TRUE(bool(made)) << made.error().message;
  auto tokenizer = tokenizerFromText(*made, "made");
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.error().message;
  std::vector<int32_t> ids = encode(**tokenizer, text, {true, false});
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 0), 0);
  EXPECT_EQ(*(*tokenizer)->decode(ids, {}), text);
}

TEST(Tokenizer, AStreamNeverEndsWithinACharacter) {
  auto tokenizer = loadTokenizer("bytes");
  std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z", all;
  StreamDecoder stream(**tokenizer);
  for (int32_t id : encode(**tokenizer, text)) {
    Result<std::string> part = stream.next(id);
    ASSERT_TRUE(bool(part));
    EXPECT_TRUE(utf8::isWellFormed(*part));
    all += *part;
  }
  EXPECT_EQ(all + stream.finish(), text);
}

TEST(Tokenizer, LongRunsTakeNoQuadraticTime) {
  auto tokenizer = tokenizerFromText(smallDocument().dump(), "t");
  ASSERT_TRUE(bool(tokenizer));
  for (char c : {'a', ' ', '1', '\n', '!'}) {
    std::string run(200000, c);
    EXPECT_EQ(*(*tokenizer)->decode(encode(**tokenizer, run), {}), run);
  }
}

TEST(Tokenizer, WhatIsNotKnownIsRefusedWithItsPlace) {
  json document = smallDocument();
  document["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "Digits"}}, {{"type", "UnicodeScripts"}}}}};
  EXPECT_EQ(
      refusal(document).substr(0, 96),
      "t.json: pre_tokenizer.pretokenizers[1].type: the pre-tokenizer 'UnicodeScripts' is not "
      "supported");
  document = smallDocument();
  document["normalizer"] = {{"type", "Precompiled"}};
  EXPECT_NE(
      refusal(document).find("normalizer.type: the normalizer 'Precompiled' is not supported"),
      std::string::npos);
  document = smallDocument();
  document["model"]["dropout"] = 0.1;
  EXPECT_NE(refusal(document).find("model.dropout"), std::string::npos);
  document = smallDocument();
  document["truncation"] = {{"max_length", 4}};
  EXPECT_NE(refusal(document).find("truncation: is not supported"), std::string::npos);
  document = smallDocument();
  document["pre_tokenizer"]["new_option"] = true;
  EXPECT_NE(refusal(document).find("pre_tokenizer.new_option: is not supported"),
            std::string::npos);
  document = smallDocument();
  document["pre_tokenizer"] = {{"type", "Split"},
                               {"pattern", {{"Regex", "[a-z&&[^b]]"}}},
                               {"behavior", "Isolated"},
                               {"invert", false}};
  EXPECT_NE(refusal(document).find("pre_tokenizer.pattern.Regex"), std::string::npos);
}

TEST(Tokenizer, BadDocumentsAreRefused) {
  json document = smallDocument();
  document["model"]["vocab"]["huge"] = 4000000000u;
  EXPECT_NE(refusal(document).find("the number of 'huge' must be from 0"), std::string::npos);
  document = smallDocument();
  document["model"]["vocab"]["other"] = 1;
  EXPECT_NE(refusal(document).find("both have the number 1"), std::string::npos);
  document = smallDocument();
  document["model"]["merges"].push_back({"a", "nothing"});
  EXPECT_NE(refusal(document).find("is not in the vocabulary"), std::string::npos);
  auto deep = tokenizerFromText(std::string(100000, '['), "deep");
  ASSERT_FALSE(bool(deep));
  EXPECT_EQ(deep.error().message, "deep: brackets are nested deeper than 64");
  auto cut = tokenizerFromText("{\"model\": {\"type\"", "cut");
  ASSERT_FALSE(bool(cut));
  EXPECT_EQ(loadTokenizer("/nowhere/t.json").error().message,
            "there is no tokenizer '/nowhere/t.json': expected bytes, dna, or a file or folder");
}

TEST(Tokenizer, ReplacementsCannotGrowWithoutBound) {
  json document = smallDocument();
  json steps = json::array();
  for (int i = 0; i < 20; ++i)
    steps.push_back(
        {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(10, 'a')}});
  document["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  auto tokenizer = tokenizerFromText(document.dump(), "t");
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.error().message;
  std::vector<int32_t> ids;
  Result<void> done = (*tokenizer)->encode("aaaa", {}, ids);
  ASSERT_FALSE(bool(done));
  EXPECT_NE(done.error().message.find("replacements are refused"), std::string::npos);
}

TEST(Tokenizer, PiecesCannotGrowWithoutBound) {
  // Each step writes a byte beyond ASCII as a character of two.
  json document = smallDocument();
  json steps = json::array();
  for (int i = 0; i < 30; ++i)
    steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  document["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", steps}};
  auto tokenizer = tokenizerFromText(document.dump(), "t");
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.error().message;
  std::vector<int32_t> ids;
  Result<void> done = (*tokenizer)->encode("\u00e9\u00e9\u00e9\u00e9", {}, ids);
  ASSERT_FALSE(bool(done));
  EXPECT_NE(done.error().message.find("replacements are refused"), std::string::npos);
}
