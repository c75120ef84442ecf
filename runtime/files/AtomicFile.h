//===- AtomicFile.h - files that are either whole or absent -----------------===//
//
// The writer of executable/OutputFile.h, with this library's results.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/OutputFile.h"
#include "runtime/Result.h"
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hybrid::rt {

class AtomicFile {
public:
  /// Opens a temporary file beside `path`, or `path` itself if it is no regular file.
  static Result<AtomicFile> create(const std::string &path);

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text);
  /// Syncs, renames to the final name, syncs the folder.
  Result<void> commit();

private:
  explicit AtomicFile(const std::string &path) : file(path) {}
  OutputFile file;
};

/// One call for content that is already in memory.
Result<void> writeFileAtomically(const std::string &path, std::string_view content);

} // namespace hybrid::rt
