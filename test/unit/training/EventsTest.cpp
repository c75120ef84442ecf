#include "training/record/Events.h"
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace hybrid::rt;

TEST(Events, ChecksumHasThePublishedValue) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau); // RFC 3720, B.4
}

TEST(Events, RecordsAreFramedAndHoldTheScalars) {
  std::string folder = testing::TempDir() + "events-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::string path;
  {
    auto file = EventFile::create(folder, 7);
    ASSERT_TRUE(file) << file.error().message;
    path = file->path();
    const std::pair<std::string, double> values[] = {{"train/loss", 1.5}, {"train/accuracy", 0.25}};
    ASSERT_TRUE(file->scalars(300, values));
    auto second = EventFile::create(folder, 8);
    ASSERT_TRUE(second);
    EXPECT_NE(second->path(), path);
  }
  std::ifstream stream(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(stream)), {});
  std::vector<std::string> messages;
  for (size_t at = 0; at < content.size();) {
    uint64_t length = 0;
    ASSERT_LE(at + 12, content.size());
    std::memcpy(&length, content.data() + at, 8);
    ASSERT_LE(at + 12 + length + 4, content.size());
    messages.push_back(content.substr(at + 12, length));
    for (auto [bytes, place] :
         {std::pair{content.substr(at, 8), at + 8}, {messages.back(), at + 12 + length}}) {
      uint32_t stored = 0;
      std::memcpy(&stored, content.data() + place, 4);
      uint32_t unmasked = stored - 0xa282ead8u;
      EXPECT_EQ(unmasked << 15 | unmasked >> 17, crc32c(bytes));
    }
    at += 16 + length;
  }
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_NE(messages[0].find("brain.Event:2"), std::string::npos);
  // After the time: step = 7; session_log { status: START }.
  EXPECT_EQ(messages[1].substr(9), std::string("\x10\x07\x3a\x02\x08\x01", 6));
  // step = 300; summary { value { tag, simple_value = 1.5 } value { ... } }.
  std::string expected = std::string("\x10\xac\x02\x2a\x2c", 5) +
                         std::string("\x0a\x11\x0a\x0atrain/loss\x15\x00\x00\xc0\x3f", 19) +
                         std::string("\x0a\x15\x0a\x0etrain/accuracy\x15\x00\x00\x80\x3e", 23);
  expected[4] = static_cast<char>(expected.size() - 5);
  EXPECT_EQ(messages[2].substr(9), expected);
  std::filesystem::remove_all(folder);
}
