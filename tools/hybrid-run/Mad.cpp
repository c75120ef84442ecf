//===- Mad.cpp - hybrid-run mad: a verdict on architectures ------------------------===//
#include "laboratory/StudyRun.h"
#include "laboratory/WorkerProcesses.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/ProtocolArgument.h"
#include <algorithm>

namespace hybrid::tools {
namespace {

struct MadArguments {
  rt::lab::StudyOptions study;
  ProtocolArgument protocol;
  std::vector<std::string> compare;
  bool dryRun = false;
  // Of the worker processes that this program starts.
  bool trainClaimedRuns = false;
  std::string database;
};

} // namespace

void addMad(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "mad", "train architectures on the MAD suite and say how good they are at each task");
  auto arguments = std::make_shared<MadArguments>();
  MadArguments &a = *arguments;
  rt::lab::StudyOptions &study = a.study;
  study.version = version;
  verb->add_option("models", study.models,
                   "architectures (.hyb), with settings of their own as PATH.hyb:NAME=VALUE,...");
  verb->add_option("--out", study.out, "folder of the study; one that is there is continued");
  verb->add_option("--compare", a.compare, "two studies side by side: folders or databases")
      ->expected(2);
  a.protocol.addTo(*verb);
  verb->add_option("--set", study.settings,
                   "NAME=VALUE: a parameter of every model; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--grid", study.grids,
                   "NAME=VALUE,VALUE,...: every model once with each value; may be repeated")
      ->allow_extra_args(false);
  auto *work = verb->add_option_group("Work");
  addWorkers(*work, study.jobs, study.threads);
  work->add_option("--ensemble", study.ensemble,
                   "runs of a setting that train as one program; 0: 1 on the CPU, on a GPU all of "
                   "them")
      ->check(Range(0, 4096));
  work->add_flag("--worker", study.worker,
                 "only train runs of the study in --out that another process began");
  work->add_flag("--dry-run", a.dryRun, "say what would be done and how long it takes; no results");
  verb->add_option("--iso-tolerance", study.isoTolerance, "share by which architectures may differ")
      ->check(Range(0.0, 1e6))
      ->capture_default_str();
  verb->add_option("--require-iso", study.requireIso,
                   "more than that is an error: of the state, which MAD has equal, or of all that "
                   "is compared, the parameters too")
      ->type_name("[state|all]")
      ->expected(0, 1)
      ->default_str("state")
      ->transform(CLI::CheckedTransformer(std::map<std::string, rt::lab::RequireIso>{
          {"state", rt::lab::RequireIso::State}, {"all", rt::lab::RequireIso::All}}));
  verb->add_flag("--json", study.json, "the scores as JSON");
  verb->add_flag("--quiet", study.quiet, "no progress on standard error");
  verb->add_flag("--train-claimed-runs", a.trainClaimedRuns)->group("");
  verb->add_option("--database", a.database)->group("");
  verb->callback([arguments] {
    rt::lab::StudyOptions &study = arguments->study;
    if (arguments->trainClaimedRuns)
      return require(rt::lab::workOn(
          {arguments->database, 1, study.threads, std::max<int64_t>(1, study.ensemble)}));
    if (!arguments->compare.empty())
      return require(
          rt::lab::compareStudies(arguments->compare[0], arguments->compare[1], study.out));
    if (study.out.empty() && !arguments->dryRun)
      throw Failure("--out: where shall the study be?");
    study.protocol = arguments->protocol.protocol();
    require(arguments->dryRun ? rt::lab::printStudyPlan(study) : rt::lab::runStudy(study));
  });
}

} // namespace hybrid::tools
