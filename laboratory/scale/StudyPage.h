//===- StudyPage.h - the files of a scaling study -------------------------------------===//
#pragma once
#include "laboratory/scale/Fit.h"
#include "laboratory/scale/ScaleStudy.h"

namespace hybrid::rt::lab::scale {

struct StudyPage {
  nlohmann::ordered_json json; // study.json
  std::string text;            // for people
  std::vector<std::string> warnings;
};

/// Fits laws to the runs that are done and writes points.csv, a table of each kind of
/// sweep, study.json and report.html into the folder. `smaller`: for offOptimal().
Result<StudyPage> writeStudy(const Study &study, const std::vector<TrainedRun> &runs,
                             const FitOptions &options, const std::vector<double> &smaller,
                             const std::string &folder);

} // namespace hybrid::rt::lab::scale
