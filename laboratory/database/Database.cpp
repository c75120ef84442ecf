//===- Database.cpp - SQLite with our way to fail -----------------------------===//
#include "laboratory/database/Database.h"
#include <cmath>
#include <fmt/format.h>
#include <sqlite3.h>
#include <utility>
#include <xxhash.h>

namespace hybrid::rt::lab {

constexpr int waitMilliseconds = 60'000;

Statement::Statement(Statement &&other) noexcept
    : database(other.database), handle(std::exchange(other.handle, nullptr)), bound(other.bound) {}
Statement::~Statement() { sqlite3_finalize(handle); }

Statement &Statement::bind(int64_t value) {
  sqlite3_bind_int64(handle, ++bound, value);
  return *this;
}

Statement &Statement::bind(double value) {
  if (std::isfinite(value))
    sqlite3_bind_double(handle, ++bound, value);
  else
    sqlite3_bind_null(handle, ++bound);
  return *this;
}

Statement &Statement::bind(std::string_view value) {
  sqlite3_bind_text64(handle, ++bound, value.data() ? value.data() : "", value.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement &Statement::bind(std::optional<int64_t> value) {
  if (value)
    return bind(*value);
  sqlite3_bind_null(handle, ++bound);
  return *this;
}

Result<bool> Statement::step() {
  switch (sqlite3_step(handle)) {
  case SQLITE_ROW:
    return true;
  case SQLITE_DONE:
    return false;
  default:
    return database.failure();
  }
}

Result<void> Statement::run() {
  auto row = step();
  while (row && *row)
    row = step();
  sqlite3_reset(handle);
  bound = 0;
  if (!row)
    return row.error();
  return {};
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle, column); }

std::optional<int64_t> Statement::optionalInteger(int column) const {
  return sqlite3_column_type(handle, column) == SQLITE_NULL ? std::nullopt
                                                            : std::optional(integer(column));
}

double Statement::number(int column) const {
  return sqlite3_column_type(handle, column) == SQLITE_NULL ? NAN
                                                            : sqlite3_column_double(handle, column);
}

std::string Statement::text(int column) const {
  const auto *bytes = reinterpret_cast<const char *>(sqlite3_column_text(handle, column));
  return bytes ? std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(handle, column)))
               : std::string();
}

/// SQL's row_hash(value, ...): XXH3-64 of the types and values.
static void rowHash(sqlite3_context *context, int count, sqlite3_value **values) {
  XXH3_state_t *state = XXH3_createState();
  XXH3_64bits_reset(state);
  for (int i = 0; i < count; ++i) {
    const int type = sqlite3_value_type(values[i]);
    XXH3_64bits_update(state, &type, sizeof type);
    if (type == SQLITE_INTEGER) {
      const sqlite3_int64 value = sqlite3_value_int64(values[i]);
      XXH3_64bits_update(state, &value, sizeof value);
    } else if (type == SQLITE_FLOAT) {
      const double value = sqlite3_value_double(values[i]);
      XXH3_64bits_update(state, &value, sizeof value);
    } else if (type != SQLITE_NULL) {
      const void *bytes = sqlite3_value_blob(values[i]);
      const int length = sqlite3_value_bytes(values[i]);
      XXH3_64bits_update(state, &length, sizeof length);
      XXH3_64bits_update(state, bytes, static_cast<size_t>(length));
    }
  }
  sqlite3_result_int64(context, static_cast<sqlite3_int64>(XXH3_64bits_digest(state)));
  XXH3_freeState(state);
}

Result<std::unique_ptr<Database>> Database::open(const std::string &path, Mode mode) {
  sqlite3 *handle = nullptr;
  int flags = mode == Mode::Create
                  ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                  : SQLITE_OPEN_READWRITE; // also to read: what a killed process left is put right
  int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  if (code != SQLITE_OK && mode == Mode::Read) {
    sqlite3_close(handle);
    code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  }
  std::unique_ptr<Database> database(new Database(path, handle));
  if (!handle)
    return Error{fmt::format("cannot open '{}': no memory", path)};
  if (code != SQLITE_OK)
    return database->failure();
  sqlite3_busy_timeout(handle, waitMilliseconds);
  sqlite3_extended_result_codes(handle, 0);
  if (sqlite3_create_function_v2(handle, "row_hash", -1,
                                 SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
                                 rowHash, nullptr, nullptr, nullptr) != SQLITE_OK)
    return database->failure();
  return database;
}

Database::~Database() { sqlite3_close(handle); }

Error Database::failure() const {
  switch (sqlite3_errcode(handle)) {
  case SQLITE_NOTADB:
    return {fmt::format("'{}' is not a database of the laboratory", name)};
  case SQLITE_CORRUPT:
    return {fmt::format("'{}' is damaged: {}", name, sqlite3_errmsg(handle))};
  case SQLITE_BUSY:
    return {
        fmt::format("'{}' was locked by another process for {} s", name, waitMilliseconds / 1000)};
  default:
    return {fmt::format("'{}': {}", name, sqlite3_errmsg(handle))};
  }
}

Result<void> Database::execute(const std::string &sql) {
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure();
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt *statement = nullptr;
  if (sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK)
    return failure();
  return Statement(*this, statement);
}

Result<int64_t> Database::integer(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement)
    return statement.error();
  auto row = statement->step();
  if (!row)
    return row.error();
  return *row ? statement->integer(0) : 0;
}

int64_t Database::lastId() const { return sqlite3_last_insert_rowid(handle); }
int64_t Database::changes() const { return sqlite3_changes64(handle); }

Result<Transaction> Transaction::begin(Database &database) {
  // Immediate: the lock is taken now, so that what is read is still true when it is written.
  if (auto done = database.execute("BEGIN IMMEDIATE"); !done)
    return done.error();
  return Transaction(database);
}

Transaction::Transaction(Transaction &&other) noexcept
    : database(std::exchange(other.database, nullptr)) {}

Transaction::~Transaction() {
  if (database)
    (void)database->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
  if (auto done = database->execute("COMMIT"); !done)
    return done;
  database = nullptr;
  return {};
}

} // namespace hybrid::rt::lab
