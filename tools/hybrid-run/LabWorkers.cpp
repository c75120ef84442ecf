//===- LabWorkers.cpp - worker processes and those who watch them ------------------===//
#include "tools/hybrid-run/LabWorkers.h"
#include "laboratory/TrainRuns.h"
#include "laboratory/database/RunStore.h"
#include "runtime/cpu/Parallel.h"
#include "tools/hybrid-run/LabModels.h"
#include "tools/hybrid-run/Process.h"
#include "training/Signals.h"
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hybrid::tools {
namespace lab = rt::lab;

void workOn(const WorkerSettings &settings) {
  // Whoever started this process may be killed; nobody would see this one's work then.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  rt::StopSignals signals;
  auto store = valueOf(lab::RunStore::open(settings.database, lab::workerName()));
  lab::Study study = valueOf(store.study(/*curves=*/false));
  auto json = nlohmann::json::parse(study.protocol, nullptr, false);
  lab::TrainContext context;
  context.protocol = valueOf(lab::Protocol::fromJson(json));
  context.threads = settings.threads;
  context.stop = [&signals] { return signals.received() != nullptr; };
  LabModels models(context.protocol.precision, context.protocol.device);
  for (const lab::Architecture &architecture : study.architectures)
    models.add(architecture);
  context.provider = [&models](const lab::ModelRequest &request) { return models.load(request); };
  lab::WorkerOptions options;
  options.database = settings.database;
  options.together = settings.together;
  options.stop = context.stop;
  valueOf(lab::work(options, lab::trainingExecutor(context)));
}

std::string superviseWorkers(const WorkerSettings &settings, const std::function<void()> &show,
                             const std::function<bool()> &stop) {
  constexpr int mostFaults = 3; // workers that gave up, with an error of their own
  rt::StopSignals signals;
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  int threads = settings.threads > 0
                    ? settings.threads
                    : std::max(1, rt::availableThreads() / std::max(1, settings.jobs));
  std::vector<std::string> arguments{
      "mad",       "--train-claimed-runs",  "--database", settings.database,
      "--threads", std::to_string(threads), "--ensemble", std::to_string(settings.together)};
  auto store = valueOf(lab::RunStore::open(settings.database, lab::workerName()));
  std::set<pid_t> workers;
  int faults = 0;
  bool told = false;
  for (;;) {
    const char *signal = signals.received();
    if (!signal && stop && stop())
      signal = "";
    int64_t left = valueOf(store.left());
    if (!signal && faults < mostFaults)
      while (left > 0 && workers.size() < static_cast<size_t>(settings.jobs))
        workers.insert(startProgram(self, arguments));
    if ((signal || faults >= mostFaults) && !told) {
      told = true;
      for (pid_t worker : workers)
        kill(worker, SIGTERM);
    }
    int status = 0;
    for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;)
      if (workers.erase(child)) {
        faults += WIFEXITED(status) && WEXITSTATUS(status) != 0;
        valueOf(store.reclaim()); // what it left is free at once
      }
    show();
    if (workers.empty()) {
      if (signal)
        return signal;
      if (faults >= mostFaults)
        throw Failure("the workers gave up; what they said stands above");
      if (left == 0)
        return "";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(workers.empty() ? 20 : 300));
  }
}

} // namespace hybrid::tools
