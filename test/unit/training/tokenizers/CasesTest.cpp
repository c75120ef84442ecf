//===- CasesTest.cpp - encoding and decoding as independent programs do -----===//
//
// Every line of the files in HYBRID_TOKENIZER_CASES_DIR, whose README.md says what the fields mean.
//
//===----------------------------------------------------------------------===//
#include "training/tokenizers/Tokenizer.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace hybrid::rt;
using nlohmann::json;

namespace {

std::string folderOf(const char *variable, const char *otherwise) {
  const char *value = std::getenv(variable);
  return value && *value ? value : otherwise;
}
std::string casesFolder() {
  return folderOf("HYBRID_TOKENIZER_CASES_DIR", HYBRID_TOKENIZER_CASES_DIR);
}
std::string gpt2Folder() { return folderOf("HYBRID_GPT2_DIR", HYBRID_GPT2_DIR); }

std::vector<json> readCases(const std::string &path) {
  std::vector<json> cases;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    cases.push_back(json::parse(line, nullptr, false));
  return cases;
}

std::string bytesOf(const std::string &hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::vector<int32_t> encode(const Tokenizer &tokenizer, const std::string &text,
                            EncodeOptions options) {
  std::vector<int32_t> ids;
  Result<void> done = tokenizer.encode(text, options, ids);
  EXPECT_TRUE(bool(done)) << (done ? "" : done.error().message);
  return ids;
}

std::string decode(const Tokenizer &tokenizer, const std::vector<int32_t> &ids,
                   DecodeOptions options) {
  Result<std::string> text = tokenizer.decode(ids, options);
  EXPECT_TRUE(bool(text)) << (text ? "" : text.error().message);
  return text ? *text : "";
}

std::string stream(const Tokenizer &tokenizer, const std::vector<int32_t> &ids) {
  StreamDecoder decoder(tokenizer, {true, false});
  std::string all;
  for (int32_t id : ids) {
    Result<std::string> text = decoder.next(id);
    EXPECT_TRUE(bool(text));
    all += *text;
  }
  return all + decoder.finish();
}

/// One case of GPT-2's files.
void checkGpt2(const Tokenizer &tokenizer, const json &line) {
  auto ids = line["ids"].get<std::vector<int32_t>>();
  auto kind = line["kind"].get<std::string>();
  if (kind == "decode") {
    std::string bytes = bytesOf(line["bytes_hex"]);
    EXPECT_EQ(decode(tokenizer, ids, {}), bytes);
    EXPECT_EQ(decode(tokenizer, ids, {true, true}), line["text_replaced"].get<std::string>());
    EXPECT_EQ(stream(tokenizer, ids), bytes);
    return;
  }
  std::string text = kind == "bytes" ? bytesOf(line["bytes_hex"]) : line["text"].get<std::string>();
  EXPECT_EQ(encode(tokenizer, text, {true, kind == "special_allowed"}), ids);
  EXPECT_EQ(decode(tokenizer, ids, {}), text);
  EXPECT_EQ(stream(tokenizer, ids), text);
}

void checkPipeline(const Tokenizer &tokenizer, const json &line) {
  auto text = line["text"].get<std::string>();
  auto ids = line["ids"].get<std::vector<int32_t>>(),
       plain = line["ids_plain"].get<std::vector<int32_t>>();
  EXPECT_EQ(encode(tokenizer, text, {true, true}), ids);
  EXPECT_EQ(encode(tokenizer, text, {false, true}), plain);
  EXPECT_EQ(decode(tokenizer, plain, {true, true}), line["decoded"].get<std::string>());
  EXPECT_EQ(decode(tokenizer, ids, {false, true}), line["decoded_skip"].get<std::string>());
  EXPECT_EQ(stream(tokenizer, plain), decode(tokenizer, plain, {true, false}));
}

TEST(TokenizerCases, Gpt2FilesGiveTheTokensOfThreePrograms) {
  std::vector<json> cases = readCases(casesFolder() + "/gpt2.jsonl");
  if (cases.empty() || !std::filesystem::exists(gpt2Folder()))
    GTEST_SKIP() << "no cases in " << casesFolder() << " or no " << gpt2Folder();
  auto tokenizer = loadTokenizer(gpt2Folder());
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->vocabulary(), 50257);
  EXPECT_EQ((*tokenizer)->endOfText(), 50256);
  // What a checkpoint keeps is the same tokenizer.
  auto kept = tokenizerFromText((*tokenizer)->serialized(), "checkpoint");
  ASSERT_TRUE(bool(kept));
  EXPECT_EQ((*kept)->identity(), (*tokenizer)->identity());
  for (const json &line : cases) {
    SCOPED_TRACE("gpt2.jsonl, id " + line["id"].dump());
    checkGpt2(**tokenizer, line);
  }
}

TEST(TokenizerCases, EveryTokenizerJsonGivesWhatItsLibraryGives) {
  size_t files = 0;
  std::error_code error;
  const std::string ending = ".tokenizer.json";
  for (const auto &entry : std::filesystem::directory_iterator(casesFolder(), error)) {
    std::string path = entry.path().string();
    if (!path.ends_with(ending))
      continue;
    ++files;
    auto tokenizer = loadTokenizer(path);
    ASSERT_TRUE(bool(tokenizer)) << tokenizer.error().message;
    std::string cases = path.substr(0, path.size() - ending.size()) + ".jsonl";
    std::vector<json> lines = readCases(cases);
    EXPECT_FALSE(lines.empty()) << cases;
    for (const json &line : lines) {
      SCOPED_TRACE(cases + ", id " + line["id"].dump());
      checkPipeline(**tokenizer, line);
    }
  }
  if (files == 0)
    GTEST_SKIP() << "no cases in " << casesFolder();
}

} // namespace
