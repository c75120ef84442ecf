//===- Run.cpp - a scaling study from its plan to its laws ----------------------------===//
#include "laboratory/scale/Run.h"
#include "executable/Printable.h"
#include "laboratory/WorkerProcesses.h"
#include "laboratory/database/RunStore.h"
#include "laboratory/scale/Architectures.h"
#include "laboratory/scale/FitReport.h"
#include "laboratory/scale/StudyPage.h"
#include "laboratory/scale/Train.h"
#include "runtime/cpu/Threads.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/data/DataChoice.h"
#include "training/record/FolderLock.h"
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace hybrid::rt::lab::scale {
namespace {

/// What a study needs beside its plan.
struct Planned {
  ScaleProtocol protocol;
  std::vector<PlannedRun> runs;
};

/// Asks the data for their vocabulary, sets the models, and counts every run.
Result<Planned> planOf(ScaleOptions &options) {
  PlanOptions &plan = options.plan;
  ScaleProtocol protocol{plan.data,      plan.length, plan.method,   plan.precision,
                         plan.processor, 0,           plan.baseWidth};
  if (!plan.data.empty()) {
    DataChoice data;
    data.data = {plan.data};
    auto source = data.open(plan.length, plan.seed);
    if (!source)
      return source.error();
    plan.vocabulary = (*source)->vocabulary();
    const auto wanted = static_cast<uint64_t>((options.evalTokens + plan.length - 1) / plan.length);
    const uint64_t there = (*source)->testExamples();
    protocol.evalExamples = there ? std::min(there, wanted) : wanted;
  }
  std::vector<double> budgets = plan.budgets;
  std::sort(budgets.begin(), budgets.end());
  if (plan.sweeps.budget == 0)
    plan.sweeps.budget = budgets[(budgets.size() - 1) / 2];
  if (!std::binary_search(budgets.begin(), budgets.end(), plan.sweeps.budget))
    return Error{fmt::format("--sweep-budget {:.6g}: sweeps lie beside trainings of the plan, and "
                             "--budgets has none of so many FLOPs",
                             plan.sweeps.budget)};
  if (auto done = prepareArchitectures(plan); !done)
    return done.error();
  auto runs = planRuns(plan, compilerCosts(plan));
  if (!runs)
    return runs.error();
  return Planned{std::move(protocol), std::move(*runs)};
}

/// How much smaller than the best a model is of which it is said what it costs.
std::vector<double> smallerOf(const ScaleOptions &options) {
  const std::vector<double> &wanted = options.plan.sweeps.overtrain;
  return wanted.empty() ? std::vector<double>{2, 4, 8} : wanted;
}

int threadsEach(const ScaleOptions &options) {
  return options.threads > 0 ? options.threads
                             : std::max(1, availableThreads() / std::max(1, options.jobs));
}

/// Tells of runs that came to their ends, and keeps the files of the study up to date.
class Watch {
public:
  Watch(RunStore store, const ScaleOptions &options) : store(std::move(store)), options(options) {}

  Result<void> show() {
    const auto now = std::chrono::steady_clock::now();
    if (looked && now - *looked < std::chrono::seconds(1))
      return {};
    looked = now;
    auto study = store.study(/*curves=*/false);
    if (!study)
      return study.error();
    const std::vector<TrainedRun> runs = trainedRuns(*study);
    size_t over = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i].isDone() && runs[i].status != "failed")
        continue;
      ++over;
      if (told.insert(i).second && isBegun && !options.quiet)
        say(stderr, "{}", printable(lineOf(runs[i], told.size(), runs.size())));
    }
    isBegun = true;
    if (over == written || (wrote && now - *wrote < std::chrono::seconds(10)))
      return {};
    written = over;
    wrote = now;
    FitOptions quick = options.fit;
    quick.bootstrap.samples = 0;
    auto page = writeStudy(*study, runs, quick, smallerOf(options), options.out);
    return page ? Result<void>() : page.error();
  }

  /// Tells of what was not told of yet, at once.
  Result<void> last() {
    looked.reset();
    return show();
  }

