//===- Text.cpp - text and numbers as a page shows them -----------------------===//
#include "laboratory/report/Text.h"
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD", dash = "–", minus = "−";

/// Bytes of the UTF-8 character that starts at `text[at]`; 0 if none does.
size_t characterBytes(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  size_t count = lead < 0x80                   ? 1
                 : lead >= 0xC2 && lead < 0xE0 ? 2
                 : lead >= 0xE0 && lead < 0xF0 ? 3
                 : lead >= 0xF0 && lead < 0xF5 ? 4
                                               : 0;
  if (count == 0 || at + count > text.size())
    return 0;
  for (size_t i = 1; i < count; ++i)
    if ((byte(at + i) & 0xC0) != 0x80)
      return 0;
  // Overlong forms, surrogates and what lies behind the last plane.
  if ((lead == 0xE0 && byte(at + 1) < 0xA0) || (lead == 0xED && byte(at + 1) >= 0xA0) ||
      (lead == 0xF0 && byte(at + 1) < 0x90) || (lead == 0xF4 && byte(at + 1) >= 0x90))
    return 0;
  return count;
}

} // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t bytes = characterBytes(text, at);
    char c = text[at];
    if (bytes == 0) {
      out += replacement;
      ++at;
    } else if (bytes > 1) {
      // Marks that turn the direction of text could make one name look like another.
      std::string_view character = text.substr(at, bytes);
      bool turns = (character >= "\u202A" && character <= "\u202E") ||
                   (character >= "\u2066" && character <= "\u2069");
      // U+0080 to U+009F are control characters too.
      bool control =
          bytes == 2 && character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0;
      out += turns || control ? replacement : character;
      at += bytes;
    } else {
      switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '\r': // would be read as a line end
        break;
      default:
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
          out += replacement;
        else
          out += c;
      }
      ++at;
    }
  }
  return out;
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f}", share * 100) : std::string(dash);
}

std::string points(double difference) {
  if (!std::isfinite(difference))
    return std::string(dash);
  std::string digits = fmt::format("{:.1f}", std::fabs(difference) * 100);
  if (digits == "0.0")
    return "±0.0";
  return (difference < 0 ? std::string(minus) : "+") + digits;
}

std::string compact(double value) {
  if (!std::isfinite(value))
    return std::string(dash);
  const char *units[] = {"", "k", "M", "G", "T", "P"};
  size_t unit = 0;
  double size = std::fabs(value);
  while (size >= 999.5 && unit + 1 < std::size(units)) {
    size /= 1000;
    ++unit;
  }
  // Four digits as they are: 4096 is better known than 4.1k.
  if (unit == 1 && std::fabs(value) < 9999.5 && std::floor(value) == value) {
    size = std::fabs(value);
    unit = 0;
  }
  std::string text = size >= 99.95   ? fmt::format("{:.0f}", size)
                     : size >= 9.995 ? fmt::format("{:.1f}", size)
                                     : fmt::format("{:.2f}", size);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
      text.pop_back();
  }
  return (value < 0 ? std::string(minus) : "") + text + units[unit];
}

std::string fixed(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : std::string(dash);
}

std::string grouped(int64_t value) {
  std::string digits = fmt::format("{}", value), out;
  size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0)
      out += " "; // narrow, does not break
    out += digits[i];
  }
  return out;
}

std::string plain(double value) {
  if (!std::isfinite(value))
    return std::string(dash);
  std::string text = fmt::format("{}", value); // the shortest that reads back
  if (size_t at = text.find("e-0"); at != std::string::npos)
    text.erase(at + 2, 1);
  return text;
}

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0)
    return std::string(dash);
  if (seconds < 9.95)
    return fmt::format("{:.1f} s", seconds);
  int64_t whole = std::llround(std::min(seconds, 1e15));
  if (whole < 60)
    return fmt::format("{} s", whole);
  if (whole < 3600)
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 48 * 3600)
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {} h", whole / 86400, whole % 86400 / 3600);
}

std::string timeElement(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0)
    return fmt::format("<time>{}</time>", dash);
  return fmt::format("<time datetime=\"PT{:.3f}S\">{}</time>", seconds, duration(seconds));
}

} // namespace hybrid::rt::lab::report
