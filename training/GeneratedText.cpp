//===- GeneratedText.cpp - text that may end with one of some texts -------------===//
#include "training/GeneratedText.h"
#include <algorithm>
#include <utility>

namespace hybrid::rt {

GeneratedText::GeneratedText(std::vector<std::string> texts) : stop(std::move(texts)) {
  std::erase(stop, "");
}

std::string GeneratedText::add(std::string_view piece) {
  if (stopped)
    return "";
  held += piece;
  size_t first = std::string::npos;
  for (const std::string &text : stop)
    first = std::min(first, held.find(text));
  if (first != std::string::npos) {
    stopped = true;
    held.resize(first);
    return std::exchange(held, {});
  }
  size_t kept = 0; // the longest end that begins a stop text
  for (const std::string &text : stop)
    for (size_t size = std::min(text.size() - 1, held.size()); size > kept; --size)
      if (held.ends_with(std::string_view(text).substr(0, size)))
        kept = size;
  std::string sure = held.substr(0, held.size() - kept);
  held.erase(0, sure.size());
  return sure;
}

std::string GeneratedText::finish() { return std::exchange(held, {}); }

} // namespace hybrid::rt
