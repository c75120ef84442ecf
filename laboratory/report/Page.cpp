//===- Page.cpp - the frame of a report ---------------------------------------===//
#include "laboratory/report/Page.h"
#include "laboratory/report/Text.h"
#include <array>
#include <cstdint>

extern "C" {
extern const char hybridReportPageBegin[], hybridReportPageEnd[];
extern const char hybridReportStyleBegin[], hybridReportStyleEnd[];
extern const char hybridReportScriptBegin[], hybridReportScriptEnd[];
}

namespace hybrid::rt::lab::report {
namespace {

/// What a security policy calls a script: its SHA-256 in base 64.
std::string scriptHash() {
  constexpr std::string_view hex = HYBRID_REPORT_SCRIPT_SHA256;
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static_assert(hex.size() == 64);
  std::string text = "sha256-";
  uint32_t bits = 0;
  int held = 0;
  for (char c : hex) {
    bits = bits << 4 | static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    held += 4;
    if (held >= 6) {
      held -= 6;
      text += letters[bits >> held & 63];
    }
  }
  text += letters[bits << (6 - held) & 63]; // 256 bits are 42 letters and 4 bits
  return text + "=";
}

} // namespace

std::string page(std::string_view title, std::string_view body) {
  std::string_view skeleton(hybridReportPageBegin, hybridReportPageEnd);
  std::string_view style(hybridReportStyleBegin, hybridReportStyleEnd);
  std::string_view script(hybridReportScriptBegin, hybridReportScriptEnd);
  std::string name = escaped(title), hash = scriptHash();
  const std::array<std::pair<std::string_view, std::string_view>, 5> parts{
      {{"{{title}}", name},
       {"{{script-hash}}", hash},
       {"{{style}}", style},
       {"{{body}}", body},
       {"{{script}}", script}}};
  // One pass over the skeleton, so that text which looks like a place for something stays text.
  std::string out;
  while (!skeleton.empty()) {
    size_t at = skeleton.find("{{");
    out += skeleton.substr(0, at);
    if (at == std::string_view::npos)
      break;
    skeleton.remove_prefix(at);
    for (auto [place, text] : parts)
      if (skeleton.starts_with(place)) {
        out += text;
        skeleton.remove_prefix(place.size());
      }
  }
  return out;
}

} // namespace hybrid::rt::lab::report
