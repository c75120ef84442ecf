//===- Worker.cpp - claims runs until none is left ----------------------------===//
#include "laboratory/Worker.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace hybrid::rt::lab {
namespace {

/// Tells the database that this worker lives. A connection of its own: one belongs to one thread.
class Heart {
public:
  Heart(RunStore store, double seconds)
      : store(std::move(store)), seconds(seconds), thread([this] { beat(); }) {}
  ~Heart() {
    {
      std::lock_guard lock(mutex);
      ended = true;
    }
    wake.notify_all();
    thread.join();
  }

  void watch(std::vector<int64_t> ids, std::shared_ptr<RunMonitor> monitor) {
    std::lock_guard lock(mutex);
    runs = std::move(ids);
    watched = std::move(monitor);
  }

private:
  void beat() {
    std::unique_lock lock(mutex);
    while (!ended) {
      wake.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ended; });
      if (ended || !watched)
        continue;
      std::vector<std::pair<int64_t, int64_t>> steps;
      for (size_t i = 0; i < runs.size(); ++i)
        steps.emplace_back(runs[i], watched->stepsDone(i));
      lock.unlock();
      // One that is missed does no harm.
      (void)store.heartbeat(steps);
      lock.lock();
    }
  }

  RunStore store;
  double seconds;
  std::mutex mutex;
  std::condition_variable wake;
  bool ended = false;
  std::vector<int64_t> runs;
  std::shared_ptr<RunMonitor> watched;
  std::thread thread;
};

Result<int64_t> finishAll(RunStore &store, const std::vector<Run> &runs) {
  int64_t finished = 0;
  std::vector<int64_t> broken;
  for (const Run &run : runs) {
    if (run.status == "running") {
      broken.push_back(run.id);
      continue;
    }
    auto counted = store.finish(run);
    if (!counted)
      return counted.error();
    finished += *counted;
  }
  if (!broken.empty())
    if (auto done = store.release(broken); !done)
      return done.error();
  return finished;
}

} // namespace

Result<WorkerOutcome> work(const WorkerOptions &options, const RunExecutor &executor) {
  std::string name = workerName();
  auto store = RunStore::open(options.database, name);
  auto second = RunStore::open(options.database, name);
  if (!store)
    return store.error();
  if (!second)
    return second.error();
  Heart heart(std::move(*second), options.heartbeatSeconds);
  WorkerOutcome outcome;
  auto stopping = [&] { return options.stop && options.stop(); };
  while (!(outcome.stopped = stopping())) {
    auto runs = store->claim(options.together);
    if (!runs)
      return runs.error();
    if (runs->empty()) {
      auto left = store->left();
      if (!left)
        return left.error();
      if (*left == 0)
        break;
      auto freed = store->reclaim();
      if (!freed)
        return freed.error();
      if (*freed == 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(options.idleSeconds));
      continue;
    }
    auto monitor = std::make_shared<RunMonitor>(runs->size());
    std::vector<int64_t> ids;
    for (const Run &run : *runs)
      ids.push_back(run.id);
    heart.watch(ids, monitor);
    executor(*runs, *monitor);
    heart.watch({}, nullptr);
    auto finished = finishAll(*store, *runs);
    if (!finished)
      return finished.error();
    outcome.finished += *finished;
  }
  return outcome;
}

} // namespace hybrid::rt::lab
