//===- Checkpoint.cpp - the state of a run in one file -----------------------===//
#include "training/Checkpoint.h"
#include "executable/TemporaryOutput.h"
#include "runtime/files/Json.h"
#include "runtime/files/Safetensors.h"
#include "training/CheckpointTokenizer.h"
#include "training/TensorHashes.h"
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <xxhash.h>

namespace hybrid::rt {
namespace {

using nlohmann::json;
constexpr const char *formatVersion = "1";

json toJson(const RunState &state) {
  json value = {
      {"step", state.step},
      {"planned_steps", state.plannedSteps},
      {"metrics_lines", state.metricsLines},
      {"interval",
       {state.interval.loss, state.interval.weight, state.interval.correct, state.intervalSteps}},
      {"best", {state.bestStep, state.bestLoss, state.bestAccuracy}},
      {"finished", state.finished},
      {"fingerprint", state.fingerprint},
      {"config", state.config}};
  if (const auto &outliers = state.outliers)
    value["outliers"] = {
        {"losses", outliers->losses}, {"norms", outliers->norms}, {"left_out", outliers->leftOut}};
  return value;
}

bool numbersFrom(const json &object, const char *key, std::vector<double> &out) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_array())
    return false;
  for (const json &item : *found) {
    if (!item.is_number())
      return false;
    out.push_back(item.get<double>());
  }
  return true;
}

bool outliersFrom(const json &object, RunState &state) {
  auto found = object.find("outliers");
  if (found == object.end())
    return true;
  RunState::Outliers outliers;
  const auto leftOut = jsonField<int64_t>(*found, "left_out");
  if (!found->is_object() || !leftOut || *leftOut < 0 ||
      !numbersFrom(*found, "losses", outliers.losses) ||
      !numbersFrom(*found, "norms", outliers.norms))
    return false;
  outliers.leftOut = *leftOut;
  state.outliers = std::move(outliers);
  return true;
}

/// Every field present and of its type, or nothing. JSON errors must not reach the library's own
/// checks, which end the process.
bool fromJson(const json &value, RunState &state) {
  if (!value.is_object())
    return false;
  auto integer = [&](const char *key, int64_t &out) {
    auto found = value.find(key);
    if (found == value.end() || !found->is_number_integer())
      return false;
    out = found->get<int64_t>();
    return true;
  };
  auto numbers = [&](const char *key, size_t count) -> const json * {
    auto found = value.find(key);
    if (found == value.end() || !found->is_array() || found->size() != count)
      return nullptr;
    for (const json &item : *found)
      if (!item.is_number())
        return nullptr;
    return &*found;
  };
  const json *interval = numbers("interval", 4), *best = numbers("best", 3);
  auto finished = value.find("finished"), print = value.find("fingerprint"),
       config = value.find("config");
  if (!integer("step", state.step) || !integer("planned_steps", state.plannedSteps) ||
      !integer("metrics_lines", state.metricsLines) || !interval || !best ||
      finished == value.end() || !finished->is_boolean() || print == value.end() ||
      !print->is_number_unsigned() || config == value.end() || !config->is_object())
    return false;
  state.interval = {(*interval)[0].get<double>(), (*interval)[1].get<double>(),
                    (*interval)[2].get<double>()};
  state.intervalSteps = (*interval)[3].get<int64_t>();
  state.bestStep = (*best)[0].get<int64_t>();
  state.bestLoss = (*best)[1].get<double>();
  state.bestAccuracy = (*best)[2].get<double>();
  state.finished = finished->get<bool>();
  state.fingerprint = print->get<uint64_t>();
  state.config = *config;
  return state.step >= 0 && state.plannedSteps >= 0 && state.metricsLines >= 0 &&
         outliersFrom(value, state);
}

/// A hash over the state and over every tensor's name, shape and bytes, in the order of names.
std::string hashOf(const std::string &state, std::vector<SafetensorsTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });
  XXH3_state_t *hash = XXH3_createState();
  XXH3_64bits_reset(hash);
  XXH3_64bits_update(hash, state.data(), state.size());
  for (const SafetensorsTensor &tensor : tensors) {
    std::string head =
        fmt::format("{} {} [{}];", tensor.name, nameOf(tensor.type), fmt::join(tensor.shape, ","));
    XXH3_64bits_update(hash, head.data(), head.size());
    XXH3_64bits_update(hash, tensor.data.data(), tensor.data.size());
  }
  std::string text = fmt::format("{:016x}", XXH3_64bits_digest(hash));
  XXH3_freeState(hash);
  return text;
}

std::vector<SafetensorsTensor> tensorsOf(StepRunner &runner, int64_t replica) {
  std::vector<SafetensorsTensor> tensors;
  for (StateTensor &tensor : runner.state(replica))
    tensors.push_back({tensor.name, tensor.type, tensor.shape, tensor.data});
  return tensors;
}

