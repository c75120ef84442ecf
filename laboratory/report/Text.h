//===- Text.h - text and numbers as a page shows them -------------------------===//
//
// Whatever a user named (architectures, settings, sources, messages of failed runs) is untrusted
// and passes through escaped(). Numbers have one form everywhere; one that is no number is a dash.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hybrid::rt::lab::report {

/// Text for the inside of an element or of a quoted attribute: & < > " ' become references,
/// control characters and bytes that are no UTF-8 become U+FFFD.
std::string escaped(std::string_view text);

/// A share as percent with one digit and no sign: 0.9984 is "99.8".
std::string percent(double share);
/// A difference of shares in points, with its sign: "+1.3", "−0.4", "±0.0".
std::string points(double difference);
/// Three significant digits and a unit: 12800 is "12.8k", 1.5e6 "1.5M".
std::string compact(double value);
/// With `digits` digits behind the point.
std::string fixed(double value, int digits);
/// Every digit, in groups of three: "1 234 567".
std::string grouped(int64_t value);
/// The shortest text that reads as the same number: 0.001 is "0.001", 1e-6 "1e-6".
std::string plain(double value);
/// "1 run", "3 runs": English for counts.
std::string counted(int64_t count, std::string_view noun);

/// A span of time inside the element that marks times: equal studies give pages that are equal but
/// for these. The seconds are its datetime, so a column of them sorts.
std::string timeElement(double seconds);
/// The same for people: "12 s", "3 min 5 s", "2 h 10 min".
std::string duration(double seconds);

} // namespace hybrid::rt::lab::report
