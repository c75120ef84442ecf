//===- TextBytes.cpp - the bytes of any file as a data set ------------------===//
#include "training/data/TextBytes.h"
#include "training/Rng.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hybrid::rt {

// Blocks are as large as 64 KiB so that few windows touch a border, and shrink until a file has
// about twenty of them, so that a small file still has a validation tenth.
constexpr uint64_t largestBlock = 64 << 10, smallestBlock = 512, blocksWanted = 20, groupSize = 10;

Result<std::unique_ptr<TextBytes>> TextBytes::open(const std::string &path, int64_t length,
                                                   uint64_t seed) {
  if (length < 1)
    return Error{
        fmt::format("text:{}: the window length must be at least 1, not {}", path, length)};
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Error{fmt::format("cannot read '{}': {}", path, std::strerror(errno))};
  struct stat status{};
  bool known = fstat(descriptor, &status) == 0;
  std::unique_ptr<TextBytes> text(new TextBytes());
  text->length = static_cast<uint64_t>(length);
  std::string fault;
  auto size = static_cast<uint64_t>(status.st_size);
  if (!known)
    fault = fmt::format("cannot read '{}': {}", path, std::strerror(errno));
  else if (!S_ISREG(status.st_mode))
    fault = fmt::format("cannot read '{}' as text: it is not a regular file", path);
  else if (size == 0)
    fault = fmt::format("cannot train on '{}': the file is empty", path);
  else if (size / 2 < text->length + 1)
    fault =
        fmt::format("cannot train on '{}': it has {} bytes, but one training and one validation "
                    "window of length {} need {}; choose a smaller --length",
                    path, size, length, 2 * (text->length + 1));
  if (fault.empty()) {
    void *mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping == MAP_FAILED)
      fault = fmt::format("cannot map '{}': {}", path, std::strerror(errno));
    else
      text->bytes = {static_cast<const std::byte *>(mapping), static_cast<size_t>(size)};
  }
  ::close(descriptor);
  if (!fault.empty())
    return Error{fault};
  text->splitBlocks(seed);
  return text;
}

TextBytes::~TextBytes() {
  if (!bytes.empty())
    munmap(const_cast<std::byte *>(bytes.data()), bytes.size());
}

void TextBytes::splitBlocks(uint64_t seed) {
  uint64_t size = bytes.size(), window = length + 1;
  block = largestBlock;
  while (block > smallestBlock && size / block < blocksWanted)
    block /= 2;
  // A block holds at least one window, and there are at least two blocks: open() checked that two
  // fit.
  block = std::min(std::max(block, window), size / 2);
  uint64_t blocks = size / block; // the last one takes the remainder
  for (uint64_t begin = 0; begin < blocks; begin += groupSize) {
    uint64_t count = std::min(groupSize, blocks - begin);
    uint64_t chosen = Rng(seed, 0x73706c69, begin / groupSize).below(groupSize);
    // The only group always gives one; a later incomplete group gives one with the right
    // probability.
    if (begin == 0 && chosen >= count)
      chosen %= count;
    for (uint64_t i = 0; i < count; ++i) {
      std::vector<Run> &runs = i == chosen ? validation : train;
      uint64_t from = (begin + i) * block;
      uint64_t to = begin + i + 1 == blocks ? size : from + block;
      if (!runs.empty() && runs.back().end == from)
        runs.back().end = to;
      else
        runs.push_back({from, to});
    }
  }
  trainStarts = {0};
  for (const Run &run : train)
    trainStarts.push_back(trainStarts.back() + (run.end - run.begin - length));
  validationStarts = {0};
  for (const Run &run : validation)
    validationStarts.push_back(validationStarts.back() + (run.end - run.begin - 1) / length);
}

uint64_t TextBytes::contentHash() const { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t TextBytes::locate(const std::vector<Run> &runs, const std::vector<uint64_t> &starts,
                           uint64_t i, uint64_t stride) const {
  auto above = std::upper_bound(starts.begin(), starts.end(), i);
  auto run = static_cast<size_t>(above - starts.begin()) - 1;
  return runs[run].begin + (i - starts[run]) * stride;
}

uint64_t TextBytes::trainOffset(uint64_t seed, uint64_t number) const {
  uint64_t window = Rng(seed, 0x77696e64, number).below(trainWindows());
  return locate(train, trainStarts, window, 1);
}

uint64_t TextBytes::validationOffset(uint64_t i) const {
  return locate(validation, validationStarts, i, length);
}

void TextBytes::copyWindow(uint64_t offset, std::span<int32_t> inputs,
                           std::span<int32_t> targets) const {
  for (uint64_t t = 0; t < length; ++t) {
    inputs[t] = static_cast<int32_t>(bytes[offset + t]);
    targets[t] = static_cast<int32_t>(bytes[offset + t + 1]);
  }
}

} // namespace hybrid::rt
