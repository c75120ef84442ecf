//===- ByteAlphabet.h - bytes written as visible characters -----------------===//
//
// GPT-2's table: printable Latin-1 characters stand for themselves, the other 68 bytes for U+0100
// and on. Source: Radford et al. 2019, encoder.py.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hybrid::rt {

/// The character that stands for a byte.
uint32_t byteCharacter(uint8_t byte);
/// Appends the characters that stand for the bytes.
void appendByteCharacters(std::string &text, std::string_view bytes);
/// The bytes that a token's characters stand for; none if one stands for no byte.
std::optional<std::string> bytesOfCharacters(std::string_view token);

} // namespace hybrid::rt
