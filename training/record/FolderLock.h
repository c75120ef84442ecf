//===- FolderLock.h - one process a folder ------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <string>

namespace hybrid::rt {

/// Held by who writes a folder, up to the end of the process, however it ends. Leaves no file.
class FolderLock {
public:
  /// The folder is there. An error when another process holds it. Where a file system knows no
  /// locks, nothing is held.
  /// `instead` is what else the error proposes.
  static Result<FolderLock> take(const std::string &folder,
                                 const std::string &instead = "give another --out");
  FolderLock(FolderLock &&other) noexcept;
  FolderLock &operator=(FolderLock &&) = delete;
  ~FolderLock();

private:
  explicit FolderLock(int descriptor) : descriptor(descriptor) {}
  int descriptor; // of the folder; -1: none
};

} // namespace hybrid::rt
