//===- Events.h - scalars for TensorBoard -------------------------------------===//
//
// Writes events.out.tfevents files: length-prefixed records with CRC32C, each an `Event` message of
// protocol buffers, of which the few fields needed are encoded here. A resumed run opens another
// file that begins with a session start at its step; TensorBoard then drops what an earlier file
// has beyond.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/files/AppendFile.h"
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hybrid::rt {

/// CRC-32C (Castagnoli); "123456789" gives 0xe3069283.
uint32_t crc32c(std::string_view bytes);

class EventFile {
public:
  /// Opens a new file in `folder`; `step` is where the run goes on.
  static Result<EventFile> create(const std::string &folder, int64_t step);

  Result<void> scalars(int64_t step, std::span<const std::pair<std::string, double>> values);
  const std::string &path() const { return file.path(); }

private:
  explicit EventFile(AppendFile file) : file(std::move(file)) {}
  Result<void> append(const std::string &message);

  AppendFile file;
};

} // namespace hybrid::rt
