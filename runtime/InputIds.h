//===- InputIds.h - inputs whose integers name a place ----------------------===//
//
// The compiler notes which inputs are ids (hybrid-bound-ids): what arrays from outside hold is
// checked here, before it is written to a session's input. In a kernel an id that names nothing
// makes numbers that are none.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include <optional>

namespace hybrid::rt {

/// Each id is at least 0 and below `below`, or is `also`.
struct InputIds {
  int64_t below = 0;
  int32_t also = 0;
  bool has(int32_t id) const { return (id >= 0 && id < below) || id == also; }
  /// "0 to 15", "0 to 15, or -100".
  std::string text() const;
};

/// Of an input of a program; none where any integer will do, and where there is no such input.
std::optional<InputIds> idsOf(const Executable &executable, std::string_view program,
                              std::string_view input);

/// That `data`, elements of `shape` for this input, holds no other ids. The error names the first
/// one, and where it is.
Result<void> checkIds(const Executable &executable, std::string_view program,
                      std::string_view input, std::span<const std::byte> data,
                      std::span<const int64_t> shape);

} // namespace hybrid::rt
