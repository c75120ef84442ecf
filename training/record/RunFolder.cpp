//===- RunFolder.cpp - what a run leaves on disk -----------------------------===//
#include "training/record/RunFolder.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/Json.h"
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace hybrid::rt {
namespace fs = std::filesystem;
using nlohmann::json;

Result<RunFolder> RunFolder::open(const std::string &path, bool resume) {
  std::error_code error;
  if (!resume && fs::exists(path, error) &&
      !(fs::is_directory(path, error) && fs::is_empty(path, error)))
    return Error{
        fmt::format("'{}' is not empty: choose another --out, or --resume the run in it", path)};
  RunFolder run;
  run.folder = path;
  fs::create_directories(run.checkpoints(), error);
  if (error)
    return Error{
        fmt::format("cannot make the folder '{}': {}", run.checkpoints(), error.message())};
  Result<FolderLock> lock = FolderLock::take(path);
  if (!lock)
    return lock.error();
  run.lock.emplace(std::move(*lock));
  auto metrics = AppendFile::open(path + "/metrics.jsonl");
  if (!metrics)
    return metrics.error();
  run.metrics.emplace(std::move(*metrics));
  return run;
}

Result<void> RunFolder::writeJson(const std::string &name, const json &value) const {
  return writeFileAtomically(folder + "/" + name, jsonText(value) + "\n");
}

Result<double> RunFolder::truncateMetrics(int64_t lines) {
  const std::string &path = metrics->path();
  std::ifstream file(path, std::ios::binary);
  std::string line, last;
  uint64_t bytes = 0;
  int64_t kept = 0;
  while (kept < lines && std::getline(file, line) && !file.eof()) {
    bytes += line.size() + 1;
    last = line;
    ++kept;
  }
  if (kept < lines)
    return Error{
        fmt::format("'{}' has {} complete lines, but the checkpoint follows line {}: it was "
                    "changed or lost",
                    path, kept, lines)};
  if (auto done = metrics->cut(bytes); !done)
    return done.error();
  return jsonField<double>(parseJsonOrNull(last), "seconds").value_or(0.0);
}

Result<void> RunFolder::appendMetrics(const json &line) {
  return metrics->append(jsonLine(line) + "\n");
}

Result<void> RunFolder::syncMetrics() { return metrics->sync(); }

} // namespace hybrid::rt
