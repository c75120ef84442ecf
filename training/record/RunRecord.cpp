//===- RunRecord.cpp - what is kept of a run ---------------------------------===//
#include "training/record/RunRecord.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <filesystem>
#include <fstream>

namespace hybrid::rt {

using nlohmann::json;

Result<RunRecord> RunRecord::open(const std::string &path, bool resume) {
  RunRecord record;
  if (path.empty()) {
    if (resume)
      return Error{"only a run with a folder can be resumed"};
    return record;
  }
  Result<RunFolder> opened = RunFolder::open(path, resume);
  if (!opened)
    return opened.error();
  record.folder.emplace(std::move(*opened));
  return record;
}

/// The periodic evaluation that a line of metrics.jsonl tells of.
static std::optional<EvaluationPoint> pointOf(const json &line) {
  auto number = [&](const char *key, double otherwise) {
    auto found = line.find(key);
    return found != line.end() && found->is_number() ? found->get<double>() : otherwise;
  };
  auto split = line.is_object() ? line.find("split") : line.end();
  if (split == line.end() || *split != "eval" || line.contains("final"))
    return std::nullopt;
  EvaluationPoint point;
  point.step = static_cast<int64_t>(number("step", 0));
  point.score.loss = number("loss", 0);
  point.score.accuracy = number("accuracy", 0);
  point.score.madAccuracy = number("mad_accuracy", -1);
  point.score.sequenceAccuracy = number("sequence_accuracy", -1);
  point.score.scored = number("scored", 0);
  point.score.examples = static_cast<uint64_t>(number("examples", 0));
  return point;
}

Result<double> RunRecord::goBackTo(int64_t lines) {
  auto seconds = folder->truncateMetrics(lines);
  if (!seconds)
    return seconds;
  curve.clear();
  std::ifstream file(folder->path() + "/metrics.jsonl", std::ios::binary);
  for (std::string text; std::getline(file, text);)
    if (auto point = pointOf(parseJsonOrNull(text)))
      curve.push_back(*point);
  return seconds;
}

Result<void> RunRecord::begin(int64_t step, const json &config) {
  if (!folder)
    return {};
  Result<EventFile> file = EventFile::create(folder->path(), step);
  if (!file)
    return file.error();
  events.emplace(std::move(*file));
  return folder->writeJson("config.json", config);
}

Result<void> RunRecord::line(int64_t step, const json &line) {
  if (!folder)
    return {};
  std::vector<std::pair<std::string, double>> values;
  std::string prefix = line["split"].get<std::string>() + "/";
  for (auto item = line.begin(); item != line.end(); ++item)
    if (item->is_number() && item.key() != "step" && item.key() != "seconds" &&
        item.key() != "examples" && item.key() != "scored")
      values.emplace_back(prefix + item.key(), item->get<double>());
  if (auto done = events->scalars(step, values); !done)
    return done;
  return folder->appendMetrics(line);
}

Result<void> RunRecord::writeCheckpoint(const std::string &name, StepRunner &runner,
                                        int64_t replica, const RunState &state) {
  if (auto done = folder->syncMetrics(); !done)
    return done;
  return saveCheckpoint(folder->checkpoints() + "/" + name, runner, state, replica);
}

Result<void> RunRecord::saveBest(StepRunner &runner, int64_t replica, const RunState &state) {
  return folder ? writeCheckpoint("best.safetensors", runner, replica, state) : Result<void>();
}

Result<void> RunRecord::save(StepRunner &runner, int64_t replica, const RunState &state,
                             int64_t keep) {
  if (!folder)
    return {};
  if (auto done = writeCheckpoint(checkpointName(state.step), runner, replica, state); !done)
    return done;
  std::vector<CheckpointFile> files = listCheckpoints(folder->checkpoints());
  for (size_t i = static_cast<size_t>(std::max<int64_t>(1, keep)); i < files.size(); ++i) {
    std::error_code ignored;
    std::filesystem::remove(files[i].path, ignored);
  }
  return {};
}

Result<void> RunRecord::summary(const json &summary) const {
  return folder ? folder->writeJson("summary.json", summary) : Result<void>();
}

Result<void> RunRecord::sample(const json &sample) const {
  if (!folder)
    return {};
  auto file = AppendFile::open(folder->path() + "/samples.jsonl");
  return file ? file->append(jsonLine(sample) + "\n") : Result<void>(file.error());
}

Result<void> RunRecord::cutSamples(int64_t step) const {
  const std::string path = folder ? folder->path() + "/samples.jsonl" : std::string();
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error))
    return {};
  std::ifstream file(path, std::ios::binary);
  std::string kept;
  for (std::string text; std::getline(file, text) && !file.eof();)
    if (jsonField<int64_t>(parseJsonOrNull(text), "step").value_or(step + 1) <= step)
      kept += text + "\n";
  return writeFileAtomically(path, kept);
}

} // namespace hybrid::rt
