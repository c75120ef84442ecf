//===- GeneratedText.h - text that may end with one of some texts --------------===//
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

/// Takes text in pieces and gives out what cannot be the beginning of a stop text any more.
class GeneratedText {
public:
  explicit GeneratedText(std::vector<std::string> stop);

  /// The text that is certain after this piece; nothing once it is stopped.
  std::string add(std::string_view piece);
  /// What was held back, when no more text comes.
  std::string finish();
  bool isStopped() const { return stopped; }

private:
  std::vector<std::string> stop;
  std::string held;
  bool stopped = false;
};

} // namespace hybrid::rt
