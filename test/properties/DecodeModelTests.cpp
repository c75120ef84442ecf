//===- DecodeModelTests.cpp - models token by token ---------------------------===//
//
// The law of DecodeTests.cpp for whole models: all that are in the tree with HYBRID_ALL_MODELS set,
// else some that have between them every kind of state. A model is decoded, or refused because it
// reads no tokens.
//
//===----------------------------------------------------------------------===//
#include "test/properties/DecodeLaw.h"
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace hybrid;

namespace {

constexpr int64_t length = 72; // more than prefill takes at once

std::vector<std::string> modelsToTest() {
  if (!std::getenv("HYBRID_ALL_MODELS"))
    return {"lm/byte-striped.hyb",
            "mad/mamba.hyb",
            "mad/sliding-attention-swiglu.hyb",
            "mad/striped-gated-linear-attention-moe.hyb",
            "mad/rwkv.hyb",
            "mad/rwkv7.hyb",
            "hyena/gpt.hyb"};
  std::vector<std::string> models;
  for (const auto &entry : fs::recursive_directory_iterator(HYBRID_MODELS_DIR)) {
    const std::string name = fs::relative(entry.path(), HYBRID_MODELS_DIR).string();
    if (entry.path().extension() == ".hyb" && !name.starts_with("std/"))
      models.push_back(name);
  }
  std::sort(models.begin(), models.end());
  return models;
}

std::string textOf(const fs::path &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Some parameters start as zeros, which would hide all that they are multiplied with.
void disturb(rt::Session &session) {
  std::mt19937_64 engine(9);
  std::uniform_real_distribution<double> noise(-0.1, 0.1);
  for (size_t i = 0; i < session.executable().parameters().size(); ++i) {
    auto bytes = session.parameter(i);
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (double &value : values)
      value += noise(engine);
    ASSERT_TRUE(session.setParameter(i, std::as_bytes(std::span(values))));
  }
}

class Models : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("decode-" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  fs::path folder;
};

/// Those that tell one thing of a whole sequence: there is nothing to tell of a part of it.
const std::set<std::string> classifiers{"dna/species.hyb", "vision/classify.hyb"};
/// Those that number positions once for all sequences, which so go side by side.
const std::set<std::string> counting{"scaling/retnet.hyb"};

} // namespace

TEST_P(Models, DecodeToWhatTheForwardProgramGives) {
  const fs::path source = fs::path(HYBRID_MODELS_DIR) / GetParam();
  const std::string text = textOf(source), executable = (folder / "model.hyx").string(),
                    errors = (folder / "errors").string();
  if (text.find("\nmodel ") == std::string::npos && !text.starts_with("model "))
    GTEST_SKIP() << "it is a library";
  std::string command = std::string(HYBRIDC) + " " + source.string() + " -o " + executable +
                        " --decode --batch 2 --precision f64 --length " + std::to_string(length);
  for (const char *setting : {"vocab: int", "l_max: int"})
    if (text.find(setting) != std::string::npos)
      command += std::string(" --set ") + (setting[0] == 'v' ? "vocab=32" : "l_max=128");
  if (text.find("size: string = \"125M\"") != std::string::npos)
    command += " --set size=8M";
  const int status = std::system((command + " 2> " + errors).c_str());
  if (classifiers.count(GetParam())) {
    EXPECT_NE(status, 0);
    EXPECT_NE(textOf(errors).find("a sequence cannot be taken in chunks here"), std::string::npos)
        << textOf(errors);
    return;
  }
  if (text.find("input tokens") == std::string::npos) {
    EXPECT_NE(status, 0);
    EXPECT_NE(textOf(errors).find("only a model whose one input is tokens"), std::string::npos)
        << textOf(errors);
    return;
  }
  ASSERT_EQ(status, 0) << command << '\n' << textOf(errors);
  auto loaded = rt::Executable::load(executable);
  ASSERT_TRUE(loaded) << loaded.error().message;
  auto session = rt::Session::create(*loaded, {1, false});
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_TRUE((*session)->initialize(3));
  disturb(**session);
  test::expectDecodingIsForward(**session, 8, counting.count(GetParam()) > 0);
}

INSTANTIATE_TEST_SUITE_P(Decoding, Models, testing::ValuesIn(modelsToTest()), [](const auto &info) {
  std::string name = info.param;
  for (char &c : name)
    c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});
