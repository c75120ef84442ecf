//===- Schema.h - the tables of a study ---------------------------------------===//
//
//   study(name, value)         convention, suite, seed, version, command, option.NNN.NAME
//   architecture(...)          models, in the order given
//   run(...)                   one row a training, made before any is trained; claimed by a worker
//   curve(run, step, ...)      evaluations of finished runs
//
// Every row has a hash of itself, which SQLite keeps up to date and openStudy() checks.
//
// SQLite's application id and user version tell the file from others and this layout from later
// ones. On disks of this machine the log is written ahead (WAL); on a file system shared by
// machines, where that is not possible, SQLite's locks on the file itself do.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include "laboratory/database/Database.h"

namespace hybrid::rt::lab {

inline constexpr int64_t schemaVersion = 3;

/// Opens a study's database; Mode::Create makes the tables of a file that has none.
Result<std::unique_ptr<Database>> openStudy(const std::string &path, Database::Mode mode);
/// Whether the file holds a study. There may be none yet in a file that is there: who made it was
/// killed before the study was in it.
Result<bool> holdsStudy(const std::string &path);

/// Everything but the runs' curves if not `curves`.
Result<Study> loadStudy(Database &database, bool curves);

/// Writes study, architectures and pending runs into a database that has none, in one transaction
/// with the check that it has none. The ids of runs count from 1 in their order.
Result<void> storeStudy(Database &database, const Study &study);
/// The same, but a study that is there grows by what is new. Its architectures must be the first of
/// `study`, in their order.
Result<void> growStudy(Database &database, const Study &study);

} // namespace hybrid::rt::lab
