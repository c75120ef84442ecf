//===- FormatTest.cpp - npy, safetensors and files ---------------------------===//
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Safetensors.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace hybrid::rt;

namespace {

/// A folder of its own for each test, removed with it.
class FormatTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "hybrid-format-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const { return folder + "/" + name; }
  std::string write(const std::string &name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  static std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string folder;
};

using Npy = FormatTest;
using Safetensors = FormatTest;
using Files = FormatTest;

std::string npy(const std::string &header, const std::string &data, char version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += version;
  bytes += '\0';
  size_t size = header.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(size >> 8 * i);
  return bytes + header + data;
}

std::string npyHeader(const std::string &type, const std::string &shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

std::string safetensors(const std::string &header, const std::string &data) {
  uint64_t size = header.size();
  return std::string(reinterpret_cast<const char *>(&size), 8) + header + data;
}

template <typename T> std::span<const std::byte> bytesOfVector(const std::vector<T> &values) {
  return std::as_bytes(std::span(values));
}

void expectRefused(const auto &result, const std::string &path, const std::string &text) {
  ASSERT_FALSE(result) << "was accepted, expected: " << text;
  EXPECT_NE(result.error().message.find(path), std::string::npos) << result.error().message;
  EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().message;
}

} // namespace

TEST_F(Npy, WritesWhatItReads) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> shapes[] = {{6}, {2, 3}, {1, 6, 1}};
  for (const auto &shape : shapes) {
    ASSERT_TRUE(writeNpy(path("x.npy"), DType::F32, shape, bytesOfVector(values)));
    auto array = readNpy(path("x.npy"));
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(array->element, NpyArray::Element::F32);
    ASSERT_EQ(array->data.size(), 24u);
    EXPECT_EQ(std::memcmp(array->data.data(), values.data(), 24), 0);
    EXPECT_EQ((read(path("x.npy")).size() - 24) % 64, 0u) << "data is aligned as NumPy does";
  }
  std::vector<double> scalar = {0.5};
  ASSERT_TRUE(writeNpy(path("s.npy"), DType::F64, {}, bytesOfVector(scalar)));
  auto array = readNpy(path("s.npy"));
  ASSERT_TRUE(array);
  EXPECT_TRUE(array->shape.empty());
}

TEST_F(Npy, ReadsEveryVersionAndSpelling) {
  std::string data(8, '\1');
  for (char version : {1, 2, 3}) {
    auto array = readNpy(write("x.npy", npy(npyHeader("<i4", "(2,)"), data, version)));
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->shape, std::vector<int64_t>{2});
  }
  const std::pair<const char *, const char *> kinds[] = {
      {"<i8", "(1,)"}, {"<f8", "()"}, {"|u1", "(2, 4)"}, {"<f4", "(1, 2)"}};
  for (auto [type, shape] : kinds)
    EXPECT_TRUE(readNpy(write("x.npy", npy(npyHeader(type, shape), data)))) << type;
  EXPECT_TRUE(readNpy(
      write("x.npy", npy("{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}", data))));
}

