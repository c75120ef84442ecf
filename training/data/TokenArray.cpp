//===- TokenArray.cpp - files of token numbers ------------------------------===//
#include "training/data/TokenArray.h"
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

// llm.c's train_gpt2 and train_llama3: 256 int32, of which magic, version, tokens are used.
constexpr uint32_t gpt2Magic = 20240520, llama3Magic = 20240801;
constexpr size_t llmcHeader = 1024;

struct Layout {
  size_t begin = 0, width = 0;
  uint64_t count = 0;
  bool isSigned = false;
};

uint32_t wordAt(std::span<const std::byte> bytes, size_t at) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + at, 4);
  return word;
}

Result<Layout> npyLayout(std::span<const std::byte> bytes, const std::string &path) {
  auto refuse = [&](std::string_view what) {
    return Error{fmt::format("{}: not a usable .npy of tokens: {}", path, what)};
  };
  if (bytes.size() < 12)
    return refuse("truncated");
  auto major = static_cast<uint8_t>(bytes[6]);
  size_t fixed = major == 1 ? 10 : 12;
  uint32_t size = major == 1 ? wordAt(bytes, 8) & 0xFFFF : wordAt(bytes, 8);
  if (major < 1 || major > 3 || size > bytes.size() - fixed)
    return refuse("its header is damaged (byte 6)");
  std::string_view header(reinterpret_cast<const char *>(bytes.data()) + fixed, size);
  auto valueOf = [&](std::string_view key) -> std::string_view {
    size_t at = header.find(key);
    return at == std::string_view::npos ? "" : header.substr(header.find(':', at) + 1);
  };
  std::string_view type = valueOf("'descr'"), shape = valueOf("'shape'");
  size_t quote = type.find('\''), open = shape.find('(');
  if (quote == std::string_view::npos || open == std::string_view::npos)
    return refuse("its header has no type or no shape");
  type = type.substr(quote + 1, 3);
  bool isInteger =
      type.size() == 3 && (type[0] == '<' || type[0] == '|') && (type[1] == 'u' || type[1] == 'i');
  size_t width = isInteger ? static_cast<size_t>(type[2] - '0') : 0;
  if (width != 1 && width != 2 && width != 4 && width != 8)
    return refuse(
        fmt::format("elements of type '{}'; integers of 1, 2, 4 or 8 bytes are expected", type));
  uint64_t count = 0;
  size_t i = shape.find_first_not_of(' ', open + 1);
  for (; i < shape.size() && shape[i] >= '0' && shape[i] <= '9' && count < (uint64_t{1} << 50); ++i)
    count = 10 * count + static_cast<uint64_t>(shape[i] - '0');
  if (i >= shape.size() || shape.find_first_not_of(", ", i) != shape.find(')'))
    return refuse("one dimension is expected");
  if ((bytes.size() - fixed - size) / width < count)
    return refuse(fmt::format("{} tokens of {} bytes are said, {} bytes are there", count, width,
                              bytes.size() - fixed - size));
  return Layout{fixed + size, width, count, type[1] == 'i'};
}

Result<Layout> layoutOf(std::span<const std::byte> bytes, const std::string &path, size_t width) {
  if (bytes.size() >= 6 && std::memcmp(bytes.data(), "\x93NUMPY", 6) == 0)
    return npyLayout(bytes, path);
  if (bytes.size() >= llmcHeader) {
    uint32_t magic = wordAt(bytes, 0), version = wordAt(bytes, 4), count = wordAt(bytes, 8);
    bool isGpt2 = magic == gpt2Magic && version == 1,
         isLlama = magic == llama3Magic && version == 7;
    if (isGpt2 || isLlama) {
      size_t bytesEach = isGpt2 ? 2 : 4;
      if ((bytes.size() - llmcHeader) / bytesEach != count)
        return Error{fmt::format("{}: the header at byte 8 says {} tokens, {} are there", path,
                                 count, (bytes.size() - llmcHeader) / bytesEach)};
      return Layout{llmcHeader, bytesEach, count};
    }
  }
  if (bytes.size() % width != 0)
    return Error{fmt::format("{}: {} bytes are not tokens of {} bytes each: the file is truncated "
                             "or of another kind",
                             path, bytes.size(), width)};
  return Layout{0, width, bytes.size() / width};
}

} // namespace

Result<TokenArray> TokenArray::open(const std::string &path, size_t width) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  Result<Layout> layout = layoutOf(file->bytes(), path, width);
  if (!layout)
    return layout.error();
  TokenArray array;
  array.data = file->bytes().subspan(layout->begin, layout->count * layout->width);
  array.file = std::make_shared<const MappedFile>(std::move(*file));
  array.begin = layout->begin;
  array.width = layout->width;
  array.count = layout->count;
  array.isSigned = layout->isSigned;
  return array;
}

TokenArray TokenArray::fromMemory(std::vector<uint32_t> tokens) {
  TokenArray array;
  array.memory = std::make_shared<const std::vector<uint32_t>>(std::move(tokens));
  array.data = std::as_bytes(std::span(*array.memory));
  array.count = array.memory->size();
  return array;
}

uint32_t TokenArray::operator[](uint64_t i) const {
  uint64_t value = 0;
  std::memcpy(&value, data.data() + i * width, width);
  const bool isNegative = isSigned && value >> (8 * width - 1) != 0;
  return isNegative || value > noToken ? noToken : static_cast<uint32_t>(value);
}

uint64_t TokenArray::firstNotBelow(uint64_t vocabulary) const {
  for (uint64_t i = 0; i < count; ++i)
    if ((*this)[i] >= vocabulary)
      return i;
  return count;
}

} // namespace hybrid::rt
