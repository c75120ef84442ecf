#include "training/data/TextBytes.h"
#include "training/Rng.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace hybrid::rt;

namespace {

class TextBytesTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "text-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string file(size_t size) {
    std::string path = folder + "/" + std::to_string(size) + ".txt", content(size, ' ');
    Rng rng(1, 1, size);
    for (char &c : content)
      c = static_cast<char>(rng.below(256));
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string folder;
};

} // namespace

TEST_F(TextBytesTest, SplitsAreDisjointCoverTheFileAndWindowsStayInside) {
  for (size_t size : {130, 1000, 9999, 200000, 3000001})
    for (int64_t length : {16, 64}) {
      auto text = TextBytes::open(file(size), length, 5);
      ASSERT_TRUE(text) << text.error().message;
      std::vector<int> owner(size, 0);
      for (const TextBytes::Run &run : (*text)->trainRuns())
        for (uint64_t i = run.begin; i < run.end; ++i)
          owner[i] += 1;
      for (const TextBytes::Run &run : (*text)->validationRuns())
        for (uint64_t i = run.begin; i < run.end; ++i)
          owner[i] += 2;
      size_t validation = 0;
      for (int value : owner) {
        ASSERT_TRUE(value == 1 || value == 2);
        validation += value == 2;
      }
      if (size >= 100000) {
        EXPECT_NEAR(static_cast<double>(validation) / static_cast<double>(size), 0.1, 0.04);
      }
      for (uint64_t n = 0; n < 500; ++n) {
        uint64_t at = (*text)->trainOffset(9, n);
        ASSERT_LE(at + static_cast<uint64_t>(length) + 1, size);
        for (int64_t t = 0; t <= length; ++t)
          ASSERT_EQ(owner[at + static_cast<uint64_t>(t)], 1);
      }
      std::vector<int> targeted(size, 0);
      for (uint64_t i = 0; i < (*text)->validationWindows(); ++i) {
        uint64_t at = (*text)->validationOffset(i);
        ASSERT_LE(at + static_cast<uint64_t>(length) + 1, size);
        for (int64_t t = 0; t <= length; ++t)
          ASSERT_EQ(owner[at + static_cast<uint64_t>(t)], 2);
        for (int64_t t = 1; t <= length; ++t)
          ASSERT_EQ(++targeted[at + static_cast<uint64_t>(t)], 1); // each byte scored once
      }
    }
}

TEST_F(TextBytesTest, WindowsHoldTheBytesAndTheNextOnes) {
  std::string path = file(5000);
  auto text = TextBytes::open(path, 32, 5);
  ASSERT_TRUE(text);
  std::ifstream stream(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(stream)), {});
  std::vector<int32_t> inputs(32), targets(32);
  uint64_t at = (*text)->trainOffset(1, 17);
  (*text)->copyWindow(at, inputs, targets);
  for (size_t t = 0; t < 32; ++t) {
    EXPECT_EQ(inputs[t], static_cast<unsigned char>(content[at + t]));
    EXPECT_EQ(targets[t], static_cast<unsigned char>(content[at + t + 1]));
  }
}

TEST_F(TextBytesTest, IsDeterministic) {
  std::string path = file(50000);
  auto a = TextBytes::open(path, 64, 5), b = TextBytes::open(path, 64, 5);
  ASSERT_TRUE(a && b);
  EXPECT_EQ((*a)->contentHash(), (*b)->contentHash());
  bool differs = false;
  for (uint64_t n = 0; n < 100; ++n) {
    EXPECT_EQ((*a)->trainOffset(3, n), (*b)->trainOffset(3, n));
    differs |= (*a)->trainOffset(3, n) != (*a)->trainOffset(4, n);
  }
  EXPECT_TRUE(differs);
}

TEST_F(TextBytesTest, RefusesWhatItCannotUse) {
  auto message = [](const std::string &path, int64_t length) {
    auto text = TextBytes::open(path, length, 5);
    return text ? std::string("accepted") : text.error().message;
  };
  EXPECT_NE(message(folder + "/absent", 8).find("No such file"), std::string::npos);
  EXPECT_NE(message(folder, 8).find("not a regular file"), std::string::npos);
  EXPECT_NE(message(file(0), 8).find("is empty"), std::string::npos);
  EXPECT_NE(message(file(100), 64).find("smaller --length"), std::string::npos);
  EXPECT_NE(message(file(100), 0).find("at least 1"), std::string::npos);
  EXPECT_EQ(message(file(130), 64), "accepted"); // exactly one window for each split
}
