//===- Utf8.cpp - characters of text that may be ill-formed -----------------===//
#include "training/tokenizers/Utf8.h"
#include <cstdlib>
#include <cstring>
#include <utf8proc.h>

namespace hybrid::rt::utf8 {
namespace {

constexpr uint32_t illFormed = 0xFFFFFFFF;

uint8_t byteAt(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

/// What the first byte and the one after it must be (Unicode, table 3-7); bytes 0: not a first
/// byte.
struct Lead {
  uint32_t bytes = 0;
  uint8_t low = 0x80, high = 0xBF;
};
Lead leadOf(uint8_t first) {
  if (first < 0x80)
    return {1};
  if (first < 0xC2 || first > 0xF4)
    return {0};
  if (first < 0xE0)
    return {2};
  if (first < 0xF0)
    return {3, static_cast<uint8_t>(first == 0xE0 ? 0xA0 : 0x80),
            static_cast<uint8_t>(first == 0xED ? 0x9F : 0xBF)};
  return {4, static_cast<uint8_t>(first == 0xF0 ? 0x90 : 0x80),
          static_cast<uint8_t>(first == 0xF4 ? 0x8F : 0xBF)};
}

/// Bytes of the sequence at `at` that are as they must be, at least 1.
uint32_t goodBytes(std::string_view text, size_t at, const Lead &lead) {
  uint32_t good = 1;
  for (; good < lead.bytes && at + good < text.size(); ++good) {
    uint8_t next = byteAt(text, at + good);
    if (next < (good == 1 ? lead.low : 0x80) || next > (good == 1 ? lead.high : 0xBF))
      break;
  }
  return good;
}

size_t asciiFrom(std::string_view text, size_t at) {
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if (word & 0x8080808080808080u)
      break;
  }
  while (at < text.size() && byteAt(text, at) < 0x80)
    ++at;
  return at;
}

utf8proc_category_t categoryOf(uint32_t point) {
  return point == illFormed ? UTF8PROC_CATEGORY_CN
                            : utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

std::string normalizedWellFormed(std::string_view text, Form form) {
  auto options = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE |
      (form == Form::NFC || form == Form::NFKC ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
      (form == Form::NFKC || form == Form::NFKD ? UTF8PROC_COMPAT : 0));
  utf8proc_uint8_t *result = nullptr;
  utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t *>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &result, options);
  std::string out = size < 0
                        ? std::string(text)
                        : std::string(reinterpret_cast<char *>(result), static_cast<size_t>(size));
  std::free(result);
  return out;
}

} // namespace

Character at(std::string_view text, size_t at) {
  uint8_t first = byteAt(text, at);
  if (first < 0x80)
    return {first, 1};
  Lead lead = leadOf(first);
  if (lead.bytes == 0 || goodBytes(text, at, lead) < lead.bytes)
    return {illFormed, 1};
  uint32_t point = first & (0x7Fu >> lead.bytes);
  for (uint32_t i = 1; i < lead.bytes; ++i)
    point = point << 6 | (byteAt(text, at + i) & 0x3Fu);
  return {point, lead.bytes};
}

size_t before(std::string_view text, size_t end) {
  for (size_t back = 2; back <= 4 && back <= end; ++back)
    if (Character character = at(text, end - back); character.bytes == back)
      return end - back;
  return end - 1;
}

void append(std::string &text, uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
    return;
  }
  int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  text += static_cast<char>(static_cast<uint8_t>(0xFF00u >> (more + 1)) | point >> (6 * more));
  while (more-- > 0)
    text += static_cast<char>(0x80 | (point >> (6 * more) & 0x3F));
}

bool isWellFormed(std::string_view text) {
  for (size_t i = asciiFrom(text, 0); i < text.size(); i = asciiFrom(text, i)) {
    Character character = at(text, i);
    if (!character.isWellFormed())
      return false;
    i += character.bytes;
  }
  return true;
}

std::string replaceIllFormed(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (Character character = at(text, i); character.isWellFormed()) {
      out.append(text, i, character.bytes);
      i += character.bytes;
      continue;
    }
    Lead lead = leadOf(byteAt(text, i));
    i += lead.bytes == 0 ? 1 : goodBytes(text, i, lead);
    append(out, 0xFFFD);
  }
  return out;
}

size_t incompleteTail(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    size_t start = text.size() - back;
    Lead lead = leadOf(byteAt(text, start));
    if (lead.bytes > back && goodBytes(text, start, lead) == back)
      return back;
  }
  return 0;
}

bool isSpace(uint32_t point) {
  return (point >= 9 && point <= 13) || point == ' ' || point == 0x85 || point == 0xA0 ||
         point == 0x1680 || (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
         point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

bool isNumber(uint32_t point) {
  auto category = categoryOf(point);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool isPunctuation(uint32_t point) {
  auto category = categoryOf(point);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool isMark(uint32_t point) {
  auto category = categoryOf(point);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool isNonspacingMark(uint32_t point) { return categoryOf(point) == UTF8PROC_CATEGORY_MN; }

bool isControl(uint32_t point) {
  auto category = categoryOf(point);
  return category >= UTF8PROC_CATEGORY_CC;
}

bool isWord(uint32_t point) {
  if (point == 0x200C || point == 0x200D)
    return true;
  // Letters that Unicode counts among the symbols (Other_Alphabetic).
  if ((point >= 0x24B6 && point <= 0x24E9) || (point >= 0x1F130 && point <= 0x1F149) ||
      (point >= 0x1F150 && point <= 0x1F169) || (point >= 0x1F170 && point <= 0x1F189))
    return true;
  auto category = categoryOf(point);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
         category == UTF8PROC_CATEGORY_PC;
}

void appendLower(std::string &text, uint32_t point) {
  append(text, static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))));
  if (point == 0x130) // the one character whose lower case is two: i and a dot above
    text.replace(text.size() - 1, 1, "i\xCC\x87");
}

std::string normalized(std::string_view text, Form form) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size()) {
      end = asciiFrom(text, end);
      if (end == text.size() || !at(text, end).isWellFormed())
        break;
      end += at(text, end).bytes;
    }
    if (end > i && asciiFrom(text.substr(0, end), i) == end)
      out.append(text, i, end - i);
    else if (end > i)
      out += normalizedWellFormed(text.substr(i, end - i), form);
    i = end;
    if (i < text.size())
      out += text[i++];
  }
  return out;
}

} // namespace hybrid::rt::utf8
