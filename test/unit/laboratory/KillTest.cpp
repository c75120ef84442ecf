//===- KillTest.cpp - workers killed at random ---------------------------------===//
//
// Thousands of runs that take no time, workers that are killed in the middle of whatever they do:
// every run is done, and done once. HYBRID_LAB_RUNS sets how many (tools/check --long: 10000).
//
//===----------------------------------------------------------------------===//
#include "laboratory/Worker.h"
#include "laboratory/WorkerProcesses.h"
#include "test/unit/laboratory/Fixture.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <random>
#include <sys/wait.h>
#include <thread>

namespace hybrid::rt::lab {
namespace {

/// The outcome is a function of the run, as in training.
double outcomeOf(const Run &run) {
  return static_cast<double>(run.id % 97) / 97 + run.learningRate * static_cast<double>(run.seed);
}

void pretend(std::span<Run> runs, RunMonitor &monitor) {
  for (size_t i = 0; i < runs.size(); ++i) {
    Run &run = runs[i];
    run.stepsDone = run.bestStep = run.steps;
    run.accuracy = outcomeOf(run);
    run.madAccuracy = outcomeOf(run) / 2;
    run.curve = {{run.steps / 2, 2, 0, 0}, {run.steps, 1, run.accuracy, run.madAccuracy}};
    run.status = "done";
    monitor.report(i, run.steps);
  }
}

pid_t startWorker(const std::string &path, int64_t together) {
  pid_t child = fork();
  if (child != 0)
    return child;
  auto outcome = work({path, together, 0.02, 0.005, {}}, pretend);
  if (!outcome)
    std::fprintf(stderr, "worker: %s\n", outcome.error().message.c_str());
  _exit(outcome ? 0 : 1);
}

TEST(Kill, EveryRunIsDoneExactlyOnce) {
  const char *wanted = std::getenv("HYBRID_LAB_RUNS");
  int runs = wanted ? std::atoi(wanted) : 2000;
  TemporaryFolder folder;
  std::string path = folder.file("study.sqlite");
  int seeds = std::max(1, runs / 80); // 2 architectures x 20 settings x 2 rates
  storeAt(path, makeStudy(20, seeds));
  { // keeps a book of what was finished, in the same transaction
    auto database = Database::open(path, Database::Mode::Write);
    ASSERT_TRUE((*database)->execute(
        "CREATE TABLE book(run); CREATE TRIGGER keep AFTER UPDATE OF status ON run WHEN new.status "
        "IN ('done', 'failed') BEGIN INSERT INTO book VALUES(new.id); END"));
  }
  auto begin = std::chrono::steady_clock::now();
  std::mt19937 random(3);
  std::map<pid_t, bool> workers; // whether it was killed
  constexpr size_t atOnce = 4;
  int killed = 0, failures = 0;
  auto store = RunStore::open(path, workerName());
  ASSERT_TRUE(store) << store.error().message;
  auto all = store->left();
  ASSERT_TRUE(all) << all.error().message;
  for (;;) {
    auto left = store->left();
    ASSERT_TRUE(left) << left.error().message;
    while (*left > 0 && workers.size() < atOnce)
      workers[startWorker(path, 1 + static_cast<int64_t>(random() % 4))] = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
    // In proportion to what is done: on a busy machine most would be killed before they begin.
    if (*left > 0 && !workers.empty() && killed < 20 + (*all - *left) / 4) {
      auto victim = std::next(workers.begin(), static_cast<long>(random() % workers.size()));
      kill(victim->first, SIGKILL);
      victim->second = true;
      ++killed;
    }
    int status = 0;
    for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
      failures += !workers[child] && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      workers.erase(child);
    }
    if (*left == 0 && workers.empty())
      break;
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(failures, 0);
  auto study = readStudy(path);
  ASSERT_TRUE(study) << study.error().message;
  for (const lab::Run &run : study->runs) {
    ASSERT_EQ(run.status, "done") << run.id << ": " << run.error;
    ASSERT_EQ(run.accuracy, outcomeOf(run));
    ASSERT_EQ(run.curve.size(), 2U);
  }
  auto database = Database::open(path, Database::Mode::Write);
  EXPECT_EQ(*(*database)->integer("SELECT count(*) FROM book"),
            static_cast<int64_t>(study->runs.size()));
  EXPECT_EQ(*(*database)->integer("SELECT count(DISTINCT run) FROM book"),
            static_cast<int64_t>(study->runs.size()));
  std::printf("%zu runs, %d workers killed, %.1f s\n", study->runs.size(), killed, seconds);
}

/// Where nothing can run, as without memory for it, nobody starts workers for ever.
TEST(Kill, WorkersThatNeverBeginAreGivenUp) {
  TemporaryFolder folder;
  std::string path = folder.file("study.sqlite"), program = folder.file("dies");
  storeAt(path, makeStudy(1, 3));
  {
    std::ofstream script(program);
    script << "#!/bin/sh\necho began >> " << folder.file("begun") << "\nkill -KILL $$\n";
  }
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  WorkerSettings settings;
  settings.database = path, settings.jobs = 2, settings.program = program;
  auto ended = superviseWorkers(settings, [] { return Result<void>(); });
  ASSERT_FALSE(ended);
  EXPECT_THAT(
      ended.error().message,
      testing::ContainsRegex("workers were killed by signal 9 \\(Killed\\) before they began"));
  std::ifstream begun(folder.file("begun"));
  EXPECT_LE(std::count(std::istreambuf_iterator<char>(begun), {}, '\n'), 6);
}

TEST(Kill, AWorkerThatIsAskedToStopGivesItsRunsBack) {
  TemporaryFolder folder;
  std::string path = folder.file("study.sqlite");
  storeAt(path, makeStudy(1, 3));
  bool asked = false;
  auto outcome = work({path, 3, 5, 0.01, [&] { return asked; }},
                      [&](std::span<lab::Run> runs, RunMonitor &monitor) {
                        pretend(runs.first(1), monitor);
                        asked = true;
                      });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->stopped);
  EXPECT_EQ(outcome->finished, 1);
  auto study = readStudy(path);
  EXPECT_EQ(study->runs[0].status, "done");
  EXPECT_EQ(study->runs[1].status, "pending");
  EXPECT_EQ(study->runs[1].attempts, 0);
}

} // namespace
} // namespace hybrid::rt::lab
