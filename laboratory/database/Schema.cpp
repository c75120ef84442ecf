//===- Schema.cpp - the tables of a study -------------------------------------===//
#include "laboratory/database/Schema.h"
#include "runtime/files/Json.h"
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/vfs.h>
#include <unordered_map>

namespace hybrid::rt::lab {
namespace {

constexpr int64_t applicationId = 0x48594c42; // "HYLB"

/// The columns of a table that its `hash` is of.
constexpr std::pair<const char *, const char *> hashed[] = {
    {"study", "name, value"},
    {"architecture",
     "id, name, path, source, settings, parameters, flops_per_token, state_elements, "
     "growing_state, counted_state, counted_growing_state"},
    {"run", "id, architecture, task, setting, axis, axis_value, learning_rate, weight_decay, seed, "
            "chance, batch, steps, parameters, flops_per_token, state_elements, status, worker, "
            "heartbeat, attempts, error, diverged, steps_done, best_step, loss, accuracy, "
            "mad_accuracy, seconds"},
    {"curve", "run, step, loss, accuracy, mad_accuracy"}};

/// Those of `architecture` in layout 2, where every state was known and counted as it is.
constexpr const char *architectureOfLayout2 =
    "id, name, path, source, settings, parameters, flops_per_token, state_elements";

/// {} is the column `hash`.
constexpr const char *tables = R"(
CREATE TABLE study(name TEXT PRIMARY KEY, value TEXT NOT NULL, {}) WITHOUT ROWID;
CREATE TABLE architecture(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, path TEXT NOT NULL,
  source TEXT NOT NULL, settings TEXT NOT NULL, parameters INTEGER NOT NULL,
  flops_per_token REAL NOT NULL, state_elements INTEGER, growing_state INTEGER,
  counted_state INTEGER, counted_growing_state INTEGER, {});
CREATE TABLE run(id INTEGER PRIMARY KEY, architecture INTEGER NOT NULL REFERENCES architecture,
  task TEXT NOT NULL, setting TEXT NOT NULL, axis TEXT NOT NULL, axis_value REAL NOT NULL,
  learning_rate REAL NOT NULL, weight_decay REAL NOT NULL, seed INTEGER NOT NULL,
  chance REAL NOT NULL, batch INTEGER NOT NULL, steps INTEGER NOT NULL,
  parameters INTEGER NOT NULL, flops_per_token REAL NOT NULL, state_elements INTEGER,
  status TEXT NOT NULL DEFAULT 'pending', worker TEXT NOT NULL DEFAULT '',
  heartbeat REAL NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '', diverged INTEGER NOT NULL DEFAULT 0,
  steps_done INTEGER NOT NULL DEFAULT 0, best_step INTEGER NOT NULL DEFAULT 0,
  loss REAL, accuracy REAL, mad_accuracy REAL, seconds REAL, {},
  UNIQUE(architecture, setting, learning_rate, weight_decay, seed));
CREATE INDEX run_status ON run(status, id);
CREATE TABLE curve(run INTEGER NOT NULL REFERENCES run, step INTEGER NOT NULL,
  loss REAL, accuracy REAL, mad_accuracy REAL, {}, PRIMARY KEY(run, step)) WITHOUT ROWID;
)";

std::string hashColumn(size_t table) {
  return fmt::format("hash INTEGER GENERATED ALWAYS AS (row_hash({})) STORED",
                     hashed[table].second);
}

/// Whether the file system is one of this machine's own: only there processes share memory.
bool isLocal(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  struct statfs status{};
  if (statfs(folder.empty() ? "." : folder.c_str(), &status) != 0)
    return false;
  switch (static_cast<uint64_t>(status.f_type) & 0xffffffffU) {
  case 0xef53:     // ext2, ext3, ext4
  case 0x58465342: // XFS
  case 0x9123683e: // Btrfs
  case 0x01021994: // tmpfs
  case 0x794c7630: // overlayfs
  case 0xf2f52010: // F2FS
  case 0x2fc12fc1: // ZFS
    return true;
  default:
    return false;
  }
}

Result<void> createTables(Database &database) {
  if (isLocal(database.path()))
    if (auto done = database.execute("PRAGMA journal_mode=WAL"); !done)
      return done;
  auto transaction = Transaction::begin(database);
  if (!transaction)
    return transaction.error();
  auto version = database.integer("PRAGMA user_version");
  if (!version)
    return version.error();
  if (*version != 0) // another process was faster
    return {};
  if (auto done = database.execute(fmt::format(fmt::runtime(tables), hashColumn(0), hashColumn(1),
                                               hashColumn(2), hashColumn(3)));
      !done)
    return done;
  if (auto done = database.execute(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}",
                                               applicationId, schemaVersion));
      !done)
    return done;
  return transaction->commit();
}

