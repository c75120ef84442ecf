//===- Page.h - a report as one page that draws its data ------------------------===//
//
// The page is assets/page.html with its style, its script, Chart.js as Debian packages it, and the
// data as JSON inside: one file that opens from disk and loads nothing. What is on it is drawn by
// assets/report.js from the data's field `kind`; C++ writes no markup.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <nlohmann/json.hpp>
#include <string>

namespace hybrid::rt::lab::report {

/// The page of `data`, an object with `kind`, `title` and `text`: what is shown also without a
/// script. Equal data give equal bytes. Its security policy lets the page's own scripts run, known
/// by their hashes, and nothing be loaded.
std::string page(const nlohmann::ordered_json &data);

} // namespace hybrid::rt::lab::report
