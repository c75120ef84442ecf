//===- ByteAlphabet.cpp - bytes written as visible characters ---------------===//
#include "training/tokenizers/ByteAlphabet.h"
#include "training/tokenizers/Utf8.h"
#include <array>

namespace hybrid::rt {
namespace {

struct Tables {
  struct Encoded {
    char bytes[2];
    uint8_t size;
  };
  std::array<uint16_t, 256> character{};
  std::array<int16_t, 512> byte{}; // -1: stands for none
  std::array<Encoded, 256> encoded{};
};

constexpr Tables makeTables() {
  Tables tables;
  for (int16_t &byte : tables.byte)
    byte = -1;
  uint16_t next = 256;
  for (int b = 0; b < 256; ++b) {
    bool visible = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    auto character = visible ? static_cast<uint16_t>(b) : next++;
    auto i = static_cast<size_t>(b);
    tables.character[i] = character;
    tables.byte[character] = static_cast<int16_t>(b);
    if (character < 0x80)
      tables.encoded[i] = {{static_cast<char>(character), 0}, 1};
    else
      tables.encoded[i] = {
          {static_cast<char>(0xC0 | character >> 6), static_cast<char>(0x80 | (character & 0x3F))},
          2};
  }
  return tables;
}

constexpr Tables tables = makeTables();

} // namespace

uint32_t byteCharacter(uint8_t byte) { return tables.character[byte]; }

void appendByteCharacters(std::string &text, std::string_view bytes) {
  size_t size = text.size();
  text.resize(size + 2 * bytes.size());
  char *out = text.data() + size;
  for (char c : bytes) {
    Tables::Encoded encoded = tables.encoded[static_cast<uint8_t>(c)];
    out[0] = encoded.bytes[0];
    out[1] = encoded.bytes[1];
    out += encoded.size;
  }
  text.resize(static_cast<size_t>(out - text.data()));
}

std::optional<std::string> bytesOfCharacters(std::string_view token) {
  std::string bytes;
  for (size_t i = 0; i < token.size();) {
    utf8::Character character = utf8::at(token, i);
    if (character.point >= tables.byte.size() || tables.byte[character.point] < 0)
      return std::nullopt;
    bytes += static_cast<char>(tables.byte[character.point]);
    i += character.bytes;
  }
  return bytes;
}

} // namespace hybrid::rt
