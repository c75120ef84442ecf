//===- TrainingReport.h - the page of a single training -----------------------------===//
//
// report.html of a run folder, from what lies in it: config.json, metrics.jsonl and, of a run that
// has come to its end, summary.json.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hybrid::rt {

/// The data of the page. `summary` is null for a run without an end. Lines of metrics whose step is
/// no number are left out; what other fields hold is passed on.
nlohmann::ordered_json trainingJson(const nlohmann::json &config,
                                    const std::vector<nlohmann::json> &metrics,
                                    const nlohmann::json &summary);

/// Reads the folder and writes report.html into it. A last line of metrics that is cut short, as a
/// crash leaves it, is left out; a folder without config.json is an error.
Result<void> writeTrainingReport(const std::string &folder);

} // namespace hybrid::rt
