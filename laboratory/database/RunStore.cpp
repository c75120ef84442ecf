//===- RunStore.cpp - runs claimed and finished by many processes ------------===//
#include "laboratory/database/RunStore.h"
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>
#include <xxhash.h>

namespace hybrid::rt::lab {
namespace {

template <typename Clock> double secondsOf() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// What a heartbeat says. Nobody compares it with a clock.
double now() { return secondsOf<std::chrono::system_clock>(); }

std::string fileText(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Tells machines apart, and containers that number their processes for themselves.
const std::string &machineName() {
  static const std::string name = [] {
    char space[64] = {}, host[128] = {};
    (void)!readlink("/proc/self/ns/pid", space, sizeof space - 1);
    gethostname(host, sizeof host - 1);
    std::string text = fileText("/proc/sys/kernel/random/boot_id") + space;
    return fmt::format("{}-{:08x}", host, XXH3_64bits(text.data(), text.size()) & 0xffffffffU);
  }();
  return name;
}

/// When a process began, in clock ticks since the start of the machine; 0: there is none.
uint64_t startOf(int64_t process) {
  std::string text = fileText(fmt::format("/proc/{}/stat", process));
  size_t end = text.rfind(')'); // a name may hold anything
  if (end == std::string::npos)
    return 0;
  std::istringstream fields(text.substr(end + 1));
  std::string field;
  uint64_t start = 0;
  fields >> field;
  if (field == "Z")
    return 0;
  for (int i = 4; i < 22; ++i)
    fields >> field;
  fields >> start;
  return start;
}

} // namespace

std::string workerName() {
  return fmt::format("{}/{}/{}", machineName(), getpid(), startOf(getpid()));
}

bool isDead(const std::string &worker) {
  size_t last = worker.rfind('/'), first = last == std::string::npos || last == 0
                                               ? std::string::npos
                                               : worker.rfind('/', last - 1);
  if (first == std::string::npos || worker.substr(0, first) != machineName())
    return false;
  int64_t process = std::strtoll(worker.c_str() + first + 1, nullptr, 10);
  uint64_t start = std::strtoull(worker.c_str() + last + 1, nullptr, 10);
  return startOf(process) != start;
}

Result<RunStore> RunStore::open(const std::string &path, std::string worker) {
  auto database = openStudy(path, Database::Mode::Write);
  if (!database)
    return database.error();
  return RunStore(std::move(*database), std::move(worker));
}

Result<RunStore> RunStore::begin(const Study &study, const std::string &path) {
  {
    auto stored = openStudy(path, Database::Mode::Create);
    if (!stored)
      return stored.error();
    if (auto done = growStudy(**stored, study); !done)
      return done.error();
  }
  auto store = open(path, workerName());
  if (!store)
    return store;
  if (auto freed = store->reclaim(); !freed)
    return freed.error();
  if (auto again = store->retryFailed(); !again) // whatever made them fail may be put right
    return again.error();
  return store;
}

RunStore::RunStore(std::unique_ptr<Database> database, std::string worker)
    : database(std::move(database)), worker(std::move(worker)),
      clock(secondsOf<std::chrono::steady_clock>) {}

bool RunStore::isSilent(const std::string &name, double heartbeat) {
  auto [sign, isNew] = signs.try_emplace(name, Sign{heartbeat, clock()});
  if (isNew || sign->second.heartbeat != heartbeat)
    sign->second = {heartbeat, clock()};
  return clock() - sign->second.seenAt > staleSeconds;
}

Result<std::vector<Run>> RunStore::claim(int64_t most) {
  std::vector<Run> runs;
  auto transaction = Transaction::begin(*database);
  if (!transaction)
    return transaction.error();
  auto rows = database->prepare(
      "WITH head AS (SELECT architecture, setting, batch, steps FROM run WHERE status = 'pending' "
      "ORDER BY id LIMIT 1) "
      "SELECT run.id, name, task, run.setting, axis, axis_value, learning_rate, weight_decay, "
      "seed, "
      "chance, run.batch, run.steps, run.parameters, run.state_elements, run.flops_per_token, "
      "attempts FROM run JOIN head ON run.architecture = head.architecture AND "
      "run.setting = head.setting AND run.batch = head.batch AND run.steps = head.steps "
      "JOIN architecture ON run.architecture = architecture.id "
      "WHERE status = 'pending' ORDER BY run.id LIMIT ?");
  if (!rows)
    return rows.error();
  rows->bind(most);
  auto read = rows->forEachRow([&] {
    Run run;
    run.id = rows->integer(0);
    run.architecture = rows->text(1);
    run.task = rows->text(2);
    run.setting = rows->text(3);
    run.axis = rows->text(4);
    run.axisValue = rows->number(5);
    run.learningRate = rows->number(6);
    run.weightDecay = rows->number(7);
    run.seed = static_cast<uint64_t>(rows->integer(8));
    run.chance = rows->number(9);
    run.batch = rows->integer(10);
    run.steps = rows->integer(11);
    run.parameters = rows->integer(12);
    run.stateElements = rows->optionalInteger(13);
    run.flopsPerToken = rows->number(14);
    run.attempts = static_cast<int>(rows->integer(15)) + 1;
    run.status = "running";
    runs.push_back(std::move(run));
  });
  if (!read)
    return read.error();
  auto update = database->prepare("UPDATE run SET status = 'running', worker = ?, heartbeat = ?, "
                                  "attempts = attempts + 1, steps_done = 0 WHERE id = ?");
  if (!update)
    return update.error();
  for (const Run &run : runs)
    if (auto done = update->bind(worker).bind(now()).bind(run.id).run(); !done)
      return done.error();
  if (auto done = transaction->commit(); !done)
    return done.error();
  return runs;
}

Result<void> RunStore::heartbeat(const std::vector<std::pair<int64_t, int64_t>> &stepsDone) {
  auto transaction = Transaction::begin(*database);
  if (!transaction)
    return transaction.error();
  auto update = database->prepare("UPDATE run SET heartbeat = ?, steps_done = ? WHERE id = ? AND "
                                  "worker = ? AND status = 'running'");
  if (!update)
    return update.error();
  for (const auto &[id, steps] : stepsDone)
    if (auto done = update->bind(now()).bind(steps).bind(id).bind(worker).run(); !done)
      return done;
  return transaction->commit();
}

Result<bool> RunStore::finish(const Run &run) {
  auto transaction = Transaction::begin(*database);
  if (!transaction)
    return transaction.error();
  auto update =
      database->prepare("UPDATE run SET status = ?, error = ?, diverged = ?, steps_done = ?, "
                        "best_step = ?, loss = ?, "
                        "accuracy = ?, mad_accuracy = ?, seconds = ?, worker = '', heartbeat = 0 "
                        "WHERE id = ? AND worker = ? AND status = 'running' AND attempts = ?");
  if (!update)
    return update.error();
  if (auto done = update->bind(run.status)
                      .bind(run.error)
                      .bind(int64_t{run.diverged})
                      .bind(run.stepsDone)
                      .bind(run.bestStep)
                      .bind(run.loss)
                      .bind(run.accuracy)
                      .bind(run.madAccuracy)
                      .bind(run.seconds)
                      .bind(run.id)
                      .bind(worker)
                      .bind(int64_t{run.attempts})
                      .run();
      !done)
    return done.error();
  if (database->changes() == 0)
    return false;
  auto point = database->prepare("INSERT OR REPLACE INTO curve(run, step, loss, accuracy, "
                                 "mad_accuracy) VALUES(?, ?, ?, ?, ?)");
  if (!point)
    return point.error();
  for (const CurvePoint &each : run.curve)
    if (auto done = point->bind(run.id)
                        .bind(each.step)
                        .bind(each.loss)
                        .bind(each.accuracy)
                        .bind(each.madAccuracy)
                        .run();
        !done)
      return done.error();
  if (auto done = transaction->commit(); !done)
    return done.error();
  return true;
}

Result<void> RunStore::release(const std::vector<int64_t> &runs) {
  auto transaction = Transaction::begin(*database);
  if (!transaction)
    return transaction.error();
  auto update = database->prepare(
      "UPDATE run SET status = 'pending', worker = '', heartbeat = 0, steps_done = 0, attempts = "
      "attempts - 1 WHERE id = ? AND worker = ? AND status = 'running'");
  if (!update)
    return update.error();
  for (int64_t id : runs)
    if (auto done = update->bind(id).bind(worker).run(); !done)
      return done;
  return transaction->commit();
}

Result<int64_t> RunStore::reclaim() {
  auto transaction = Transaction::begin(*database);
  if (!transaction)
    return transaction.error();
  auto rows = database->prepare("SELECT DISTINCT worker, max(heartbeat) FROM run WHERE status = "
                                "'running' GROUP BY worker");
  if (!rows)
    return rows.error();
  std::vector<std::string> gone;
  auto read = rows->forEachRow([&] {
    std::string name = rows->text(0);
    if (name != worker && (isDead(name) || isSilent(name, rows->number(1))))
      gone.push_back(std::move(name));
  });
  if (!read)
    return read.error();
  auto update = database->prepare(
      "UPDATE run SET status = iif(attempts >= ?, 'failed', 'pending'), worker = '', "
      "error = iif(attempts >= ?, 'its process died ' || attempts || ' times', ''), "
      "heartbeat = 0, steps_done = 0 WHERE status = 'running' AND worker = ?");
  if (!update)
    return update.error();
  int64_t freed = 0;
  for (const std::string &name : gone) {
    if (auto done =
            update->bind(int64_t{mostAttempts}).bind(int64_t{mostAttempts}).bind(name).run();
        !done)
      return done.error();
    freed += database->changes();
    signs.erase(name); // should it come back, it is new
  }
  if (auto done = transaction->commit(); !done)
    return done.error();
  return freed;
}

Result<int64_t> RunStore::retryFailed() {
  if (auto done = database->execute("UPDATE run SET status = 'pending', attempts = 0, error = '' "
                                    "WHERE status = 'failed' AND diverged = 0");
      !done)
    return done.error();
  return database->changes();
}

Result<int64_t> RunStore::left() {
  return database->integer("SELECT count(*) FROM run WHERE status IN ('pending', 'running')");
}

Result<std::string> RunStore::value(const std::string &name) {
  auto rows = database->prepare("SELECT value FROM study WHERE name = ?");
  if (!rows)
    return rows.error();
  rows->bind(std::string_view(name));
  auto row = rows->step();
  if (!row)
    return row.error();
  return *row ? rows->text(0) : std::string();
}

} // namespace hybrid::rt::lab
