//===- FitReport.h - fitted scaling laws for people and for scripts -------------------===//
#pragma once
#include "laboratory/scale/Fit.h"
#include <nlohmann/json.hpp>
#include <string>

namespace hybrid::rt::lab::scale {

/// docs/book/scaling.md names the fields. A number that does not exist is null.
nlohmann::ordered_json fitJson(const Fit &fit);
nlohmann::ordered_json estimateJson(const Estimate &estimate);

/// Tables, a group after the other, and what is to be said of it.
std::string fitText(const Fit &fit);

/// "1.23e+18", with the interval behind it if there is one: "0.452 (0.431 to 0.470)".
std::string estimateText(const Estimate &estimate);

/// "group 'mamba', 3e+18 FLOPs: refused: ..."; without a group's name where it has none.
std::string remarkText(const GroupFit &group, const Remark &remark);

} // namespace hybrid::rt::lab::scale
