//===- ResultsTest.cpp - databases and scores ----------------------------------===//
#include "laboratory/database/RunStore.h"
#include "laboratory/report/Report.h"
#include "test/unit/laboratory/Fixture.h"
#include <fmt/format.h>
#include <fstream>

namespace hybrid::rt::lab {
namespace {

TEST(Results, AStudyComesBackAsItWasStored) {
  TemporaryFolder folder;
  Study study = makeStudy(4, 2);
  study.runs[0].seed = ~uint64_t{0};
  storeAt(folder.file("study.sqlite"), study);
  auto read = readStudy(folder.file("study.sqlite"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->convention, "paper");
  EXPECT_EQ(read->seed, 7U);
  EXPECT_EQ(read->options, study.options);
  ASSERT_EQ(read->architectures.size(), 2U);
  EXPECT_EQ(read->architectures[0].settings, study.architectures[0].settings);
  EXPECT_EQ(read->architectures[0].state, (StateSize{10, 20}));
  EXPECT_EQ(read->architectures[0].countedState, (StateSize{15, 0}));
  EXPECT_EQ(read->runs.front().stateElements, 30);
  EXPECT_FALSE(read->architectures[1].state) << "not known, and so not 0";
  EXPECT_FALSE(read->architectures[1].countedState);
  EXPECT_FALSE(read->runs.back().stateElements);
  ASSERT_EQ(read->runs.size(), study.runs.size());
  for (size_t i = 0; i < study.runs.size(); ++i) {
    EXPECT_EQ(read->runs[i].id, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(read->runs[i].setting, study.runs[i].setting);
    EXPECT_EQ(read->runs[i].seed, study.runs[i].seed);
    EXPECT_EQ(read->runs[i].learningRate, study.runs[i].learningRate);
    EXPECT_EQ(read->runs[i].status, "pending");
  }
}

/// The tables of layout 2 (Schema.h), with a study of one run.
constexpr const char *layout2 = R"(
CREATE TABLE study(name TEXT PRIMARY KEY, value TEXT NOT NULL,
  hash INTEGER GENERATED ALWAYS AS (row_hash(name, value)) STORED) WITHOUT ROWID;
CREATE TABLE architecture(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, path TEXT NOT NULL,
  source TEXT NOT NULL, settings TEXT NOT NULL, parameters INTEGER NOT NULL,
  flops_per_token REAL NOT NULL, state_elements INTEGER NOT NULL,
  hash INTEGER GENERATED ALWAYS AS (row_hash(id, name, path, source, settings, parameters,
    flops_per_token, state_elements)) STORED);
CREATE TABLE run(id INTEGER PRIMARY KEY, architecture INTEGER NOT NULL REFERENCES architecture,
  task TEXT NOT NULL, setting TEXT NOT NULL, axis TEXT NOT NULL, axis_value REAL NOT NULL,
  learning_rate REAL NOT NULL, weight_decay REAL NOT NULL, seed INTEGER NOT NULL,
  chance REAL NOT NULL, batch INTEGER NOT NULL, steps INTEGER NOT NULL,
  parameters INTEGER NOT NULL, flops_per_token REAL NOT NULL, state_elements INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending', worker TEXT NOT NULL DEFAULT '',
  heartbeat REAL NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '', diverged INTEGER NOT NULL DEFAULT 0,
  steps_done INTEGER NOT NULL DEFAULT 0, best_step INTEGER NOT NULL DEFAULT 0,
  loss REAL, accuracy REAL, mad_accuracy REAL, seconds REAL,
  hash INTEGER GENERATED ALWAYS AS (row_hash(id, architecture, task, setting, axis, axis_value,
    learning_rate, weight_decay, seed, chance, batch, steps, parameters, flops_per_token,
    state_elements, status, worker, heartbeat, attempts, error, diverged, steps_done, best_step,
    loss, accuracy, mad_accuracy, seconds)) STORED,
  UNIQUE(architecture, setting, learning_rate, weight_decay, seed));
CREATE TABLE curve(run INTEGER NOT NULL REFERENCES run, step INTEGER NOT NULL,
  loss REAL, accuracy REAL, mad_accuracy REAL,
  hash INTEGER GENERATED ALWAYS AS (row_hash(run, step, loss, accuracy, mad_accuracy)) STORED,
  PRIMARY KEY(run, step)) WITHOUT ROWID;
INSERT INTO study(name, value) VALUES('suite', 'smoke');
INSERT INTO architecture(id, name, path, source, settings, parameters, flops_per_token,
  state_elements) VALUES(1, 'old', 'old.hyb', 'text', '{}', 100, 2.5, 30);
INSERT INTO run(id, architecture, task, setting, axis, axis_value, learning_rate, weight_decay,
  seed, chance, batch, steps, parameters, flops_per_token, state_elements)
  VALUES(1, 1, 'memorization', 'memorization', 'baseline', 1, 0.1, 0, 0, 0.1, 8, 20, 100, 2.5, 30);
PRAGMA application_id=1213811778; PRAGMA user_version=2;
)";

TEST(Results, AStudyOfTheLayoutBeforeIsReadAndGoneOnWith) {
  TemporaryFolder folder;
  const std::string path = folder.file("old.sqlite");
  {
    auto database = Database::open(path, Database::Mode::Create);
    ASSERT_TRUE(database);
    auto done = (*database)->execute(layout2);
    ASSERT_TRUE(done) << done.error().message;
  }
  auto read = readStudy(path);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->architectures.size(), 1U);
  EXPECT_EQ(read->architectures[0].state->total(), 30);
  EXPECT_EQ(read->architectures[0].countedState->total(), 30);
  EXPECT_EQ(read->runs.at(0).stateElements, 30);
  auto store = RunStore::open(path, "test");
  ASSERT_TRUE(store) << store.error().message;
  auto claimed = store->claim(1);
  ASSERT_TRUE(claimed) << claimed.error().message;
  EXPECT_EQ(claimed->at(0).stateElements, 30);
  EXPECT_EQ(readStudy(path)->runs.at(0).status, "running") << "and its hashes are right";
}

TEST(Results, StoringASecondTimeChangesNothing) {
  TemporaryFolder folder;
  storeAt(folder.file("study.sqlite"), makeStudy(2, 1));
  storeAt(folder.file("study.sqlite"), makeStudy(4, 2));
  auto read = readStudy(folder.file("study.sqlite"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->runs.size(), makeStudy(2, 1).runs.size());
}

TEST(Results, AStudyGrowsByWhatIsNew) {
  TemporaryFolder folder;
  const std::string path = folder.file("study.sqlite");
  Study small = makeStudy(2, 1), large = makeStudy(4, 2);
  small.command = "first";
  large.command = "second";
  storeAt(path, small);
  auto database = openStudy(path, Database::Mode::Write);
  ASSERT_TRUE(database);
  ASSERT_TRUE((*database)->execute("UPDATE run SET status = 'done', accuracy = 0.5 WHERE id = 1"));
  ASSERT_TRUE(growStudy(**database, large));
  ASSERT_TRUE(growStudy(**database, large)); // a second time nothing is new
  auto read = readStudy(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->runs.size(), large.runs.size());
  EXPECT_EQ(read->architectures.size(), large.architectures.size());
  EXPECT_EQ(read->runs[0].status, "done");
  EXPECT_EQ(read->runs[0].accuracy, 0.5);
  EXPECT_EQ(read->runs.back().status, "pending");
  EXPECT_EQ(read->command, "first\nsecond");
  std::swap(large.architectures[0], large.architectures[1]);
  auto refused = growStudy(**database, large);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("run the command again"), std::string::npos);
}

std::string errorOf(const std::string &path) {
  auto study = readStudy(path);
  return study ? "no error" : study.error().message;
}

// Who makes a study's file may be killed before the study is in it; the next one goes on.
TEST(Results, AFileWithoutAStudyYetIsToldFromOthers) {
  TemporaryFolder folder;
  auto holds = [&](const std::string &name) {
    auto found = holdsStudy(folder.file(name));
    return found ? (*found ? "a study" : "none") : found.error().message;
  };
  EXPECT_EQ(holds("nothing"), "none");
  std::ofstream(folder.file("empty")).flush();
  EXPECT_EQ(holds("empty"), "none");
  ASSERT_TRUE((*Database::open(folder.file("header"), Database::Mode::Create))
                  ->execute("PRAGMA journal_mode=WAL"));
  EXPECT_EQ(holds("header"), "none");
  ASSERT_TRUE(openStudy(folder.file("tables"), Database::Mode::Create));
  EXPECT_EQ(holds("tables"), "none");
  storeAt(folder.file("study"), makeStudy(1, 1));
  EXPECT_EQ(holds("study"), "a study");
  ASSERT_TRUE((*Database::open(folder.file("other"), Database::Mode::Create))
                  ->execute("CREATE TABLE run(id)"));
  EXPECT_NE(holds("other").find("not one of the laboratory"), std::string::npos);
}

TEST(Results, FilesThatAreNoStudyAreErrors) {
  TemporaryFolder folder;
  EXPECT_NE(errorOf(folder.file("nothing")).find("does not exist"), std::string::npos);
  std::ofstream(folder.file("text")) << std::string(5000, 'x');
  EXPECT_NE(errorOf(folder.file("text")).find("not a database"), std::string::npos);
  {
    auto other = Database::open(folder.file("other"), Database::Mode::Create);
    ASSERT_TRUE((*other)->execute("CREATE TABLE run(id)"));
  }
  EXPECT_NE(errorOf(folder.file("other")).find("not one of the laboratory"), std::string::npos);
  storeAt(folder.file("newer"), makeStudy(1, 1));
  {
    auto database = Database::open(folder.file("newer"), Database::Mode::Write);
    ASSERT_TRUE((*database)->execute("PRAGMA user_version=99"));
  }
  EXPECT_NE(errorOf(folder.file("newer")).find("newer version"), std::string::npos);
}

TEST(Results, DamagedFilesAreErrorsOrReadable) {
  TemporaryFolder folder;
  std::string path = folder.file("study.sqlite");
  storeAt(path, makeStudy(4, 4));
  { // the log goes into the file
    auto database = Database::open(path, Database::Mode::Write);
    ASSERT_TRUE((*database)->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  uint64_t state = 1;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 40; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      damaged[(state >> 20) % damaged.size()] = static_cast<char>(state >> 56);
    }
    if (round % 4 == 0)
      damaged.resize((state >> 30) % damaged.size());
    std::string name = folder.file("damaged");
    std::ofstream(name, std::ios::binary) << damaged;
    (void)errorOf(name); // must come back
    std::filesystem::remove(name);
    std::filesystem::remove(name + "-wal");
    std::filesystem::remove(name + "-shm");
  }
}

/// Claims everything and finishes each run as `outcome` says.
void finishAll(const std::string &path, const std::function<void(Run &)> &outcome) {
  auto store = RunStore::open(path, "test");
  ASSERT_TRUE(store) << store.error().message;
  for (;;) {
    auto runs = store->claim(3);
    ASSERT_TRUE(runs) << runs.error().message;
    if (runs->empty())
      return;
    for (Run &run : *runs) {
      EXPECT_EQ(run.setting, runs->front().setting);
      EXPECT_EQ(run.architecture, runs->front().architecture);
      run.status = "done";
      outcome(run);
      auto counted = store->finish(run);
      ASSERT_TRUE(counted) << counted.error().message;
      EXPECT_TRUE(*counted);
    }
  }
}

TEST(Results, ScoresAreTheBestPointsOfTheGridAndMeansOverSettingsAndTasks) {
  TemporaryFolder folder;
  std::string path = folder.file("study.sqlite");
  storeAt(path, makeStudy(4, 2));
  finishAll(path, [](lab::Run &run) {
    double base = run.architecture == "first" ? 0.4 : 0.6;
    bool recall = run.task == "in-context-recall", baseline = run.axis == "baseline";
    run.accuracy = base + (recall ? 0.2 : 0) + (baseline ? 0.1 : 0) +
                   (run.learningRate == 1e-3 ? 0.05 : 0) + 0.01 * static_cast<double>(run.seed);
    run.madAccuracy = run.accuracy / 2;
    run.curve = {{10, 2, 0.1, 0.05}, {20, 1, run.accuracy, run.madAccuracy}};
    if (run.architecture == "second" && run.learningRate == 1e-3) {
      run.status = "failed";
      run.diverged = true;
      run.curve.clear();
    }
  });
  auto study = readStudy(path);
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_EQ(study->runs[0].curve.size(), 2U);
  EXPECT_EQ(study->runs[0].curve[1].step, 20);
  Scoreboard board = scoreStudy(*study);
  ASSERT_EQ(board.tasks, (std::vector<std::string>{"in-context-recall", "compression"}));
  ASSERT_EQ(board.settings.size(), 8U);
  const SettingScore &setting = board.settings[0];
  EXPECT_EQ(setting.axis, "baseline");
  EXPECT_NEAR(setting.accuracy, 0.755, 1e-12); // 0.4 + 0.2 + 0.1 + 0.05, seeds 0 and 1
  EXPECT_NEAR(setting.deviation, 0.01 / std::sqrt(2), 1e-12);
  EXPECT_EQ(setting.learningRate, 1e-3);
  EXPECT_EQ(study->runs[static_cast<size_t>(setting.bestRun) - 1].seed, 1U);
  ASSERT_EQ(board.architectures.size(), 2U);
  EXPECT_TRUE(board.architectures[0].complete);
  EXPECT_NEAR(board.architectures[0].tasks[0].accuracy, 0.705, 1e-12);
  EXPECT_NEAR(board.architectures[0].tasks[0].baselineAccuracy, 0.755, 1e-12);
  EXPECT_NEAR(board.architectures[0].accuracy, 0.605, 1e-12);
  EXPECT_NEAR(board.architectures[0].madAccuracy, 0.3025, 1e-12);
  // Those that diverged count as guessing, and are not left out.
  EXPECT_TRUE(board.architectures[1].complete);
  EXPECT_EQ(board.architectures[1].tasks[0].diverged, 4);
  EXPECT_EQ(board.settings[4].learningRate, 1e-4);
  study->runs.erase(study->runs.begin() + 1, study->runs.end());
  study->runs[0].status = "failed";
  study->runs[0].diverged = true;
  board = scoreStudy(*study);
  EXPECT_NEAR(board.settings[0].accuracy, 0.125, 1e-12);
}

TEST(Results, WhatHasNoScoreIsNoPartOfAMean) {
  TemporaryFolder folder;
  std::string path = folder.file("study.sqlite");
  storeAt(path, makeStudy(4, 2));
  finishAll(path, [](lab::Run &run) {
    run.accuracy = run.madAccuracy = 0.5;
    const bool isBaseline = run.task == "compression" && run.axis == "baseline";
    if (run.architecture == "second" || isBaseline)
      run.status = "failed";
  });
  auto study = readStudy(path);
  ASSERT_TRUE(study) << study.error().message;
  const Scoreboard board = scoreStudy(*study);
  EXPECT_EQ(board.architectures[0].scored, 2);
  EXPECT_EQ(board.architectures[0].baselines, 1);
  EXPECT_EQ(board.architectures[0].baselineAccuracy, 0.5);
  EXPECT_EQ(board.architectures[1].scored, 0);
  const nlohmann::ordered_json scores = scoresJson(*study, board)["architectures"];
  EXPECT_EQ(scores[0]["accuracy"], 0.5);
  EXPECT_EQ(scores[0]["tasks"]["compression"]["baseline_accuracy"], nullptr);
  EXPECT_EQ(scores[1]["accuracy"], nullptr) << "0 would be a score";
  EXPECT_EQ(scores[1]["baseline_accuracy"], nullptr);
}

TEST(Results, AClaimThatWasLostDoesNotCount) {
  TemporaryFolder folder;
  std::string path = folder.file("study.sqlite");
  storeAt(path, makeStudy(1, 1));
  auto slow = RunStore::open(path, "another-machine/1/1"), fast = RunStore::open(path, "fast");
  double seconds = 0;
  fast->useClock([&] { return seconds; });
  auto runs = slow->claim(1);
  ASSERT_TRUE(runs && runs->size() == 1);
  EXPECT_EQ(*fast->reclaim(), 0) << "it was alive just now";
  seconds += staleSeconds + 1;
  EXPECT_EQ(*fast->reclaim(), 1);
  auto again = fast->claim(1);
  ASSERT_TRUE(again && again->size() == 1);
  EXPECT_EQ(again->front().id, runs->front().id);
  runs->front().status = again->front().status = "done";
  EXPECT_FALSE(*slow->finish(runs->front()));
  EXPECT_TRUE(*fast->finish(again->front()));
  EXPECT_FALSE(*fast->finish(again->front()));
}

// A worker whose clock is days behind lives as long as it says something new; one whose clock is
// ahead does not live for ever.
TEST(Results, ClocksOfOtherMachinesMayBeWrong) {
  for (const char *skew : {"-1e6", "+1e6"}) {
    TemporaryFolder folder;
    std::string path = folder.file("study.sqlite");
    storeAt(path, makeStudy(1, 1));
    auto far = RunStore::open(path, "another-machine/1/1"), near = RunStore::open(path, "near");
    double seconds = 0;
    near->useClock([&] { return seconds; });
    ASSERT_EQ(far->claim(1)->size(), 1U);
    auto database = Database::open(path, Database::Mode::Write);
    for (int beat = 0; beat < 5; ++beat) {
      std::string moved = fmt::format("UPDATE run SET heartbeat = heartbeat {} + {}", skew, beat);
      ASSERT_TRUE((*database)->execute(moved));
      EXPECT_EQ(*near->reclaim(), 0) << skew;
      seconds += staleSeconds - 1;
    }
    seconds += 2;
    EXPECT_EQ(*near->reclaim(), 1) << skew;
  }
}

TEST(Results, ARunThatKillsItsWorkersFails) {
  TemporaryFolder folder;
  std::string path = folder.file("study.sqlite");
  storeAt(path, makeStudy(1, 1));
  auto store = RunStore::open(path, "fast");
  double seconds = 0;
  store->useClock([&] { return seconds; });
  auto database = Database::open(path, Database::Mode::Write);
  for (int attempt = 0; attempt < mostAttempts; ++attempt) {
    ASSERT_EQ(store->claim(1)->front().id, 1);
    ASSERT_TRUE((*database)->execute("UPDATE run SET worker = 'elsewhere', heartbeat = 0 WHERE "
                                     "status = 'running'"));
    EXPECT_EQ(*store->reclaim(), 0);
    seconds += staleSeconds + 1;
    EXPECT_EQ(*store->reclaim(), 1);
  }
  EXPECT_EQ(readStudy(path)->runs[0].status, "failed");
  EXPECT_NE(readStudy(path)->runs[0].error.find("died 4 times"), std::string::npos);
  EXPECT_EQ(*store->retryFailed(), 1);
  EXPECT_EQ(readStudy(path)->runs[0].status, "pending");
}

} // namespace
} // namespace hybrid::rt::lab
