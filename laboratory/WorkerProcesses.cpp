//===- WorkerProcesses.cpp - worker processes and those who watch them --------------===//
#include "laboratory/WorkerProcesses.h"
#include "laboratory/Models.h"
#include "laboratory/TrainRuns.h"
#include "laboratory/database/RunStore.h"
#include "laboratory/scale/Train.h"
#include "runtime/cpu/Threads.h"
#include "runtime/files/Json.h"
#include "training/Signals.h"
#include "training/compile/Process.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hybrid::rt::lab {

/// Trains the runs of a suite; `models`, which it fills, outlives it.
static Result<RunExecutor> suiteExecutor(const Study &study, int threads,
                                         const std::function<bool()> &stop,
                                         std::optional<Models> &models) {
  auto protocol = Protocol::fromJson(parseJsonOrNull(study.protocol));
  if (!protocol)
    return protocol.error();
  auto made = Models::create(protocol->precision, protocol->device);
  if (!made)
    return made.error();
  models.emplace(std::move(*made));
  for (const Architecture &architecture : study.architectures)
    if (auto done = models->add(architecture); !done)
      return done.error();
  TrainContext context;
  context.protocol = std::move(*protocol);
  context.threads = threads;
  context.stop = stop;
  context.provider = [&models](const ModelRequest &request) { return models->load(request); };
  return trainingExecutor(std::move(context));
}

Result<void> workOn(const WorkerSettings &settings) {
  // Whoever started this process may be killed; nobody would see this one's work then.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  StopSignals signals;
  auto store = RunStore::open(settings.database, workerName());
  if (!store)
    return store.error();
  auto study = store->study(/*curves=*/false);
  if (!study)
    return study.error();
  const std::function<bool()> stop = [&signals] { return signals.received() != nullptr; };
  std::optional<Models> models;
  auto executor = study->suite == scale::suiteName
                      ? scale::scaleExecutor(*study, settings.threads, stop)
                      : suiteExecutor(*study, settings.threads, stop, models);
  if (!executor)
    return executor.error();
  WorkerOptions options;
  options.database = settings.database;
  options.together = settings.together;
  options.stop = stop;
  auto worked = work(options, *executor);
  return worked ? Result<void>() : worked.error();
}

static Result<int64_t> countRuns(const std::string &database) {
  auto study = openStudy(database, Database::Mode::Write);
  if (!study)
    return study.error();
  return (*study)->integer("SELECT count(*) FROM run");
}

/// Waits for the process that plans.
static Result<void> waitForStudy(const std::string &database) {
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

Result<void> helpStudy(const WorkerSettings &settings) {
  if (auto done = waitForStudy(settings.database); !done)
    return done;
  auto signal = superviseWorkers(settings, [] { return Result<void>(); });
  return signal ? Result<void>() : signal.error();
}

Result<std::string> superviseWorkers(const WorkerSettings &settings,
                                     const std::function<Result<void>()> &show,
                                     const std::function<bool()> &stop) {
  constexpr int mostFaults = 3; // workers that gave up, with an error of their own
  StopSignals signals;
  std::string program = settings.program;
  if (program.empty()) {
    std::error_code fault;
    program = std::filesystem::read_symlink("/proc/self/exe", fault).string();
    if (fault)
      return Error{fmt::format("cannot tell which program this is: {}", fault.message())};
  }
  int threads = settings.threads > 0 ? settings.threads
                                     : std::max(1, availableThreads() / std::max(1, settings.jobs));
  std::vector<std::string> arguments{
      "mad",       "--train-claimed-runs",  "--database", settings.database,
      "--threads", std::to_string(threads), "--ensemble", std::to_string(settings.together)};
  auto store = RunStore::open(settings.database, workerName());
  if (!store)
    return store.error();
  std::set<pid_t> workers;
  int faults = 0, killedIdle = 0, killer = 0; // one behind the other, and by which signal the last
  int64_t leftBefore = -1;
  bool told = false;
  for (;;) {
    const char *signal = signals.received();
    if (!signal && stop && stop())
      signal = "";
    auto left = store->left();
    if (!left)
      return left.error();
    if (*left != leftBefore)
      killedIdle = 0, leftBefore = *left;
    if (killedIdle >= mostFaults)
      faults = mostFaults;
    if (!signal && faults < mostFaults)
      while (*left > 0 && workers.size() < static_cast<size_t>(settings.jobs)) {
        auto started = startProgram(program, arguments);
        if (!started)
          return started.error();
        workers.insert(*started);
      }
    if ((signal || faults >= mostFaults) && !told) {
      told = true;
      for (pid_t worker : workers)
        kill(worker, SIGTERM);
    }
    int status = 0;
    for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;)
      if (workers.erase(child)) {
        faults += WIFEXITED(status) && WEXITSTATUS(status) != 0;
        auto freed = store->reclaim(); // what it left is free at once
        if (!freed)
          return freed.error();
        if (*freed > 0)
          killedIdle = 0; // it had begun, and how often a run may fail is the store's matter
        else if (WIFSIGNALED(status) && !told)
          ++killedIdle, killer = WTERMSIG(status);
      }
    if (auto done = show(); !done)
      return done.error();
    if (workers.empty()) {
      if (signal)
        return std::string(signal);
      if (killedIdle >= mostFaults)
        return Error{
            fmt::format("{} workers were killed by signal {} ({}) before they began a run; "
                        "where there is too little memory, use fewer --jobs",
                        killedIdle, killer, strsignal(killer))};
      if (faults >= mostFaults)
        return Error{"the workers gave up; what they said stands above"};
      if (*left == 0)
        return std::string();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(workers.empty() ? 20 : 300));
  }
}

int rankOfProcess() {
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char *value = std::getenv(name); value && *value)
      return std::atoi(value);
  int rank = 0;
  if (const char *value = std::getenv("SLURM_PROCID"); value && *value)
    rank = std::atoi(value);
  // Of an array the first task shows.
  const char *task = std::getenv("SLURM_ARRAY_TASK_ID"),
             *first = std::getenv("SLURM_ARRAY_TASK_MIN");
  if (task && *task)
    rank += std::atoi(task) - (first && *first ? std::atoi(first) : 0);
  return rank;
}

int64_t runsTogether(const Protocol &protocol) {
  constexpr int64_t mostOnGpu = 32;
  auto points = static_cast<int64_t>(protocol.learningRates.size() * protocol.weightDecays.size());
  return protocol.device == "cuda" ? std::min(mostOnGpu, points * protocol.seeds) : 1;
}

} // namespace hybrid::rt::lab