bool sameType(SafetensorsEntry::Type stored, DType wanted) {
  using Type = SafetensorsEntry::Type;
  return (stored == Type::F32 && wanted == DType::F32) ||
         (stored == Type::F64 && wanted == DType::F64) ||
         (stored == Type::I32 && wanted == DType::I32);
}

} // namespace

std::string serialized(const RunState &state) {
  return toJson(state).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::optional<RunState> readRunState(std::string_view text) {
  RunState state;
  return fromJson(parseJsonOrNull(std::string(text)), state) ? std::optional(state) : std::nullopt;
}

Result<void> saveCheckpoint(const std::string &path, StepRunner &runner, const RunState &state,
                            int64_t replica) {
  std::vector<SafetensorsTensor> tensors = tensorsOf(runner, replica);
  std::string text = serialized(state);
  std::map<std::string, std::string> metadata{{"format", "hybrid-checkpoint"},
                                              {"format_version", formatVersion},
                                              {"state", text},
                                              {"hash", hashOf(text, tensors)}};
  if (!state.tokenizer.empty())
    metadata[tokenizerKey] = state.tokenizer;
  addHashes(tensors, metadata);
  return writeSafetensors(path, tensors, metadata);
}

Result<RunState> loadCheckpoint(const std::string &path, StepRunner &runner, int64_t replica) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.error();
  auto meta = [&](const std::string &key) {
    auto found = file->metadata().find(key);
    return found == file->metadata().end() ? std::string() : found->second;
  };
  if (meta("format") != "hybrid-checkpoint")
    return Error{
        fmt::format("'{}' is not a checkpoint of a run: its metadata has no run state; it can "
                    "be used for parameters only",
                    path)};
  if (meta("format_version") != formatVersion)
    return Error{fmt::format("'{}' is a checkpoint of format version '{}'; this version reads {}",
                             path, meta("format_version"), formatVersion)};
  if (auto sound = checkHashes(*file, path); !sound)
    return sound.error();

  std::vector<StateTensor> wanted = runner.state(replica);
  std::vector<SafetensorsTensor> stored;
  std::set<std::string> names;
  for (const StateTensor &tensor : wanted) {
    const SafetensorsEntry *entry = file->find(tensor.name);
    if (!entry)
      return Error{fmt::format("'{}' has no tensor '{}', which the model has", path, tensor.name)};
    if (!sameType(entry->type, tensor.type) || entry->shape != tensor.shape ||
        entry->data.size() != tensor.data.size())
      return Error{fmt::format("'{}': tensor '{}' is [{}], the model's is {} [{}]", path,
                               tensor.name, fmt::join(entry->shape, ", "), nameOf(tensor.type),
                               fmt::join(tensor.shape, ", "))};
    stored.push_back({tensor.name, tensor.type, tensor.shape, entry->data});
    names.insert(tensor.name);
  }
  for (const auto &[name, entry] : file->tensors())
    if (!names.count(name))
      return Error{
          fmt::format("'{}' has a tensor '{}', which the model does not have", path, name)};
  std::string text = meta("state");
  if (hashOf(text, stored) != meta("hash"))
    return Error{fmt::format(
        "'{}' is damaged: its content does not have the hash it was written with", path)};
  std::optional<RunState> state = readRunState(text);
  if (!state)
    return Error{fmt::format("'{}' is damaged: its run state cannot be read", path)};
  for (size_t i = 0; i < wanted.size(); ++i)
    if (auto done = runner.setState(replica, i, stored[i].data); !done)
      return done.error();
  return *state;
}

std::string checkpointName(int64_t step) { return fmt::format("step-{:08}.safetensors", step); }

std::vector<CheckpointFile> listCheckpoints(const std::string &folder) {
  removeAbandonedOutput(folder);
  std::vector<CheckpointFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!name.starts_with("step-") || !name.ends_with(".safetensors"))
      continue;
    int64_t step = 0;
    const char *from = name.data() + 5, *to = name.data() + name.size() - 12;
    auto [stop, code] = std::from_chars(from, to, step);
    if (code == std::errc() && stop == to && step >= 0)
      files.push_back({step, at->path().string()});
  }
  std::sort(files.begin(), files.end(),
            [](const auto &a, const auto &b) { return a.step > b.step; });
  return files;
}

std::string describeDifference(const json &now, const json &then) {
  std::vector<std::string> parts;
  auto show = [](const json &object, const std::string &key) {
    auto found = object.find(key);
    return found == object.end() ? std::string("absent")
                                 : found->dump(-1, ' ', false, json::error_handler_t::replace);
  };
  std::set<std::string> keys;
  for (const json *object : {&now, &then})
    if (object->is_object())
      for (auto item = object->begin(); item != object->end(); ++item)
        keys.insert(item.key());
  for (const std::string &key : keys)
    if (show(now, key) != show(then, key))
      parts.push_back(
          fmt::format("{} is {}, the run had {}", key, show(now, key), show(then, key)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

} // namespace hybrid::rt
