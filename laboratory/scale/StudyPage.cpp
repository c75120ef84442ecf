//===- StudyPage.cpp - the files of a scaling study -----------------------------------===//
#include "laboratory/scale/StudyPage.h"
#include "laboratory/report/Page.h"
#include "laboratory/scale/FitPage.h"
#include "laboratory/scale/FitReport.h"
#include "laboratory/scale/Sweeps.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::lab::scale {
namespace {
using json = nlohmann::ordered_json;

std::vector<TrainedRun> select(const std::vector<TrainedRun> &runs, const std::string &sweep) {
  std::vector<TrainedRun> chosen;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(chosen),
               [&](const TrainedRun &run) { return run.sweep == sweep; });
  return chosen;
}

json runJson(const TrainedRun &run) {
  return {{"group", run.point.group},
          {"size", run.size},
          {"budget", run.budget},
          {"flops", run.point.flops},
          {"params", run.point.params},
          {"tokens", run.point.tokens},
          {"batch", run.batch},
          {"steps", run.steps},
          {"learning_rate", run.rate},
          {"status", run.status},
          {"loss", run.isDone() ? json(run.point.loss) : json()},
          {"seconds", run.isDone() ? json(run.seconds) : json()},
          {"retried", run.retried},
          {"sweep", run.sweep.empty() ? json() : json(run.sweep)},
          {"factor", run.factor > 0 ? json(run.factor) : json()},
          {"error", run.error}};
}

/// What is to be said of runs that did not go as planned.
std::vector<std::string> remarksOf(const std::vector<TrainedRun> &runs) {
  std::vector<std::string> remarks;
  for (const TrainedRun &run : runs) {
    const std::string name = nameOf(run);
    if (run.retried)
      remarks.push_back(fmt::format("{} diverged and was trained again with half the rate, {:.3g}",
                                    name, run.rate));
    else if (run.status == "failed")
      remarks.push_back(fmt::format("{} is left out: {}", name, run.error));
  }
  return remarks;
}

} // namespace

Result<StudyPage> writeStudy(const Study &study, const std::vector<TrainedRun> &runs,
                             const FitOptions &options, const std::vector<double> &smaller,
                             const std::string &folder) {
  const std::vector<TrainedRun> planned = select(runs, "");
  const Fit fit = fitPoints(pointsOf(planned), options);
  const Sweeps sweeps{ratioSweep(runs, options), stateFrontier(runs), offOptimal(fit, smaller),
                      overtrainSweep(runs, fit), batchSweep(runs)};
  StudyPage page;
  page.json = fitPageJson(fit);
  page.json["kind"] = "scaling-study";
  page.json["version"] = study.version;
  page.json["command"] = study.command;
  page.json["protocol"] = json::parse(jsonLine(parseJsonOrNull(study.protocol)), nullptr, false);
  page.json["runs"] = json::array();
  for (const TrainedRun &run : runs)
    page.json["runs"].push_back(runJson(run));
  page.json["remarks"] = remarksOf(runs);
  addSweeps(sweeps, page.json);
  page.warnings = remarksOf(runs);
  for (const GroupFit &group : fit.groups)
    for (const Remark &remark : group.remarks)
      page.warnings.push_back(remarkText(group, remark));
  page.text = fitText(fit) + sweepsText(sweeps);
  std::vector<std::pair<std::string, std::string>> files{{"points.csv", pointsTable(planned)},
                                                         {"study.json", jsonText(page.json) + "\n"},
                                                         {"report.html", report::page(page.json)}};
  for (const SweepKind &kind : sweepKinds())
    if (const auto swept = select(runs, kind.name); !swept.empty())
      files.emplace_back(fmt::format("{}.csv", kind.name), pointsTable(swept));
  for (const auto &[name, content] : files)
    if (auto done = writeFileAtomically(folder + "/" + name, content); !done)
      return done.error();
  return page;
}

} // namespace hybrid::rt::lab::scale
