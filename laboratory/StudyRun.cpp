//===- StudyRun.cpp - a study from its plan to its report ---------------------------===//
#include "laboratory/StudyRun.h"
#include "executable/Printable.h"
#include "laboratory/Columns.h"
#include "laboratory/Compare.h"
#include "laboratory/IsoCheck.h"
#include "laboratory/StudyPlan.h"
#include "laboratory/StudyWatch.h"
#include "laboratory/Table.h"
#include "laboratory/Verdict.h"
#include "laboratory/WorkerProcesses.h"
#include "laboratory/database/RunStore.h"
#include "laboratory/report/Report.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/Signals.h"
#include "training/record/FolderLock.h"
#include "training/record/Progress.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <thread>
#include <unistd.h>

namespace hybrid::rt::lab {
namespace {

std::string optionText(const Study &study) {
  size_t width = 0;
  for (const auto &[name, value] : study.options)
    width = std::max(width, name.size());
  std::string text;
  for (const auto &[name, value] : study.options)
    text += fmt::format("{:<{}}  {}\n", name, width, value);
  return text;
}

/// Costs and what differs; on standard error, as all that is not the result.
Result<void> checkIso(const Study &study, const StudyOptions &options, std::FILE *stream) {
  const Run &first = study.runs.front();
  say(stream, "\nfor {}\n{}", first.setting,
      costTable(study.architectures, terminalWidth(fileno(stream))));
  auto differences = isoDifferences(study.architectures, options.isoTolerance);
  if (differences.empty())
    say(stream, "parameters and state are alike within {:.0f} %\n", 100 * options.isoTolerance);
  for (const std::string &difference : differences)
    say(stream, "warning: {}\n", difference);
  if (!differences.empty() && options.requireIso)
    return Error{fmt::format("--require-iso: {} differences beyond {:.0f} % (--iso-tolerance)",
                             differences.size(), 100 * options.isoTolerance)};
  return {};
}

Result<void> printPlan(const Study &study, const StudyOptions &options, Models &models) {
  TrainContext context;
  context.protocol = options.protocol;
  context.threads =
      options.threads > 0 || options.jobs == 1
          ? options.threads
          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / options.jobs);
  context.provider = [&](const ModelRequest &request) { return models.load(request); };
  // One setting of each architecture is measured, and the others taken to be as much slower as they
  // have more FLOPs: a plan of hundreds of settings is to be there in seconds.
  struct Measured {
    StepTimes times;
    double flops = 0; // of a step
  };
  std::map<std::string, Measured> measured;
  std::vector<std::vector<std::string>> rows{
      {"architecture, setting", "runs", "updates", "FLOPs a run", "step", "time a run"}};
  double flops = 0, seconds = 0;
  for (size_t i = 0; i < study.runs.size();) {
    const Run &run = study.runs[i];
    size_t end = i;
    while (end < study.runs.size() && study.runs[end].architecture == run.architecture &&
           study.runs[end].setting == run.setting)
      ++end;
    auto setting = Setting::parse(run.setting, options.protocol.convention);
    if (!setting)
      return setting.error();
    const double stepFlops = trainingFlops(run) / static_cast<double>(run.steps);
    auto [place, isNew] = measured.try_emplace(run.architecture);
    if (isNew) {
      if (!options.quiet && isatty(STDERR_FILENO))
        say(stderr, "\r\033[Kmeasuring {} {}", run.architecture, run.task);
      else if (!options.quiet)
        say(stderr, "measuring {} {}\n", run.architecture, run.task);
      auto times = measureSteps(context, {run.architecture, *setting, run.batch, /*replicas=*/1});
      if (!times)
        return times.error();
      place->second = {*times, stepFlops};
    }
    const double scale = stepFlops / place->second.flops;
    const StepTimes times{scale * place->second.times.step, scale * place->second.times.evaluation};
    double each = runSeconds(options.protocol, *setting, times);
    auto count = static_cast<double>(end - i);
    std::string where = run.axis == "baseline"
                            ? run.task
                            : fmt::format("{} {}={}", run.task, run.axis, run.axisValue);
    rows.push_back({run.architecture + " " + where, std::to_string(end - i),
                    std::to_string(run.steps), fmt::format("{:.3g}", trainingFlops(run)),
                    fmt::format("{:.0f} ms", times.step * 1e3), clockText(each)});
    flops += count * trainingFlops(run);
    seconds += count * each;
    i = end;
  }
  if (!options.quiet && isatty(STDERR_FILENO))
    say(stderr, "\r\033[K");
  say("\n{}", alignColumns(rows, 0));
  say("\n{} runs, {:.3g} FLOPs, {} with {} process{} on this machine as it is now (each "
      "architecture's first setting is measured, others by their FLOPs); solved runs end "
      "earlier\n",
      study.runs.size(), flops, clockText(seconds / std::max(1, options.jobs)), options.jobs,
      options.jobs == 1 ? "" : "es");
  return {};
}

Result<int64_t> countRuns(const std::string &database) {
  auto study = openStudy(database, Database::Mode::Write);
  if (!study)
    return study.error();
  return (*study)->integer("SELECT count(*) FROM run");
}

/// Waits for the process that plans.
Result<void> waitForStudy(const std::string &database) {
  constexpr int mostSeconds = 3600;
  constexpr int mostFaults = 3; // while it is being made, it is not yet what it will be
  int faults = 0;
  StopSignals signals;
  for (int second = 0;; ++second) {
    std::error_code unknown;
    if (auto bytes = std::filesystem::file_size(database, unknown); !unknown && bytes > 0) {
      auto runs = countRuns(database);
      if (runs && *runs > 0)
        return {};
      faults = runs ? 0 : faults + 1;
      if (faults == mostFaults)
        return runs.error();
    }
    if (const char *signal = signals.received())
      return Error{fmt::format("stopped by {}", signal)};
    if (second == mostSeconds)
      return Error{fmt::format("'{}' has no study after an hour of waiting for the process of rank "
                               "0, which plans it",
                               database)};
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

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

/// The study that the options describe, grown from one that is in the folder, told on `notes`.
Result<Study> plannedStudy(const StudyOptions &options, Models &models, std::FILE *notes) {
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
  auto study = planStudy(protocol, *choices, options.version, models);
  if (study && stored)
    if (auto same = requireSameArchitectures(*stored, *study, database); !same)
      return same.error();
  if (!study)
    return study;
  if (!options.quiet)
    say(notes, "{}", optionText(*study));
  if (!options.quiet || options.requireIso)
    if (auto done = checkIso(*study, options, notes); !done)
      return done.error();
  return study;
}

/// Puts the study, or what is new of it, into its database; failed runs are tried again.
Result<RunStore> openRuns(const Study &study, const std::string &database) {
  {
    auto stored = openStudy(database, Database::Mode::Create);
    if (!stored)
      return stored.error();
    if (auto done = growStudy(**stored, study); !done)
      return done.error();
  }
  auto store = RunStore::open(database, workerName());
  if (!store)
    return store;
  if (auto freed = store->reclaim(); !freed)
    return freed.error();
  if (auto again = store->retryFailed(); !again) // whatever made them fail may be put right
    return again.error();
  return store;
}

struct Plan {
  Models models;
  Study study;
};
Result<Plan> plan(const StudyOptions &options, std::FILE *notes) {
  auto models = Models::create(options.protocol.precision, options.protocol.device);
  if (!models)
    return models.error();
  auto study = plannedStudy(options, *models, notes);
  if (!study)
    return study.error();
  return Plan{std::move(*models), std::move(*study)};
}

Result<void> trainStudy(const StudyOptions &options, const WorkerSettings &workers) {
  auto planned = plan(options, stderr);
  if (!planned)
    return planned.error();
  const Study &study = planned->study;
  if (auto done = makeFolder(options.out); !done)
    return done;
  auto lock = FolderLock::take(options.out, "help it with its runs by --worker");
  if (!lock)
    return lock.error();
  auto store = openRuns(study, workers.database);
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
  return printPlan(planned->study, options, planned->models);
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
  if (auto done = waitForStudy(workers.database); !done)
    return done;
  auto signal = superviseWorkers(workers, [] { return Result<void>(); });
  return signal ? Result<void>() : signal.error();
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
