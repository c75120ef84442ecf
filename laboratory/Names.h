//===- Names.h - names and numbers as reports and tables say them ----------------===//
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hybrid::rt::lab {

/// "in-context-recall" is "In-context recall"; other names with spaces for dashes.
std::string taskTitle(std::string_view task);
/// The same in one word where there is little room.
std::string taskWord(std::string_view task);
/// "train_examples" is "training examples".
std::string axisTitle(std::string_view axis);
/// "baseline", "vocabulary 32": a setting among those of its task.
std::string settingTitle(std::string_view axis, double value);

/// A share as percent with one digit and no sign: 0.9984 is "99.8"; a dash where there is none.
std::string percent(double share);
/// A difference of shares in points, with its sign: "+1.3", "−0.4", "±0.0".
std::string points(double difference);
/// "1 run", "3 runs": English for counts.
std::string counted(int64_t count, std::string_view noun);

} // namespace hybrid::rt::lab
