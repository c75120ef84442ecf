//===- StudyRun.cpp - a study from its plan to its report ---------------------------===//
#include "laboratory/StudyRun.h"
#include "executable/Printable.h"
#include "laboratory/Compare.h"
#include "laboratory/PlanText.h"
#include "laboratory/StudyPlan.h"
#include "laboratory/StudyWatch.h"
#include "laboratory/Table.h"
#include "laboratory/Verdict.h"
#include "laboratory/WorkerProcesses.h"
#include "laboratory/database/RunStore.h"
#include "laboratory/report/Report.h"
#include "runtime/cpu/Threads.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/record/FolderLock.h"
#include "training/record/Progress.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

namespace hybrid::rt::lab {
namespace {

Result<void> finishStudy(const std::string &database, const StudyOptions &options) {
  auto read = readStudy(database);
  if (!read)
    return read.error();
  const Study &study = *read;
  Scoreboard board = scoreStudy(study);
  if (auto done = writeReport(study, board, options.out); !done)
    return done;
  if (!options.printScores)
    return {};
  if (options.json) {
    say("{}\n", jsonText(scoresJson(study, board)));
    return {};
  }
  const Verdict verdict = verdictOf(study, board);
  say("{}{}. {}\n{}/report.html\n", scoreTable(study, board, terminalWidth(STDOUT_FILENO)),
      printable(verdict.title), printable(verdict.text), options.out);
  return {};
}

struct Plan {
  Models models;
  Study study; // without its runs
  Protocol protocol;
};

/// The study that the options describe, grown from one that is in the folder, told on `notes`.
Result<Plan> plan(const StudyOptions &options, std::FILE *notes) {
  auto made = Models::create(options.protocol.precision, options.protocol.device);
  if (!made)
    return made.error();
  Models models = std::move(*made);
  auto choices = chooseModels(options.models, options.settings, options.grids);
  if (!choices)
    return choices.error();
  choices->insert(choices->end(), options.choices.begin(), options.choices.end());
  Protocol protocol = options.protocol;
  const std::string database = options.out + "/study.sqlite";
  std::optional<Study> stored;
  auto begun = options.out.empty() ? Result<bool>(false) : holdsStudy(database);
  if (!begun)
    return begun.error();
  if (*begun) {
    auto opened = openStudy(database, Database::Mode::Write);
    if (!opened)
      return opened.error();
    auto there = loadStudy(**opened, /*curves=*/false);
    if (!there)
      return there.error();
    stored = std::move(*there);
    auto grown = grownProtocol(*stored, protocol, database);
    if (!grown)
      return grown.error();
    protocol = std::move(*grown);
    choices = grownChoices(*stored, *choices);
  }
  auto suite = protocol.settings();
  if (!suite)
    return suite.error();
  auto study = planArchitectures(protocol, *choices, options.version, models);
  if (!study)
    return study.error();
  if (stored)
    if (auto same = requireSameArchitectures(*stored, *study, database); !same)
      return same.error();
  if (!options.quiet)
    say(notes, "{}", optionText(*study));
  if (!options.quiet || options.requireIso != RequireIso::No)
    if (auto done = checkIso(*study, suite->front(), options, notes); !done)
      return done.error();
  std::fflush(notes); // what follows takes seconds
  return Plan{std::move(models), std::move(*study), std::move(protocol)};
}

Result<void> trainStudy(const StudyOptions &options, const WorkerSettings &workers) {
  auto planned = plan(options, stderr);
  if (!planned)
    return planned.error();
  Study &study = planned->study;
  if (auto done = planRuns(study, planned->protocol, planned->models,
                           countingLine(options, "of all settings"));
      !done)
    return done;
  if (auto done = makeFolder(options.out); !done)
    return done;
  auto lock = FolderLock::take(options.out, "help it with its runs by --worker");
  if (!lock)
    return lock.error();
  auto store = RunStore::begin(study, workers.database);
  if (!store)
    return store.error();
  auto left = store->left();
  if (!left)
    return left.error();
  if (!options.quiet)
    say(stderr, "\n{} runs, {} left; {}\n", study.runs.size(), *left, workers.database);
  auto watch = StudyWatch::open(workers.database, options.quiet);
  if (!watch)
    return watch.error();
  auto signal = superviseWorkers(workers, [&] { return watch->show(); });
  if (!signal)
    return signal.error();
  if (auto done = watch->last(); !done)
    return done;
  if (signal->empty())
    return finishStudy(workers.database, options);
  left = store->left();
  if (!left)
    return left.error();
  return Error{fmt::format("stopped by {}; {} runs are left, which the same command will do",
                           *signal, *left)};
}

Result<void> checkModels(const StudyOptions &options) {
  if (options.models.empty() && options.choices.empty())
    return Error{"which architectures? Give .hyb files, as those of models/mad/"};
  return {};
}

} // namespace

Result<void> printStudyPlan(const StudyOptions &options) {
  if (auto done = checkModels(options); !done)
    return done;
  auto planned = plan(options, stdout);
  if (!planned)
    return planned.error();
  return printPlan(planned->study, planned->protocol, options, planned->models);
}

Result<void> runStudy(const StudyOptions &options) {
  const WorkerSettings workers{options.out + "/study.sqlite", options.jobs, options.threads,
                               options.ensemble > 0 ? options.ensemble
                                                    : runsTogether(options.protocol)};
  if (!options.worker && rankOfProcess() == 0) {
    if (auto done = checkModels(options); !done)
      return done;
    return trainStudy(options, workers);
  }
  return helpStudy(workers);
}

Result<void> compareStudies(const std::string &firstPath, const std::string &secondPath,
                            const std::string &out) {
  auto read = [](const std::string &path) {
    return readStudy(std::filesystem::is_directory(path) ? path + "/study.sqlite" : path);
  };
  auto first = read(firstPath), second = read(secondPath);
  for (const auto *study : {&first, &second})
    if (!*study)
      return study->error();
  say("{}", compareText(*first, *second, firstPath, secondPath));
  if (out.empty())
    return {};
  if (auto done = makeFolder(out); !done)
    return done;
  const std::string page = out + "/compare.html";
  if (auto done = writeComparison(*first, *second, page, firstPath, secondPath); !done)
    return done;
  say("{}\n", page);
  return {};
}

} // namespace hybrid::rt::lab
