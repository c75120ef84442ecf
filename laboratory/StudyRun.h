//===- StudyRun.h - a study from its plan to its report -----------------------------===//
#pragma once
#include "laboratory/Models.h"
#include "laboratory/Protocol.h"
#include <string>
#include <vector>

namespace hybrid::rt::lab {

/// Of what architectures must be alike within the tolerance. MAD compares at equal states (section
/// 3.2); its parameters are only about equal: with experts of the printed width 16 a model has
/// half of those it has with SwiGLU.
enum class RequireIso { No, State, All };

struct StudyOptions {
  std::string version;                      // of the program
  std::vector<std::string> models;          // architectures (.hyb), as chooseModels() takes them
  std::vector<std::string> settings, grids; // for all of them
  std::vector<ModelChoice> choices;         // others
  std::string out;                          // the folder of the study
  Protocol protocol;
  int jobs = 1, threads = 0; // processes that train; threads of each, 0: an equal share
  int64_t ensemble = 0;      // runs of a setting that train as one program; 0: runsTogether()
  double isoTolerance = 0.25;
  RequireIso requireIso = RequireIso::No;
  bool worker = false; // only train runs of the study that another process began
  bool json = false, quiet = false;
  bool printScores = true;
};

/// Plans the study, or goes on with the one in the folder, which grows by what is new, trains its
/// runs while a table on standard error shows how they do, writes report.html and prints the
/// scores. A process that another one plans for only trains.
Result<void> runStudy(const StudyOptions &options);

/// Prints what runStudy() would do, with the time that a few steps of each shape predict.
Result<void> printStudyPlan(const StudyOptions &options);

/// Prints two studies (folders or databases) side by side; with `out`, writes compare.html there.
Result<void> compareStudies(const std::string &first, const std::string &second,
                            const std::string &out);

} // namespace hybrid::rt::lab