TEST_F(Npy, RefusesWithTheFaultAndItsPlace) {
  std::string data(8, '\0');
  const std::pair<std::string, const char *> cases[] = {
      {"", "truncated: only 0 bytes"},
      {"NUMPY, but not really", "mark of NumPy (byte 0)"},
      {npy(npyHeader("<f4", "(2,)"), data, 4), "version 4 (byte 6)"},
      {npy(npyHeader("<f4", "(2,)"), data).substr(0, 30), "inside the header"},
      {npy(npyHeader("<f4", "(3,)"), data), "shape [3] needs 12"},
      {npy(npyHeader("<f4", "(2,)"), data + "x"), "9 bytes of data"},
      {npy(npyHeader(">f4", "(2,)"), data), "not supported"},
      {npy(npyHeader("<c8", "(1,)"), data), "not supported"},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", data), "type"},
      {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", data), "Fortran"},
      {npy("{'descr': '<f4', 'fortran_order': False}", data), "lacks"},
      {npy(npyHeader("<f4", "(-2,)"), data), "no size"},
      {npy(npyHeader("<f4", "(9999999999, 9999999999)"), data), "beyond"},
      {npy(npyHeader("<f4", "(99999999999999999999999)"), data), "no size"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,", data), "does not end"},
      {npy(npyHeader("<f4", "2"), data), "tuple"},
      {std::string("\x93NUMPY\2\0\xff\xff\xff\x7f", 12), "too long"}};
  for (const auto &[content, text] : cases)
    expectRefused(readNpy(write("bad.npy", content)), "bad.npy", text);
  expectRefused(readNpy(path("missing.npy")), "missing.npy", "No such file");
  expectRefused(readNpy(folder), folder, "is a directory");
}

TEST_F(Npy, SurvivesTruncationAndFlippedBytes) {
  std::string sound = npy(npyHeader("<f4", "(2, 3)"), std::string(24, 'x'));
  for (size_t size = 0; size < sound.size(); ++size)
    ASSERT_FALSE(readNpy(write("x.npy", sound.substr(0, size)))) << size;
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = sound;
    for (unsigned flips = 1 + random() % 3; flips; --flips)
      bytes[random() % 90] = static_cast<char>(random());
    if (auto array = readNpy(write("x.npy", bytes))) {
      EXPECT_LE(array->data.size(), bytes.size());
    }
  }
}

TEST_F(Npy, ConvertsOrSaysWhyNot) {
  auto array =
      readNpy(write("x.npy", npy(npyHeader("<i8", "(1,)"), std::string("\5\0\0\0\0\0\0\0", 8))));
  ASSERT_TRUE(array);
  auto small = array->convertedTo(DType::I32, "tokens");
  ASSERT_TRUE(small);
  int32_t five;
  std::memcpy(&five, small->data(), 4);
  EXPECT_EQ(five, 5);
  auto wide = array->convertedTo(DType::F64, "x");
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->size(), 8u);
  array = readNpy(write("x.npy", npy(npyHeader("<i8", "(1,)"), std::string(8, '\x7f'))));
  ASSERT_TRUE(array);
  expectRefused(array->convertedTo(DType::I32, "tokens"), "tokens", "does not fit 32 bits");
  array = readNpy(write("x.npy", npy(npyHeader("<f8", "(1,)"), std::string(8, '\0'))));
  ASSERT_TRUE(array);
  expectRefused(array->convertedTo(DType::I32, "tokens"), "tokens", "integers are expected");
}

