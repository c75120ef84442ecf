//===- RunFolder.cpp - what a run leaves on disk -----------------------------===//
#include "training/record/RunFolder.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/Json.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

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
  std::string file = path + "/metrics.jsonl";
  run.metrics = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (run.metrics < 0)
    return Error{fmt::format("cannot write '{}': {}", file, std::strerror(errno))};
  return run;
}

RunFolder::RunFolder(RunFolder &&other) noexcept
    : folder(std::move(other.folder)), lock(std::move(other.lock)),
      metrics(std::exchange(other.metrics, -1)) {}

RunFolder::~RunFolder() {
  if (metrics >= 0)
    close(metrics);
}

Result<void> RunFolder::writeJson(const std::string &name, const json &value) const {
  return writeFileAtomically(folder + "/" + name, jsonText(value) + "\n");
}

Result<double> RunFolder::truncateMetrics(int64_t lines) {
  std::string path = folder + "/metrics.jsonl";
  std::ifstream file(path, std::ios::binary);
  std::string line, last;
  off_t bytes = 0;
  int64_t kept = 0;
  while (kept < lines && std::getline(file, line) && !file.eof()) {
    bytes += static_cast<off_t>(line.size()) + 1;
    last = line;
    ++kept;
  }
  if (kept < lines)
    return Error{
        fmt::format("'{}' has {} complete lines, but the checkpoint follows line {}: it was "
                    "changed or lost",
                    path, kept, lines)};
  if (ftruncate(metrics, bytes) != 0)
    return Error{fmt::format("cannot write '{}': {}", path, std::strerror(errno))};
  return jsonField<double>(parseJsonOrNull(last), "seconds").value_or(0.0);
}

Result<void> RunFolder::appendMetrics(const json &line) {
  std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (size_t at = 0; at < text.size();) {
    ssize_t written = ::write(metrics, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return Error{
          fmt::format("cannot write '{}/metrics.jsonl': {}", folder, std::strerror(errno))};
    at += static_cast<size_t>(written);
  }
  return {};
}

Result<void> RunFolder::syncMetrics() {
  if (fdatasync(metrics) != 0 && errno != EINVAL && errno != EROFS)
    return Error{fmt::format("cannot sync '{}/metrics.jsonl': {}", folder, std::strerror(errno))};
  return {};
}

} // namespace hybrid::rt
