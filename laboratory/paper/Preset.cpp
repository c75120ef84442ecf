//===- Preset.cpp - how a paper trained its models, by name -------------------------===//
#include "laboratory/paper/Preset.h"
#include "executable/NearestName.h"
#include "laboratory/Columns.h"
#include "laboratory/paper/JsonReader.h"
#include "runtime/files/File.h"
#include <cmath>

namespace hybrid::rt::lab {
namespace {
using nlohmann::json;

PresetValues readValues(JsonReader &reader, const json &object, std::string &fault) {
  PresetValues values;
  auto read = [&]<typename Value>(const char *key, std::optional<Value> &to, double least,
                                  double most) {
    const bool there = object.is_object() && object.contains(key);
    const Value value = reader.get<Value>(key, Value{});
    if (!there)
      return;
    if constexpr (std::is_arithmetic_v<Value>)
      if (fault.empty() &&
          (!(static_cast<double>(value) >= least) || static_cast<double>(value) > most))
        reader.fail(key, fmt::format("is {}; expected {} to {}", value, least, most));
    to = value;
  };
  constexpr double any = 1e15;
  read("schedule", values.schedule, 0, 0);
  if (values.schedule && fault.empty())
    if (auto kind = scheduleKind(*values.schedule); !kind)
      reader.fail("schedule", kind.error().message);
  read("lr", values.learningRate, 1e-12, 1e3);
  read("min_lr", values.leastRate, 0, 1e3);
  read("warmup", values.warmup, 0, 1);
  read("weight_decay", values.weightDecay, 0, 1e3);
  read("beta1", values.beta1, 0, 0.999999);
  read("beta2", values.beta2, 0, 0.99999999);
  read("eps", values.epsilon, 0, 1);
  read("clip", values.clip, 0, any);
  read("epochs", values.epochs, 1e-6, 1e9);
  read("steps", values.steps, 1, any);
  read("batch", values.batch, 1, any);
  read("batch_tokens", values.batchTokens, 1, any);
  return values;
}

/// What `more` says counts.
void takeFrom(const PresetValues &more, PresetValues &values) {
  auto take = [](const auto &from, auto &to) {
    if (from)
      to = from;
  };
  take(more.schedule, values.schedule);
  take(more.learningRate, values.learningRate);
  take(more.leastRate, values.leastRate);
  take(more.warmup, values.warmup);
  take(more.weightDecay, values.weightDecay);
  take(more.beta1, values.beta1);
  take(more.beta2, values.beta2);
  take(more.epsilon, values.epsilon);
  take(more.clip, values.clip);
  take(more.epochs, values.epochs);
  take(more.steps, values.steps);
  take(more.batch, values.batch);
  take(more.batchTokens, values.batchTokens);
}

} // namespace

PresetValues Preset::at(double parameters) const {
  PresetValues all = values;
  if (sizes.empty())
    return all;
  const auto above = std::find_if(sizes.begin(), sizes.end(),
                                  [&](const Size &size) { return size.parameters >= parameters; });
  const Size &upper = above == sizes.end() ? sizes.back() : *above;
  const Size &lower = above == sizes.begin() || above == sizes.end() ? upper : *(above - 1);
  const bool lowerIsNear =
      std::log(parameters / lower.parameters) < std::log(upper.parameters / parameters);
  takeFrom(lowerIsNear ? lower.values : upper.values, all);
  if (lower.values.learningRate && upper.values.learningRate && &lower != &upper) {
    const double way = (parameters - lower.parameters) / (upper.parameters - lower.parameters);
    all.learningRate = *lower.values.learningRate +
                       way * (*upper.values.learningRate - *lower.values.learningRate);
  }
  return all;
}

Result<std::vector<Preset>> readPresets(const std::string &papers) {
  const std::string path = papers + "/presets.json";
  auto file = readJson(path);
  if (!file)
    return file.error();
  std::string fault;
  std::vector<Preset> presets;
  if (!file->is_object())
    return Error{fmt::format("{}: is no object", path)};
  for (const auto &[name, each] : file->items()) {
    JsonReader reader(each, name, fault);
    Preset preset;
    preset.name = name;
    preset.source = reader.get<std::string>("source");
    preset.note = reader.get<std::string>("note", "");
    preset.values = readValues(reader, each, fault);
    if (const json *sizes = reader.at("sizes", json::value_t::array))
      for (size_t i = 0; i < sizes->size(); ++i) {
        const json &row = (*sizes)[i];
        JsonReader size(row, fmt::format("{}.sizes[{}]", name, i), fault);
        const auto parameters = size.get<double>("parameters");
        if (!preset.sizes.empty() && parameters <= preset.sizes.back().parameters)
          size.fail("parameters", "is no larger than that before it");
        preset.sizes.push_back({parameters, readValues(size, row, fault)});
        size.end();
      }
    reader.end();
    presets.push_back(std::move(preset));
    if (!fault.empty())
      return Error{fmt::format("{}: {}", path, fault)};
  }
  return presets;
}

Result<Preset> findPreset(const std::string &papers, const std::string &name) {
  auto presets = readPresets(papers);
  if (!presets)
    return presets.error();
  std::vector<std::string> names;
  for (const Preset &preset : *presets) {
    if (preset.name == name)
      return preset;
    names.push_back(preset.name);
  }
  const std::string nearest = nearestName(name, names);
  return Error{fmt::format("--preset {}: there is none of this name{}; there are {}", name,
                           nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest),
                           fmt::join(names, ", "))};
}

std::string presetTable(const std::vector<Preset> &presets) {
  std::vector<std::vector<std::string>> rows{{"preset", "from", "what"}};
  for (const Preset &preset : presets)
    rows.push_back({preset.name, preset.source, preset.note});
  return alignColumns(rows, 0);
}

} // namespace hybrid::rt::lab
