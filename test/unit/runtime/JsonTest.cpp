//===- JsonTest.cpp - documents that are not trusted ---------------------------===//
#include "runtime/files/Json.h"
#include "runtime/files/Safetensors.h"
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace hybrid::rt;
using nlohmann::json;

namespace {

std::string faultOf(std::string_view text, const JsonRules &rules = {}) {
  auto value = parseJson(text, "file", rules);
  return value ? "" : value.error().message;
}

std::string nested(size_t depth, const std::string &inner = "") {
  return std::string(depth, '[') + inner + std::string(depth, ']');
}

/// Opens a safetensors file of this header and no data.
Result<SafetensorsFile> openHeader(const std::string &header) {
  std::string path = testing::TempDir() + "header-" + std::to_string(getpid()) + ".safetensors";
  uint64_t bytes = header.size();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<char *>(&bytes), 8) << header;
  auto file = SafetensorsFile::open(path);
  unlink(path.c_str());
  return file;
}

} // namespace

TEST(Json, ReadsWhatTheLibraryReads) {
  for (const char *text :
       {"null", "[]", "{}", "-1", "18446744073709551615", "1e300", "\"a\\u00e9\"",
        R"({"a": [1, {"b": [[], {}, null]}, "x"], "c": {"d": true}, "e": -2.5})"}) {
    auto value = parseJson(text, "file");
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(*value, json::parse(text, nullptr, false)) << text;
  }
}

TEST(Json, SaysWhereItStops) {
  EXPECT_EQ(faultOf("[1, x]"), "file: not JSON: byte 5 cannot stand there");
  EXPECT_NE(faultOf(""), "");
  EXPECT_NE(faultOf("{} {}"), "");
  EXPECT_NE(faultOf("\"\xff\""), "");
  EXPECT_NE(faultOf("1e999"), "");
}

TEST(Json, RefusesDeepNesting) {
  EXPECT_EQ(faultOf(nested(64)), "");
  EXPECT_EQ(faultOf(nested(65)), "file: brackets are nested deeper than 64");
  EXPECT_EQ(faultOf(std::string(10'000'000, '[')), "file: brackets are nested deeper than 64");
  EXPECT_EQ(faultOf(R"({"a":{"b":1}})", {.depth = 1}), "file: brackets are nested deeper than 1");
}

TEST(Json, RefusesRepeatedKeysWhereAsked) {
  EXPECT_EQ(faultOf(R"({"a": 1, "a": 2})"), "");
  EXPECT_EQ(faultOf(R"({"a": 1, "a": 2})", {.uniqueKeys = true}), "file: 'a' appears twice");
  EXPECT_EQ(faultOf(R"([{"a": 1}, {"a": 2}])", {.uniqueKeys = true}), "");
}

TEST(Json, FieldsOfAnotherTypeAreAbsent) {
  json value = json::parse(R"({"s": "x", "n": 1.5, "i": -3, "u": 300})", nullptr, false);
  EXPECT_EQ(jsonField<std::string>(value, "s"), "x");
  EXPECT_EQ(jsonField<double>(value, "n"), 1.5);
  EXPECT_EQ(jsonField<int64_t>(value, "i"), -3);
  EXPECT_EQ(jsonField<uint64_t>(value, "i"), std::nullopt);
  EXPECT_EQ(jsonField<uint8_t>(value, "u"), std::nullopt);
  EXPECT_EQ(jsonField<int64_t>(value, "n"), std::nullopt);
  EXPECT_EQ(jsonField<std::string>(value, "n"), std::nullopt);
  EXPECT_EQ(jsonField<bool>(json(3), "s"), std::nullopt);
  EXPECT_EQ(jsonField<double>(value, "absent"), std::nullopt);
}

// Printing the type in the message once overflowed the stack.
TEST(Json, SafetensorsHeadersMayNotBeDeep) {
  auto file = openHeader(R"({"a":{"dtype":)" + nested(1'000'000) +
                         R"(,"shape":[0],"data_offsets":[0,0]}})");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("nested deeper than 8"), std::string::npos);
}

// Each tensor once cost a look at all those before it: 13 s for so many.
TEST(Json, ManyTensorsTakeTimeInProportion) {
  std::string header = "{";
  for (int i = 0; i < 100'000; ++i)
    header += fmt::format(R"({}"t{}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
                          i ? "," : "", i);
  auto file = openHeader(header + "}");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensors().size(), 100'000u);
}
