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

/// The page. `summary` is null for a run without an end. Fields that are missing or of another type
/// are left out.
std::string trainingReportText(const nlohmann::json &config,
                               const std::vector<nlohmann::json> &metrics,
                               const nlohmann::json &summary);

/// Reads the folder and writes report.html into it. A last line of metrics that is cut short, as a
/// crash leaves it, is left out; a folder without config.json is an error.
Result<void> writeTrainingReport(const std::string &folder);

} // namespace hybrid::rt
