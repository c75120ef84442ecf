//===- ByteSize.h - "2GiB" and back -----------------------------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace hybrid {

/// Bytes of a number with a unit: B, KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB (powers
/// of 1000), in any case; no unit means bytes. Nothing for anything else, for 0 and for more than
/// 2^62.
std::optional<int64_t> parseByteSize(llvm::StringRef text);

/// Two decimals and the largest binary unit that leaves a number of at least 1, rounded up so that
/// it is always enough: "46.12 MiB".
std::string byteSizeText(int64_t bytes);

} // namespace hybrid