TEST_F(Safetensors, WritesWhatItReads) {
  std::vector<float> a = {1, 2, 3, 4};
  std::vector<double> b = {0.25};
  std::vector<int32_t> c = {-7};
  std::vector<SafetensorsTensor> tensors = {{"blocks.0.w", DType::F32, {2, 2}, bytesOfVector(a)},
                                            {"b", DType::F64, {}, bytesOfVector(b)},
                                            {"\"odd\" näme", DType::I32, {1}, bytesOfVector(c)}};
  ASSERT_TRUE(writeSafetensors(path("x.safetensors"), tensors, {{"step", "12"}, {"k", "ü"}}));
  auto file = SafetensorsFile::open(path("x.safetensors"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->metadata().at("step"), "12");
  EXPECT_EQ(file->metadata().at("k"), "ü");
  EXPECT_EQ(file->tensors().size(), 3u);
  const SafetensorsEntry *entry = file->find("blocks.0.w");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(entry->elements(), 4);
  EXPECT_EQ(std::memcmp(entry->data.data(), a.data(), 16), 0);
  EXPECT_EQ(file->find("\"odd\" näme")->type, SafetensorsEntry::Type::I32);
  EXPECT_EQ(file->find("nothing"), nullptr);
  SafetensorsFile moved = std::move(*file);
  EXPECT_EQ(std::memcmp(moved.find("b")->data.data(), b.data(), 8), 0);
}

TEST_F(Safetensors, RefusesWithTheFault) {
  std::string data(16, '\0');
  auto entry = [](const std::string &dtype, const std::string &shape, const std::string &offsets) {
    return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  std::string good = entry("F32", "[4]", "[0,16]");
  const std::pair<std::string, const char *> cases[] = {
      {"", "truncated"},
      {safetensors("{}", "").substr(0, 9), "truncated"},
      {std::string(8, '\xff') + "{}", "header length"},
      {safetensors("{\"a\":" + good, data), "JSON"},
      {safetensors("[1,2]", data), "JSON"},
      {safetensors("{\"a\":" + good + ",\"a\":" + good + "}", data), "'a' appears twice"},
      {safetensors("{\"a\":3}", data), "lacks"},
      {safetensors("{\"a\":{\"dtype\":\"F32\"}}", data), "lacks"},
      {safetensors("{\"a\":" + entry("F8", "[4]", "[0,16]") + "}", data), "type"},
      {safetensors("{\"a\":" + entry("F32", "[-4]", "[0,16]") + "}", data), "shape"},
      {safetensors("{\"a\":" + entry("F32", "[0.5]", "[0,16]") + "}", data), "shape"},
      {safetensors("{\"a\":" + entry("F32", "{}", "[0,16]") + "}", data), "shape"},
      {safetensors("{\"a\":" + entry("F32", "[5]", "[0,16]") + "}", data), "its shape needs 20"},
      {safetensors("{\"a\":" + entry("F32", "[4611686018427387905]", "[0,16]") + "}", data),
       "shape"},
      {safetensors("{\"a\":" + entry("F32", "[4]", "[16,0]") + "}", data), "bytes 16 to 0"},
      {safetensors("{\"a\":" + entry("F32", "[4]", "[8,24]") + "}", data), "which has only 16"},
      {safetensors("{\"a\":" + entry("F32", "[4]", "[0]") + "}", data), "data_offsets"},
      {safetensors("{\"a\":" + good + ",\"b\":" + entry("F32", "[1]", "[4,8]") + "}", data),
       "overlap"},
      {safetensors("{\"a\":" + entry("F32", "[3]", "[0,12]") + "}", data), "belong to no tensor"},
      {safetensors("{\"__metadata__\":{\"a\":1}}", ""), "metadata"},
      {safetensors("{\"__metadata__\":[]}", ""), "metadata"},
      {safetensors(std::string(100000, '['), ""), "JSON"},
      {safetensors("{\"\xff\":" + good + "}", data), "JSON"}};
  for (const auto &[content, text] : cases)
    expectRefused(SafetensorsFile::open(write("bad.safetensors", content)), "bad.safetensors",
                  text);
  expectRefused(SafetensorsFile::open(path("missing")), "missing", "No such file");
  expectRefused(SafetensorsFile::open(folder), folder, "is a directory");
}

TEST_F(Safetensors, SurvivesTruncationAndFlippedBytes) {
  std::vector<float> a = {1, 2, 3, 4};
  std::vector<SafetensorsTensor> tensors = {{"w", DType::F32, {2, 2}, bytesOfVector(a)},
                                            {"b", DType::F32, {4}, bytesOfVector(a)}};
  ASSERT_TRUE(writeSafetensors(path("x.safetensors"), tensors, {{"step", "12"}}));
  std::string sound = read(path("x.safetensors"));
  for (size_t size = 0; size < sound.size(); ++size)
    ASSERT_FALSE(SafetensorsFile::open(write("y", sound.substr(0, size)))) << size;
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = sound;
    for (unsigned flips = 1 + random() % 3; flips; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    (void)SafetensorsFile::open(write("y", bytes));
  }
}

TEST_F(Files, AreWholeOrAbsent) {
  {
    auto file = AtomicFile::create(path("x"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("half of it"));
    EXPECT_FALSE(std::filesystem::exists(path("x")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "nothing is left of what was not committed";
  ASSERT_TRUE(writeFileAtomically(path("x"), "first"));
  ASSERT_TRUE(writeFileAtomically(path("x"), "second"));
  EXPECT_EQ(read(path("x")), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  struct stat status{};
  ASSERT_EQ(stat(path("x").c_str(), &status), 0);
  mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask) << "as any new file";
  expectRefused(writeFileAtomically(folder + "/no/such/x", ""), "no/such", "No such file");
}

TEST_F(Files, AreReadUpToALimit) {
  EXPECT_EQ(readFile(write("x", "12345"), 5)->size(), 5u);
  expectRefused(readFile(path("x"), 4), path("x"), "5 bytes, more than the limit of 4");
  EXPECT_TRUE(readFile(write("empty", ""), 0)->empty());
  auto mapped = MappedFile::open(path("empty"));
  ASSERT_TRUE(mapped);
  EXPECT_TRUE(mapped->bytes().empty());
  expectRefused(MappedFile::open("/dev/zero"), "/dev/zero", "not a regular file");
}
