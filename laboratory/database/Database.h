//===- Database.h - SQLite with our way to fail -------------------------------===//
//
// A connection and its statements. Errors name the file. Waits for other processes' transactions.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

struct sqlite3;
struct sqlite3_stmt;

namespace hybrid::rt::lab {

class Database;

/// A prepared statement. Parameters are bound in order, then step() is called for each row.
class Statement {
public:
  Statement(Statement &&other) noexcept;
  Statement &operator=(Statement &&) = delete;
  ~Statement();

  Statement &bind(int64_t value);
  Statement &bind(double value); // one that is no number is stored as NULL
  Statement &bind(std::string_view value);
  Statement &bind(std::optional<int64_t> value); // nothing is stored as NULL
  /// Whether there is a row.
  Result<bool> step();
  /// Calls `each()` for every row; one that returns a Result<void> ends it by an error.
  template <typename Each> Result<void> forEachRow(Each each);
  /// Runs it for its effect, and makes it ready for other values.
  Result<void> run();

  int64_t integer(int column) const;
  std::optional<int64_t> optionalInteger(int column) const;
  double number(int column) const; // NULL is NaN
  std::string text(int column) const;

private:
  friend class Database;
  Statement(Database &database, sqlite3_stmt *handle) : database(database), handle(handle) {}
  Database &database;
  sqlite3_stmt *handle;
  int bound = 0;
};

template <typename Each> Result<void> Statement::forEachRow(Each each) {
  for (;;) {
    Result<bool> row = step();
    if (!row)
      return row.error();
    if (!*row)
      return {};
    if constexpr (std::is_void_v<std::invoke_result_t<Each>>)
      each();
    else if (Result<void> done = each(); !done)
      return done;
  }
}

class Database {
public:
  enum class Mode { Read, Write, Create };
  static Result<std::unique_ptr<Database>> open(const std::string &path, Mode mode);
  ~Database();

  Result<void> execute(const std::string &sql);
  Result<Statement> prepare(std::string_view sql);
  /// The only value of a query.
  Result<int64_t> integer(std::string_view sql);
  int64_t lastId() const;
  int64_t changes() const;
  const std::string &path() const { return name; }
  Error failure() const;

private:
  Database(std::string path, sqlite3 *handle) : name(std::move(path)), handle(handle) {}
  std::string name;
  sqlite3 *handle;
};

/// A transaction that writes; undone unless committed.
class Transaction {
public:
  static Result<Transaction> begin(Database &database);
  Transaction(Transaction &&other) noexcept;
  ~Transaction();
  Result<void> commit();

private:
  explicit Transaction(Database &database) : database(&database) {}
  Database *database;
};

} // namespace hybrid::rt::lab
