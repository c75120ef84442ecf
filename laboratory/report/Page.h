//===- Page.h - the frame of a report -----------------------------------------===//
#pragma once
#include <string>
#include <string_view>

namespace hybrid::rt::lab::report {

/// A whole document around `body` (HTML); `title` is plain text. Its security policy lets the
/// page's own script run, known by its hash, and nothing be loaded.
std::string page(std::string_view title, std::string_view body);

} // namespace hybrid::rt::lab::report
