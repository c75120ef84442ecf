//===- Utf8.h - characters of text that may be ill-formed -------------------===//
//
// Text is bytes. A byte that belongs to no well-formed UTF-8 sequence is a character of its own,
// which is neither letter, number nor space; nothing here refuses or loses it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hybrid::rt::utf8 {

struct Character {
  uint32_t point = 0; // 0xFFFFFFFF of an ill-formed byte
  uint32_t bytes = 1;
  bool isWellFormed() const { return point != 0xFFFFFFFF; }
};

/// The character at `at` < text.size().
Character at(std::string_view text, size_t at);
/// Where the character that ends at `end` > 0 begins.
size_t before(std::string_view text, size_t end);
void append(std::string &text, uint32_t point);
inline std::string encoded(uint32_t point) {
  std::string text;
  append(text, point);
  return text;
}

bool isWellFormed(std::string_view text);
/// Each maximal subpart of an ill-formed sequence becomes U+FFFD, as in Python, Rust and WHATWG.
std::string replaceIllFormed(std::string_view text);
/// Bytes at the end, 0 to 3, that more bytes could make a character of.
size_t incompleteTail(std::string_view text);

/// Unicode properties, false of an ill-formed byte.
bool isSpace(uint32_t point);       // White_Space
bool isNumber(uint32_t point);      // general category N
bool isPunctuation(uint32_t point); // general category P
bool isMark(uint32_t point);        // general category M
bool isNonspacingMark(uint32_t point);
bool isControl(uint32_t point); // general category C but for unassigned ones
/// Alphabetic, marks, decimal digits, connector punctuation and joiners: \w of most engines.
bool isWord(uint32_t point);
/// Lower case of one character, in its full form.
void appendLower(std::string &text, uint32_t point);

enum class Form : uint8_t { NFC, NFD, NFKC, NFKD };
/// Ill-formed bytes stay where they are.
std::string normalized(std::string_view text, Form form);

} // namespace hybrid::rt::utf8
