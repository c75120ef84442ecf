//===- AppendFile.h - files that grow record by record ----------------------===//
//
// For records of something that goes on for hours and may end at any moment: what was appended
// stays. A record that does not fit on the disk leaves nothing of itself behind; a crash may leave
// a part of the last one, which readers drop. Every other file is an executable/OutputFile.h.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace hybrid::rt {

/// The file has one writer, which holds a lock on its folder.
class AppendFile {
public:
  /// Opens what is there, or an empty file.
  static Result<AppendFile> open(std::string path);
  AppendFile(AppendFile &&other) noexcept;
  AppendFile &operator=(AppendFile &&other) noexcept;
  ~AppendFile();

  Result<void> append(std::string_view record);
  /// Cuts it to its first `bytes` bytes.
  Result<void> cut(uint64_t bytes);
  /// When it comes back, all that was appended is on the disk.
  Result<void> sync();
  const std::string &path() const { return name; }

private:
  AppendFile(std::string name, int descriptor) : name(std::move(name)), descriptor(descriptor) {}
  std::string name;
  int descriptor;
};

} // namespace hybrid::rt