private:
  static std::string lineOf(const TrainedRun &run, size_t number, size_t all) {
    std::string text = fmt::format("{}/{} {}: ", number, all, nameOf(run));
    if (!run.isDone())
      return text + run.error + "\n";
    return text + fmt::format("loss {:.4f} in {:.1f} s{}\n", run.point.loss, run.seconds,
                              run.retried ? ", with half the rate: it had diverged" : "");
  }

  RunStore store;
  const ScaleOptions &options;
  std::set<size_t> told;
  bool isBegun = false;
  size_t written = 0;
  std::optional<std::chrono::steady_clock::time_point> looked, wrote;
};

Result<void> finish(const ScaleOptions &options, const std::string &database) {
  auto study = readStudy(database);
  if (!study)
    return study.error();
  const std::vector<TrainedRun> runs = trainedRuns(*study);
  auto page = writeStudy(*study, runs, options.fit, smallerOf(options), options.out);
  if (!page)
    return page.error();
  for (const std::string &warning : page->warnings)
    say(stderr, "warning: {}\n", printable(warning));
  if (options.json)
    say("{}\n", jsonText(page->json));
  else
    say("{}{}/report.html\n", printable(page->text), options.out);
  return {};
}

} // namespace

Result<void> printScalePlan(ScaleOptions options) {
  auto planned = planOf(options);
  if (!planned)
    return planned.error();
  const PlanOptions &plan = options.plan;
  if (options.commands) {
    for (const PlannedRun &run : planned->runs)
      say("{}\n", commandOf(plan, run));
    return {};
  }
  std::string measured;
  if (!plan.device && !plan.data.empty()) {
    auto memory = memoryOf(plan.processor);
    if (!memory)
      return memory.error();
    if (auto fits = checkMemory(planned->runs, options.jobs, *memory); !fits)
      return fits;
    auto told = [&](const PlannedRun &run) {
      if (!options.quiet)
        say(stderr, "measuring {} of size {} with a batch of {}\n", run.architecture, run.size,
            run.batch);
    };
    const int threads = threadsEach(options);
    if (auto done = measurePlan(planned->protocol, threads, planned->runs, told); !done)
      return done;
    measured = fmt::format("times are of steps measured on this machine, with {} thread{} each",
                           threads, threads == 1 ? "" : "s");
  }
  if (options.json)
    say("{}\n", jsonText(planJson(plan, planned->runs)));
  else
    say("{}", printable(planText(plan, planned->runs, options.jobs, measured)));
  return {};
}

Result<void> runScale(ScaleOptions options) {
  const WorkerSettings workers{options.out + "/study.sqlite", options.jobs, options.threads,
                               /*together=*/1};
  if (options.worker || rankOfProcess() != 0)
    return helpStudy(workers);
  if (options.plan.data.empty())
    return Error{"--data: on which text shall they train?"};
  auto planned = planOf(options);
  if (!planned)
    return planned.error();
  auto memory = memoryOf(options.plan.processor);
  if (!memory)
    return memory.error();
  if (auto fits = checkMemory(planned->runs, options.jobs, *memory); !fits)
    return fits;
  auto study = studyOf(planned->protocol, planned->runs, options.version, options.plan.seed);
  if (!study)
    return study.error();
  if (auto done = makeFolder(options.out); !done)
    return done;
  auto lock = FolderLock::take(options.out, "help it with its runs by --worker");
  if (!lock)
    return lock.error();
  auto begun = holdsStudy(workers.database);
  if (!begun)
    return begun.error();
  if (*begun) {
    auto stored = readStudy(workers.database);
    if (!stored)
      return stored.error();
    study = grownStudy(*stored, std::move(*study), workers.database);
    if (!study)
      return study.error();
  }
  auto store = RunStore::begin(*study, workers.database);
  if (!store)
    return store.error();
  auto left = store->left();
  if (!left)
    return left.error();
  if (!options.quiet)
    say(stderr, "{} runs planned, {} left; {}\n", study->runs.size(), *left, workers.database);
  auto watched = RunStore::open(workers.database, workerName());
  if (!watched)
    return watched.error();
  Watch watch(std::move(*watched), options);
  auto signal = superviseWorkers(workers, [&] { return watch.show(); });
  if (!signal)
    return signal.error();
  if (auto done = watch.last(); !done)
    return done;
  if (signal->empty())
    return finish(options, workers.database);
  left = store->left();
  if (!left)
    return left.error();
  return Error{fmt::format("stopped by {}; {} runs are left, which the same command will do",
                           *signal, *left)};
}

} // namespace hybrid::rt::lab::scale
