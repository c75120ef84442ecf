//===- TokenArray.h - files of token numbers --------------------------------===//
#pragma once
#include "runtime/Result.h"
#include "runtime/files/File.h"
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

/// Tokens in memory or in a mapped file, of 1, 2, 4 or 8 bytes each. Copies share them.
class TokenArray {
public:
  /// nanoGPT's bare `.bin` of uint16 (or of `width` bytes), llm.c's `.bin` with its header, a
  /// one-dimensional `.npy` of integers. Recognised by their content.
  static Result<TokenArray> open(const std::string &path, size_t width = 2);
  static TokenArray fromMemory(std::vector<uint32_t> tokens);

  uint64_t size() const { return count; }
  /// What stands for a number that is negative or larger.
  static constexpr uint32_t noToken = 0xFFFFFFFFu;
  uint32_t operator[](uint64_t i) const;
  uint64_t byteOffset(uint64_t i) const { return begin + i * width; }
  /// The first token that is not below `vocabulary`, or size().
  uint64_t firstNotBelow(uint64_t vocabulary) const;
  std::span<const std::byte> bytes() const { return data; }

private:
  std::shared_ptr<const MappedFile> file;
  std::shared_ptr<const std::vector<uint32_t>> memory;
  std::span<const std::byte> data; // the tokens
  uint64_t count = 0, begin = 0;
  size_t width = 4;
  bool isSigned = false;
};

} // namespace hybrid::rt