Result<void> checkIdentity(Database &database) {
  auto application = database.integer("PRAGMA application_id");
  auto version = database.integer("PRAGMA user_version");
  if (!application)
    return application.error();
  if (!version)
    return version.error();
  if (*application != applicationId)
    return Error{fmt::format(
        "'{}' is a database, but not one of the laboratory: give another --out", database.path())};
  if (*version > schemaVersion)
    return Error{fmt::format("'{}' was written by a newer version of Hybrid (layout {}, this one "
                             "reads up to {})",
                             database.path(), *version, schemaVersion)};
  return {};
}

/// Fails where a row is not what was written, or is lost. Layouts before 2 have no hashes.
Result<void> checkContents(Database &database) {
  auto version = database.integer("PRAGMA user_version");
  if (!version)
    return version.error();
  if (*version < 2)
    return {};
  auto structure = database.prepare("PRAGMA integrity_check(1)");
  if (!structure)
    return structure.error();
  auto row = structure->step();
  if (!row)
    return row.error();
  if (*row && structure->text(0) != "ok")
    return Error{fmt::format("'{}' is damaged: {}", database.path(), structure->text(0))};
  for (auto [table, columns] : hashed) {
    if (*version == 2 && std::string_view(table) == "architecture")
      columns = architectureOfLayout2;
    auto wrong = database.integer(
        fmt::format("SELECT count(*) FROM {} WHERE hash IS NOT row_hash({})", table, columns));
    if (!wrong)
      return wrong.error();
    if (*wrong)
      return Error{fmt::format("'{}' is damaged: {} of the rows in its table '{}' are not what was "
                               "written; take another copy",
                               database.path(), *wrong, table)};
  }
  for (const char *table : {"architecture", "run"}) { // numbered from 1
    auto lost = database.integer(fmt::format("SELECT max(id) - count(*) FROM {}", table));
    if (!lost)
      return lost.error();
    if (*lost)
      return Error{
          fmt::format("'{}' is damaged: rows of its table '{}' are lost; take another copy",
                      database.path(), table)};
  }
  return {};
}

