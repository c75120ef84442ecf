//===- AtomicFile.h - files that are either whole or absent -----------------===//
//
// Writes go to a temporary name in the same folder, are synced to the disk and then renamed over
// the final name; the folder is synced too. A crash at any moment leaves the old file or the new
// one.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hybrid::rt {

class AtomicFile {
public:
  /// Opens a temporary file beside `path`.
  static Result<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  /// Removes the temporary file unless commit() succeeded.
  ~AtomicFile();

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text);
  /// Syncs, renames to the final name, syncs the folder.
  Result<void> commit();

private:
  AtomicFile() = default;
  std::string path, temporary;
  int descriptor = -1;
};

/// One call for content that is already in memory.
Result<void> writeFileAtomically(const std::string &path, std::string_view content);

} // namespace hybrid::rt
