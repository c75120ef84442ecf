#include "training/data/RTexts.h"
#include <gtest/gtest.h>

using namespace hybrid::rt;

namespace {

std::string word(uint32_t value) {
  std::string bytes;
  for (int shift : {24, 16, 8, 0})
    bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string string(const std::string &text) {
  return word(0x00040009) + word(static_cast<uint32_t>(text.size())) + text;
}

const std::string header = "X\n" + word(2) + word(0x40300) + word(0x20300);

/// A vector of three strings, one of them not available, with an attribute that has a name.
std::string vectorOfStrings() {
  const std::string names =
      word(0x402) + word(1) + string("names") + word(16) + word(1) + string("a") + word(254);
  return header + word(0x200 | 16) + word(3) + string("It is a truth") + word(0x00040009) +
         word(0xffffffff) + string("universally") + names;
}

Result<std::string> read(const std::string &bytes) {
  return textOfRObject(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

} // namespace

TEST(RTexts, StringsBecomeLines) {
  auto text = read(vectorOfStrings());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "It is a truth\n\nuniversally\n");
}

TEST(RTexts, FormatThreeNamesItsEncoding) {
  const std::string three = "X\n" + word(3) + word(0x40300) + word(0x30500) + word(5) + "UTF-8";
  auto text = read(three + word(16) + word(1) + string("x"));
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "x\n");
}

TEST(RTexts, EveryEndIsTold) {
  const std::string whole = vectorOfStrings();
  for (size_t size = 0; size < whole.size(); ++size) {
    auto text = read(whole.substr(0, size));
    ASSERT_FALSE(text) << size;
    EXPECT_TRUE(text.error().message.find("expected") != std::string::npos ||
                text.error().message.find("byte ") == 0)
        << size << ": " << text.error().message;
  }
}

TEST(RTexts, AnyOtherByteIsReadOrRefused) {
  const std::string whole = vectorOfStrings();
  for (size_t at = 0; at < whole.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      if (auto text = read(changed))
        EXPECT_LE(text->size(), whole.size());
    }
}

TEST(RTexts, WhatIsNoTextIsRefused) {
  auto other = read(header + word(13) + word(1) + word(7));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "it is no vector of strings");
  auto unknown = read(header + word(4));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "byte 18 of the unpacked object: objects of type 4 are not read");
  auto many = read(header + word(16) + word(0x7fffffff));
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message,
            "byte 22 of the unpacked object: there are not 2147483647 elements");
}

TEST(RTexts, ListsInListsEnd) {
  std::string deep = header;
  for (int i = 0; i < 1000; ++i)
    deep += word(19) + word(1);
  auto text = read(deep);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("too deep"), std::string::npos);
}
