//===- File.h - reading whole files ------------------------------------------===//
//
// Files from outside: only regular files, never more than a stated size, every failure a sentence.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

/// Reads a regular file of at most `limit` bytes.
Result<std::vector<std::byte>> readFile(const std::string &path, uint64_t limit);

/// The whole of a text, a regular file of at most so many bytes.
inline constexpr uint64_t mostTextBytes = uint64_t(64) << 20;
Result<std::string> readText(const std::string &path);

/// Makes the folder and its parents; one that is there is fine.
Result<void> makeFolder(const std::string &path);

/// A read-only view of a regular file. Empty files have an empty view.
class MappedFile {
public:
  static Result<MappedFile> open(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&) = delete;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte *>(data), size}; }

private:
  MappedFile() = default;
  void *data = nullptr;
  size_t size = 0;
};

} // namespace hybrid::rt
