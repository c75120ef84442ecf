//===- Mad.cpp - hybrid-run mad: a verdict on architectures ------------------------===//
#include "laboratory/Columns.h"
#include "laboratory/IsoCheck.h"
#include "laboratory/Table.h"
#include "laboratory/database/RunStore.h"
#include "laboratory/report/Comparison.h"
#include "laboratory/report/Report.h"
#include "tools/hybrid-run/LabStudy.h"
#include "tools/hybrid-run/LabWorkers.h"
#include "tools/hybrid-run/ProtocolArgument.h"
#include "training/record/Progress.h"
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace hybrid::tools {
namespace lab = rt::lab;

namespace {

struct MadArguments {
  std::vector<std::string> models, compare, settings;
  std::string out;
  ProtocolArgument protocol;
  int jobs = 1, threads = 0;
  int64_t ensemble = 0;
  double isoTolerance = 0.25;
  bool requireIso = false, dryRun = false, json = false, quiet = false, worker = false;
  // Of the worker processes that this program starts.
  bool trainClaimedRuns = false;
  std::string database;
};

int terminalWidth(int descriptor) {
  winsize size{};
  return isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// The state of a study on standard error: a table that rewrites itself, or a line a run.
class Watch {
public:
  Watch(const std::string &database, bool quiet)
      : store(valueOf(lab::RunStore::open(database, lab::workerName()))), quiet(quiet) {
    const char *term = std::getenv("TERM");
    terminal = isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb";
    for (const lab::Run &run : valueOf(store.study(false)).runs)
      if (run.status == "done" || run.status == "failed")
        told.insert(run.id);
  }

  void show() {
    auto now = std::chrono::steady_clock::now();
    if (quiet || (shown && now - *shown < std::chrono::milliseconds(900)))
      return;
    shown = now;
    lab::Study study = valueOf(store.study(false));
    if (terminal) {
      clear();
      std::string table = lab::progressTable(study, terminalWidth(STDERR_FILENO));
      lines = std::count(table.begin(), table.end(), '\n');
      fmt::print(stderr, "{}", table);
    } else {
      for (const lab::Run &run : study.runs)
        if ((run.status == "done" || run.status == "failed") && told.insert(run.id).second)
          fmt::print(stderr, "{}\n", lab::runLine(study, run, told.size()));
    }
    std::fflush(stderr);
  }
  void last() {
    shown.reset();
    show();
    if (terminal)
      clear();
  }

private:
  void clear() {
    if (lines > 0)
      fmt::print(stderr, "\033[{}A\033[J", lines);
    lines = 0;
  }

  lab::RunStore store;
  bool quiet, terminal = false;
  std::set<int64_t> told;
  std::optional<std::chrono::steady_clock::time_point> shown;
  int64_t lines = 0;
};

std::string optionText(const lab::Study &study) {
  size_t width = 0;
  for (const auto &[name, value] : study.options)
    width = std::max(width, name.size());
  std::string text;
  for (const auto &[name, value] : study.options)
    text += fmt::format("{:<{}}  {}\n", name, width, value);
  return text;
}

/// Costs and what differs; on standard error, as all that is not the result.
void checkIso(const lab::Study &study, const MadArguments &arguments, std::FILE *stream) {
  const lab::Run &first = study.runs.front();
  fmt::print(stream, "\nfor {}\n{}", first.setting,
             lab::costTable(study.architectures, terminalWidth(fileno(stream))));
  auto differences = lab::isoDifferences(study.architectures, arguments.isoTolerance);
  if (differences.empty())
    fmt::print(stream, "parameters and state are alike within {:.0f} %\n",
               100 * arguments.isoTolerance);
  for (const std::string &difference : differences)
    fmt::print(stream, "warning: {}\n", difference);
  if (!differences.empty() && arguments.requireIso)
    throw Failure(fmt::format("--require-iso: {} differences beyond {:.0f} % (--iso-tolerance)",
                              differences.size(), 100 * arguments.isoTolerance));
}

/// What would be done, with the time that a few steps of each shape predict.
void printPlan(const lab::Study &study, const lab::Protocol &protocol,
               const MadArguments &arguments, LabModels &models) {
  lab::TrainContext context;
  context.protocol = protocol;
  context.threads =
      arguments.threads > 0 || arguments.jobs == 1
          ? arguments.threads
          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / arguments.jobs);
  context.provider = [&](const lab::ModelRequest &request) { return models.load(request); };
  std::map<std::string, lab::StepTimes> shapes;
  std::vector<std::vector<std::string>> rows{
      {"architecture, setting", "runs", "updates", "FLOPs a run", "step", "time a run"}};
  double flops = 0, seconds = 0;
  for (size_t i = 0; i < study.runs.size();) {
    const lab::Run &run = study.runs[i];
    size_t end = i;
    while (end < study.runs.size() && study.runs[end].architecture == run.architecture &&
           study.runs[end].setting == run.setting)
      ++end;
    auto setting = valueOf(lab::Setting::parse(run.setting, protocol.convention));
    auto [times, isNew] = shapes.try_emplace(fmt::format(
        "{} {} {} {}", run.architecture, setting.vocabulary, setting.positions, setting.fromLast));
    if (isNew) {
      if (isatty(STDERR_FILENO))
        fmt::print(stderr, "\r\033[Kmeasuring {} {}", run.architecture, run.task);
      times->second = valueOf(
          lab::measureSteps(context, {run.architecture, setting, run.batch, /*replicas=*/1}));
    }
    double each = lab::runSeconds(protocol, setting, times->second);
    auto count = static_cast<double>(end - i);
    std::string where = run.axis == "baseline"
                            ? run.task
                            : fmt::format("{} {}={}", run.task, run.axis, run.axisValue);
    rows.push_back({run.architecture + " " + where, std::to_string(end - i),
                    std::to_string(run.steps), fmt::format("{:.3g}", lab::trainingFlops(run)),
                    fmt::format("{:.0f} ms", times->second.step * 1e3), rt::clockText(each)});
    flops += count * lab::trainingFlops(run);
    seconds += count * each;
    i = end;
  }
  if (isatty(STDERR_FILENO))
    fmt::print(stderr, "\r\033[K");
  fmt::print("\n{}", lab::alignColumns(rows, 0));
  fmt::print("\n{} runs, {:.3g} FLOPs, {} with {} process{} on this machine as it is now; solved "
             "runs end earlier\n",
             study.runs.size(), flops, rt::clockText(seconds / std::max(1, arguments.jobs)),
             arguments.jobs, arguments.jobs == 1 ? "" : "es");
}

/// Waits for the process that plans.
void waitForStudy(const std::string &database) {
  constexpr int mostSeconds = 3600;
  for (int second = 0;; ++second) {
    auto study = lab::openStudy(database, lab::Database::Mode::Write);
    if (study)
      if (auto runs = (*study)->integer("SELECT count(*) FROM run"); runs && *runs > 0)
        return;
    if (second == mostSeconds)
      throw Failure(
          fmt::format("'{}' has no study after an hour of waiting for the process of rank "
                      "0, which plans it",
                      database));
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

void compareStudies(const MadArguments &arguments) {
  auto database = [](const std::string &folder) {
    return std::filesystem::is_directory(folder) ? folder + "/study.sqlite" : folder;
  };
  lab::Study first = valueOf(lab::readStudy(database(arguments.compare[0]))),
             second = valueOf(lab::readStudy(database(arguments.compare[1])));
  fmt::print("{}", lab::compareText(first, second, arguments.compare[0], arguments.compare[1]));
  if (arguments.out.empty())
    return;
  std::filesystem::create_directories(arguments.out);
  std::string page = arguments.out + "/compare.html";
  require(lab::writeComparison(first, second, page, arguments.compare[0], arguments.compare[1]));
  fmt::print("{}\n", page);
}

void finishStudy(const std::string &database, const MadArguments &arguments) {
  lab::Study study = valueOf(lab::readStudy(database));
  lab::Scoreboard board = lab::scoreStudy(study);
  std::string page = arguments.out + "/report.html";
  require(lab::writeReport(study, board, page));
  if (arguments.json)
    fmt::print("{}\n", lab::scoresJson(study, board).dump(2));
  else
    fmt::print("{}{}\n", lab::scoreTable(study, board, terminalWidth(STDOUT_FILENO)), page);
}

void runStudy(const MadArguments &arguments) {
  lab::Protocol protocol = arguments.protocol.protocol();
  std::string database = arguments.out + "/study.sqlite";
  WorkerSettings workers{database, arguments.jobs, arguments.threads,
                         arguments.ensemble > 0 ? arguments.ensemble : runsTogether(protocol)};
  if (!arguments.dryRun && (arguments.worker || rankOfProcess() != 0)) {
    waitForStudy(database);
    superviseWorkers(workers, [] {});
    return;
  }
  if (arguments.models.empty())
    throw Failure("which architectures? Give .hyb files, as those of models/mad/");
  LabModels models(protocol.precision, protocol.device);
  lab::Study study = planStudy(protocol, arguments.models, arguments.settings, models);
  std::FILE *notes = arguments.dryRun ? stdout : stderr;
  if (!arguments.quiet)
    fmt::print(notes, "{}", optionText(study));
  if (!arguments.quiet || arguments.requireIso)
    checkIso(study, arguments, notes);
  if (arguments.dryRun)
    return printPlan(study, protocol, arguments, models);
  std::error_code fault;
  std::filesystem::create_directories(arguments.out, fault);
  if (fault)
    throw Failure(fmt::format("cannot make the folder '{}': {}", arguments.out, fault.message()));
  {
    auto stored = valueOf(lab::openStudy(database, lab::Database::Mode::Create));
    require(lab::storeStudy(*stored, study));
    requireSameStudy(valueOf(lab::loadStudy(*stored, /*curves=*/false)), study, database);
  }
  auto store = valueOf(lab::RunStore::open(database, lab::workerName()));
  valueOf(store.reclaim());
  valueOf(store.retryFailed()); // whatever made them fail may be put right
  if (!arguments.quiet)
    fmt::print(stderr, "\n{} runs, {} left; {}\n", study.runs.size(), valueOf(store.left()),
               database);
  Watch watch(database, arguments.quiet);
  std::string signal = superviseWorkers(workers, [&] { watch.show(); });
  watch.last();
  if (!signal.empty())
    throw Failure(fmt::format("stopped by {}; {} runs are left, which the same command will do",
                              signal, valueOf(store.left())));
  finishStudy(database, arguments);
}

} // namespace

void addMad(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "mad", "train architectures on the MAD suite and say how good they are at each task");
  auto arguments = std::make_shared<MadArguments>();
  MadArguments &a = *arguments;
  verb->add_option("models", a.models, "architectures (.hyb)");
  verb->add_option("--out", a.out, "folder of the study; one that is there is continued");
  verb->add_option("--compare", a.compare, "two studies side by side: folders or databases")
      ->expected(2);
  a.protocol.addTo(*verb);
  verb->add_option("--set", a.settings, "NAME=VALUE: a parameter of every model; may be repeated")
      ->allow_extra_args(false);
  auto *work = verb->add_option_group("Work");
  work->add_option("--jobs", a.jobs, "processes that train")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  work->add_option("--threads", a.threads, "threads of each; 0: an equal share")
      ->check(CLI::Range(0, 4096));
  work->add_option("--ensemble", a.ensemble,
                   "runs of a setting that train as one program; 0: 1 on the CPU, on a GPU all of "
                   "them")
      ->check(CLI::Range(0, 4096));
  work->add_flag("--worker", a.worker,
                 "only train runs of the study in --out that another process began");
  work->add_flag("--dry-run", a.dryRun, "say what would be done and how long it takes; no results");
  verb->add_option("--iso-tolerance", a.isoTolerance, "share by which architectures may differ")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  verb->add_flag("--require-iso", a.requireIso, "more than that is an error");
  verb->add_flag("--json", a.json, "the scores as JSON");
  verb->add_flag("--quiet", a.quiet, "no progress on standard error");
  verb->add_flag("--train-claimed-runs", a.trainClaimedRuns)->group("");
  verb->add_option("--database", a.database)->group("");
  verb->callback([arguments] {
    if (arguments->trainClaimedRuns)
      return workOn(
          {arguments->database, 1, arguments->threads, std::max<int64_t>(1, arguments->ensemble)});
    if (!arguments->compare.empty())
      return compareStudies(*arguments);
    if (arguments->out.empty() && !arguments->dryRun)
      throw Failure("--out: where shall the study be?");
    runStudy(*arguments);
  });
}

} // namespace hybrid::tools
