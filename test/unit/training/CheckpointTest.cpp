#include "training/Checkpoint.h"
#include "FakeModel.h"
#include "runtime/files/Safetensors.h"
#include "training/TensorHashes.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace hybrid::rt;
namespace fs = std::filesystem;

namespace {

class CheckpointTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "checkpoint-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    path = folder + "/" + checkpointName(12);
    ASSERT_TRUE(model.initialize(5));
    state.step = 12;
    state.metricsLines = 3;
    state.interval = {0.1, 1.0 / 3, 2};
    state.bestStep = 10;
    state.bestLoss = 1.0 / 7;
    state.fingerprint = 0xfedcba9876543210;
    state.config = {{"lr", 0.001}, {"task", "x"}};
    ASSERT_TRUE(saveCheckpoint(path, model, state));
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string content() {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// Must fail, name the file, and leave the model as it was.
  void expectRefused(const std::string &what) {
    FakeModel other(2, 4, 3);
    ASSERT_TRUE(other.initialize(6));
    auto bytes = other.state()[0].data;
    std::vector<std::byte> before(bytes.begin(), bytes.end());
    auto loaded = loadCheckpoint(path, other);
    ASSERT_FALSE(loaded) << what;
    EXPECT_NE(loaded.error().message.find(path), std::string::npos) << loaded.error().message;
    EXPECT_TRUE(std::equal(before.begin(), before.end(), other.state()[0].data.begin())) << what;
  }

  FakeModel model{2, 4, 3};
  RunState state;
  std::string folder, path;
};

} // namespace

TEST_F(CheckpointTest, ComesBackExactly) {
  FakeModel other(2, 4, 3);
  auto loaded = loadCheckpoint(path, other);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->step, 12);
  EXPECT_EQ(loaded->metricsLines, 3);
  EXPECT_EQ(loaded->interval.weight, 1.0 / 3);
  EXPECT_EQ(loaded->bestLoss, 1.0 / 7);
  EXPECT_EQ(loaded->fingerprint, 0xfedcba9876543210);
  EXPECT_EQ(loaded->config, state.config);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(std::equal(model.state()[i].data.begin(), model.state()[i].data.end(),
                           other.state()[i].data.begin()));
}

TEST_F(CheckpointTest, EveryTruncationIsRefused) {
  std::string whole = content();
  for (size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 13) {
    replace(whole.substr(0, size));
    expectRefused("cut to " + std::to_string(size));
  }
  replace(whole + "x");
  expectRefused("a byte more");
}

TEST_F(CheckpointTest, EveryFlippedByteIsRefusedOrHarmless) {
  std::string whole = content();
  FakeModel other(2, 4, 3);
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit : {0, 5, 7}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      replace(damaged);
      auto loaded = loadCheckpoint(path, other);
      if (!loaded) {
        EXPECT_NE(loaded.error().message.find(path), std::string::npos);
        continue;
      }
      // Only padding and JSON white space may change without harm.
      EXPECT_EQ(loaded->step, 12) << "byte " << at;
      EXPECT_TRUE(std::equal(model.state()[0].data.begin(), model.state()[0].data.end(),
                             other.state()[0].data.begin()))
          << "byte " << at;
    }
}

TEST_F(CheckpointTest, AFlippedBitIsRefusedWithItsTensorAndBytes) {
  const std::string whole = content();
  auto sound = SafetensorsFile::open(path);
  ASSERT_TRUE(sound);
  ASSERT_TRUE(checkHashes(*sound, path));
  size_t data = 0; // where the last tensor ends, all data lies in front of it
  for (const auto &[name, tensor] : sound->tensors())
    data += tensor.data.size();
  for (size_t at = whole.size() - data; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    replace(damaged);
    auto file = SafetensorsFile::open(path);
    ASSERT_TRUE(file);
    auto checked = checkHashes(*file, path);
    ASSERT_FALSE(checked) << at;
    size_t first = 0, last = 0;
    const std::string &message = checked.error().message, mark = "', bytes ";
    const size_t bytes = message.find(mark);
    ASSERT_NE(bytes, std::string::npos) << message;
    ASSERT_EQ(std::sscanf(message.c_str() + bytes + mark.size(), "%zu to %zu", &first, &last), 2);
    EXPECT_LE(first, at) << message;
    EXPECT_GE(last, at) << message;
    EXPECT_EQ(loadCheckpoint(path, model).error().message, message);
  }
}

TEST_F(CheckpointTest, OtherModelsAndPlainParameterFilesAreRefused) {
  FakeModel wider(2, 4, 4);
  EXPECT_NE(loadCheckpoint(path, wider).error().message.find("tensor 'table' is [3, 3]"),
            std::string::npos);
  std::vector<StateTensor> tensors = model.state();
  SafetensorsTensor table{"table", DType::F64, {3, 3}, tensors[0].data};
  ASSERT_TRUE(writeSafetensors(path, {&table, 1}, {}));
  EXPECT_NE(loadCheckpoint(path, model).error().message.find("not a checkpoint of a run"),
            std::string::npos);
}

TEST_F(CheckpointTest, ListsNewestFirstAndSweepsLeftovers) {
  for (const char *name : {"step-00000100.safetensors", "step-00000020.safetensors",
                           "step-00000007.safetensors.hybrid-tmp-a1b2c3", "best.safetensors",
                           "step-x.safetensors", "step-00000001.txt"})
    std::ofstream(folder + "/" + name) << "x";
  std::vector<CheckpointFile> files = listCheckpoints(folder);
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].step, 100);
  EXPECT_EQ(files[2].step, 12);
  EXPECT_FALSE(fs::exists(folder + "/step-00000007.safetensors.hybrid-tmp-a1b2c3"));
  EXPECT_TRUE(fs::exists(folder + "/best.safetensors"));
}

TEST(DescribeDifference, NamesEachSettingAndBothValues) {
  nlohmann::json now = {{"lr", 0.1}, {"seed", 1}}, then = {{"lr", 0.2}, {"seed", 1}, {"old", true}};
  EXPECT_EQ(describeDifference(now, then),
            "lr is 0.1, the run had 0.2; old is absent, the run had true");
  EXPECT_EQ(describeDifference(now, now), "");
}