std::string settingsText(const std::map<std::string, std::string> &settings) {
  return nlohmann::json(settings).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<void> loadHead(Database &database, Study &study) {
  auto rows = database.prepare("SELECT name, value FROM study ORDER BY name");
  if (!rows)
    return rows.error();
  return rows->forEachRow([&] {
    std::string name = rows->text(0), value = rows->text(1);
    if (name == "convention")
      study.convention = value;
    else if (name == "suite")
      study.suite = value;
    else if (name == "version")
      study.version = value;
    else if (name == "command")
      study.command = value;
    else if (name == "protocol")
      study.protocol = value;
    else if (name == "seed")
      std::from_chars(value.data(), value.data() + value.size(), study.seed);
    else if (name.starts_with("option.") && name.size() > 11)
      study.options.emplace_back(name.substr(11), value);
  });
}

Result<void> loadArchitectures(Database &database, Study &study) {
  auto version = database.integer("PRAGMA user_version");
  if (!version)
    return version.error();
  // Layouts before 3 hold one number, of the fixed state and the growing together.
  auto rows = database.prepare(fmt::format(
      "SELECT name, path, source, settings, parameters, flops_per_token, state_elements, {} "
      "FROM architecture ORDER BY id",
      *version < 3 ? "0, state_elements, 0"
                   : "growing_state, counted_state, counted_growing_state"));
  if (!rows)
    return rows.error();
  return rows->forEachRow([&] {
    auto state = [&](int column) -> std::optional<StateSize> {
      auto all = rows->optionalInteger(column), growing = rows->optionalInteger(column + 1);
      return all && growing ? std::optional(StateSize{*all - *growing, *growing}) : std::nullopt;
    };
    Architecture architecture{rows->text(0),    rows->text(1),   rows->text(2), {},
                              rows->integer(4), rows->number(5), state(6),      state(8)};
    auto settings = parseJsonOrNull(rows->text(3));
    if (settings.is_object())
      for (const auto &item : settings.items())
        if (item.value().is_string())
          architecture.settings[item.key()] = item.value().get<std::string>();
    study.architectures.push_back(std::move(architecture));
  });
}

Result<void> loadRuns(Database &database, Study &study) {
  auto rows = database.prepare(
      "SELECT run.id, architecture.name, task, setting, axis, axis_value, learning_rate, "
      "weight_decay, seed, status, error, diverged, attempts, chance, batch, steps, steps_done, "
      "best_step, loss, accuracy, mad_accuracy, seconds, run.parameters, run.state_elements, "
      "run.flops_per_token FROM run JOIN architecture ON run.architecture = architecture.id "
      "ORDER BY run.id");
  if (!rows)
    return rows.error();
  return rows->forEachRow([&] {
    int column = 0;
    auto integer = [&] { return rows->integer(column++); };
    auto number = [&] { return rows->number(column++); };
    auto text = [&] { return rows->text(column++); };
    Run run;
    run.id = integer();
    run.architecture = text();
    run.task = text();
    run.setting = text();
    run.axis = text();
    run.axisValue = number();
    run.learningRate = number();
    run.weightDecay = number();
    run.seed = static_cast<uint64_t>(integer());
    run.status = text();
    run.error = text();
    run.diverged = integer() != 0;
    run.attempts = static_cast<int>(integer());
    run.chance = number();
    run.batch = integer();
    run.steps = integer();
    run.stepsDone = integer();
    run.bestStep = integer();
    run.loss = number();
    run.accuracy = number();
    run.madAccuracy = number();
    run.seconds = number();
    run.parameters = integer();
    run.stateElements = rows->optionalInteger(column++);
    run.flopsPerToken = number();
    study.runs.push_back(std::move(run));
  });
}

Result<void> loadCurves(Database &database, Study &study) {
  std::unordered_map<int64_t, size_t> places;
  for (size_t i = 0; i < study.runs.size(); ++i)
    places[study.runs[i].id] = i;
  auto rows = database.prepare(
      "SELECT run, step, loss, accuracy, mad_accuracy FROM curve ORDER BY run, step");
  if (!rows)
    return rows.error();
  return rows->forEachRow([&]() -> Result<void> {
    auto place = places.find(rows->integer(0));
    if (place == places.end())
      return Error{fmt::format("'{}' is damaged: a curve belongs to no run", database.path())};
    study.runs[place->second].curve.push_back(
        {rows->integer(1), rows->number(2), rows->number(3), rows->number(4)});
    return {};
  });
}

Result<void> storeHead(Database &database, const Study &study) {
  // Of what the study was begun with: the seed is its own, and every command is kept.
  auto before = database.prepare("SELECT value FROM study WHERE name = 'command'");
  if (!before)
    return before.error();
  auto there = before->step();
  if (!there)
    return there.error();
  std::string command = *there ? before->text(0) : study.command;
  if (("\n" + command + "\n").find("\n" + study.command + "\n") == std::string::npos)
    command += "\n" + study.command;
  if (auto done = database.execute("DELETE FROM study"); !done)
    return done;
  auto statement = database.prepare("INSERT INTO study(name, value) VALUES(?, ?)");
  if (!statement)
    return statement.error();
  std::vector<std::pair<std::string, std::string>> values = {
      {"convention", study.convention}, {"suite", study.suite},
      {"version", study.version},       {"command", command},
      {"protocol", study.protocol},     {"seed", std::to_string(study.seed)}};
  for (size_t i = 0; i < study.options.size(); ++i)
    values.emplace_back(fmt::format("option.{:03}.{}", i, study.options[i].first),
                        study.options[i].second);
  for (const auto &[name, value] : values)
    if (auto done = statement->bind(name).bind(value).run(); !done)
      return done;
  return {};
}

} // namespace

Result<bool> holdsStudy(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return false;
  auto database = Database::open(path, Database::Mode::Write);
  if (!database)
    return database.error();
  auto tables = (*database)->integer("SELECT count(*) FROM sqlite_master");
  if (!tables)
    return tables.error();
  if (*tables == 0)
    return false;
  if (auto done = checkIdentity(**database); !done)
    return done.error();
  auto rows = (*database)->integer("SELECT count(*) FROM study");
  if (!rows)
    return rows.error();
  return *rows > 0;
}

Result<std::unique_ptr<Database>> openStudy(const std::string &path, Database::Mode mode) {
  std::error_code ignored;
  bool there = std::filesystem::exists(path, ignored);
  if (!there && mode != Database::Mode::Create)
    return Error{fmt::format("there is no study: '{}' does not exist", path)};
  auto database = Database::open(path, mode);
  if (!database)
    return database.error();
  auto version = (*database)->integer("SELECT count(*) FROM sqlite_master");
  if (!version)
    return version.error();
  if (*version == 0 && mode == Database::Mode::Create)
    if (auto done = createTables(**database); !done)
      return done.error();
  if (auto done = checkIdentity(**database); !done)
    return done.error();
  if (auto done = checkContents(**database); !done)
    return done.error();
  // With a log written ahead a killed process loses nothing; only a power cut can cost the last
  // runs, which are then trained again.
  if (isLocal(path))
    if (auto done = (*database)->execute("PRAGMA synchronous=NORMAL"); !done)
      return done.error();
  return database;
}

