//===- TextBytes.h - the bytes of any file as a data set --------------------===//
//
// The file is memory-mapped and cut into blocks; of every ten consecutive blocks one, drawn by a
// hash of the seed, is validation. Windows never cross from one split into the other, so no byte
// that is predicted in validation was ever a target or an input in training. Training windows start
// anywhere in the training bytes; validation windows follow one another without overlap.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include "training/tasks/Task.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

class TextBytes {
public:
  /// A maximal stretch of bytes [begin, end) of one split.
  struct Run {
    uint64_t begin = 0, end = 0;
  };

  /// Maps the file for windows of `length` positions (length + 1 bytes).
  static Result<std::unique_ptr<TextBytes>> open(const std::string &path, int64_t length,
                                                 uint64_t seed);
  ~TextBytes();
  TextBytes(const TextBytes &) = delete;
  TextBytes &operator=(const TextBytes &) = delete;

  uint64_t size() const { return bytes.size(); }
  uint64_t blockBytes() const { return block; }
  /// Distinct places where a training window can start; at least 1.
  uint64_t trainWindows() const { return trainStarts.back(); }
  /// Non-overlapping validation windows; at least 1.
  uint64_t validationWindows() const { return validationStarts.back(); }
  const std::vector<Run> &trainRuns() const { return train; }
  const std::vector<Run> &validationRuns() const { return validation; }
  /// XXH3-64 of the whole file: what a run remembers of its data.
  uint64_t contentHash() const;

  /// Offset in the file of training window `number` drawn with `seed`.
  uint64_t trainOffset(uint64_t seed, uint64_t number) const;
  /// Offset of validation window i < validationWindows().
  uint64_t validationOffset(uint64_t i) const;
  /// inputs = the bytes from `offset` on, targets = the byte after each.
  void copyWindow(uint64_t offset, std::span<int32_t> inputs, std::span<int32_t> targets) const;

private:
  TextBytes() = default;
  void splitBlocks(uint64_t seed);
  uint64_t locate(const std::vector<Run> &runs, const std::vector<uint64_t> &starts, uint64_t i,
                  uint64_t stride) const;

  std::span<const std::byte> bytes;
  uint64_t length = 0, block = 0;
  std::vector<Run> train, validation;                  // every run holds at least one window
  std::vector<uint64_t> trainStarts, validationStarts; // [k]: windows before run k; last: all
};

} // namespace hybrid::rt
