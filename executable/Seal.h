//===- Seal.h - what stands behind the contents of a .hyx --------------------===//
//
// The last 80 bytes of a file: the mark "HYXSEAL1", BLAKE2b-256 of all bytes in front of it, a
// signature, and XXH3-64 of these 72 bytes. The signature is BLAKE2b-256 of the mark and the hash,
// keyed with the key of who compiled (KeyFile.h), or zero. So a damaged file is told from a sound
// one before anything in it is looked at, and one that was made here from any other.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace hybrid {

using Digest = std::array<uint8_t, 32>;
using Key = std::array<uint8_t, 32>;

constexpr size_t sealBytes = 80;

struct Seal {
  Digest content{}, signature{};

  bool isSignedWith(const Key &key) const;
};

/// The seal for a file's contents, to be written behind them; without a key it is not signed.
std::array<std::byte, sealBytes> makeSeal(std::span<const std::byte> content,
                                          const std::optional<Key> &key);

/// The seal of a whole file that is as it was written; otherwise nothing, and `fault` says what is
/// wrong with it ("damaged: ...").
std::optional<Seal> checkSeal(std::span<const std::byte> file, std::string &fault);

/// 64 digits.
std::string hexadecimal(const std::array<uint8_t, 32> &bytes);

} // namespace hybrid