Result<Study> loadStudy(Database &database, bool curves) {
  Study study;
  // One transaction, so that what is read belongs together.
  if (auto done = database.execute("BEGIN"); !done)
    return done.error();
  auto load = [&]() -> Result<void> {
    if (auto done = loadHead(database, study); !done)
      return done;
    if (auto done = loadArchitectures(database, study); !done)
      return done;
    if (auto done = loadRuns(database, study); !done)
      return done;
    return curves ? loadCurves(database, study) : Result<void>();
  };
  auto done = load();
  (void)database.execute("ROLLBACK");
  if (!done)
    return done.error();
  return study;
}

Result<Study> readStudy(const std::string &databasePath) {
  auto database = openStudy(databasePath, Database::Mode::Read);
  if (!database)
    return database.error();
  return loadStudy(**database, /*curves=*/true);
}

/// Writes what of the study is not there.
static Result<void> insertStudy(Database &database, const Study &study) {
  if (auto done = storeHead(database, study); !done)
    return done;
  auto architectures =
      database.prepare("INSERT OR IGNORE INTO architecture(id, name, path, source, settings, "
                       "parameters, flops_per_token, "
                       "state_elements, growing_state, counted_state, counted_growing_state) "
                       "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!architectures)
    return architectures.error();
  std::unordered_map<std::string, int64_t> ids;
  auto all = [](const std::optional<StateSize> &state) {
    return state ? std::optional(state->total()) : std::nullopt;
  };
  auto growing = [](const std::optional<StateSize> &state) {
    return state ? std::optional(state->growing) : std::nullopt;
  };
  for (const Architecture &each : study.architectures) {
    int64_t id = static_cast<int64_t>(ids.size()) + 1;
    ids[each.name] = id;
    if (auto done = architectures->bind(id)
                        .bind(each.name)
                        .bind(each.path)
                        .bind(each.source)
                        .bind(settingsText(each.settings))
                        .bind(each.parameters)
                        .bind(each.flopsPerToken)
                        .bind(all(each.state))
                        .bind(growing(each.state))
                        .bind(all(each.countedState))
                        .bind(growing(each.countedState))
                        .run();
        !done)
      return done;
  }
  auto runs = database.prepare(
      "INSERT INTO run(id, architecture, task, setting, axis, axis_value, learning_rate, "
      "weight_decay, seed, chance, batch, steps, parameters, flops_per_token, state_elements) "
      "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT(architecture, setting, learning_rate, weight_decay, seed) DO NOTHING");
  if (!runs)
    return runs.error();
  auto id = database.integer("SELECT 1 + count(*) FROM run");
  if (!id)
    return id.error();
  for (const Run &run : study.runs) {
    if (auto done = runs->bind(*id)
                        .bind(ids[run.architecture])
                        .bind(run.task)
                        .bind(run.setting)
                        .bind(run.axis)
                        .bind(run.axisValue)
                        .bind(run.learningRate)
                        .bind(run.weightDecay)
                        .bind(static_cast<int64_t>(run.seed))
                        .bind(run.chance)
                        .bind(run.batch)
                        .bind(run.steps)
                        .bind(run.parameters)
                        .bind(run.flopsPerToken)
                        .bind(run.stateElements)
                        .run();
        !done)
      return done;
    *id += database.changes(); // none where it is there
  }
  return {};
}

Result<void> storeStudy(Database &database, const Study &study) {
  auto transaction = Transaction::begin(database);
  if (!transaction)
    return transaction.error();
  auto there = database.integer("SELECT count(*) FROM study");
  if (!there)
    return there.error();
  if (*there != 0) // another process was faster
    return {};
  if (auto done = insertStudy(database, study); !done)
    return done;
  return transaction->commit();
}

Result<void> growStudy(Database &database, const Study &study) {
  auto transaction = Transaction::begin(database);
  if (!transaction)
    return transaction.error();
  auto names = database.prepare("SELECT name FROM architecture ORDER BY id");
  if (!names)
    return names.error();
  size_t place = 0;
  auto checked = names->forEachRow([&]() -> Result<void> {
    if (place < study.architectures.size() && study.architectures[place++].name == names->text(0))
      return {};
    return Error{fmt::format("'{}' grew meanwhile by what another process asked for: run the "
                             "command again",
                             database.path())};
  });
  if (!checked)
    return checked;
  if (auto done = insertStudy(database, study); !done)
    return done;
  return transaction->commit();
}

} // namespace hybrid::rt::lab
