//===- Preset.cpp - how a paper trained its models, by name -------------------------===//
#include "laboratory/paper/Preset.h"
#include "executable/NearestName.h"
#include "laboratory/Columns.h"
#include "laboratory/paper/JsonReader.h"
#include "runtime/files/File.h"
#include <cmath>

extern "C" {
extern const char hybridPresetsBegin[], hybridPresetsEnd[];
}

namespace hybrid::rt::lab {
namespace {
using nlohmann::json;

/// The keys of presets.json with what they hold and from where to where numbers may be.
template <typename Each> void eachValue(const Each &each) {
  constexpr double any = 1e15;
  each("schedule", &PresetValues::schedule, 0, 0);
  each("lr", &PresetValues::learningRate, 1e-12, 1e3);
  each("min_lr", &PresetValues::leastRate, 0, 1e3);
  each("warmup", &PresetValues::warmup, 0, 1);
  each("weight_decay", &PresetValues::weightDecay, 0, 1e3);
  each("beta1", &PresetValues::beta1, 0, 0.999999);
  each("beta2", &PresetValues::beta2, 0, 0.99999999);
  each("eps", &PresetValues::epsilon, 0, 1);
  each("clip", &PresetValues::clip, 0, any);
  each("epochs", &PresetValues::epochs, 1e-6, 1e9);
  each("steps", &PresetValues::steps, 1, any);
  each("batch", &PresetValues::batch, 1, any);
  each("batch_tokens", &PresetValues::batchTokens, 1, any);
}

PresetValues readValues(JsonReader &reader, const json &object, std::string &fault) {
  PresetValues values;
  eachValue([&]<typename Value>(const char *key, std::optional<Value> PresetValues::*member,
                                double least, double most) {
    const bool there = object.is_object() && object.contains(key);
    const Value value = reader.get<Value>(key, Value{});
    if (!there)
      return;
    if constexpr (std::is_arithmetic_v<Value>)
      if (fault.empty() &&
          (!(static_cast<double>(value) >= least) || static_cast<double>(value) > most))
        reader.fail(key, fmt::format("is {}; expected {} to {}", value, least, most));
    values.*member = value;
  });
  if (values.schedule && fault.empty())
    if (auto kind = scheduleKind(*values.schedule); !kind)
      reader.fail("schedule", kind.error().message);
  return values;
}

/// Rows of values that rise by a number, `key`.
template <typename Row>
std::vector<Row> readRows(JsonReader &reader, const char *list, const char *key,
                          std::string &fault) {
  std::vector<Row> rows;
  double last = 0;
  if (const json *array = reader.at(list, json::value_t::array))
    for (size_t i = 0; i < array->size(); ++i) {
      const json &each = (*array)[i];
      JsonReader row(each, fmt::format("{}[{}]", reader.placeOf(list), i), fault);
      const auto number = row.get<double>(key);
      if (number <= last)
        row.fail(key, i > 0 ? "is no larger than that before it" : "is not above 0");
      last = number;
      rows.push_back({number, readValues(row, each, fault)});
      row.end();
    }
  return rows;
}

/// What `more` says counts.
void takeFrom(const PresetValues &more, PresetValues &values) {
  eachValue([&](const char *, auto member, double, double) {
    if (more.*member)
      values.*member = more.*member;
  });
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

Result<std::vector<Preset>> parsePresets(std::string_view text, const std::string &path) {
  auto file = parseJson(text, path);
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
    preset.sizes = readRows<Preset::Size>(reader, "sizes", "parameters", fault);
    preset.budgets = readRows<Preset::Budget>(reader, "budgets", "flops", fault);
    reader.end();
    presets.push_back(std::move(preset));
    if (!fault.empty())
      return Error{fmt::format("{}: {}", path, fault)};
  }
  return presets;
}

const std::vector<Preset> &presets() {
  static const std::vector<Preset> list =
      *parsePresets({hybridPresetsBegin, hybridPresetsEnd}, "presets.json");
  return list;
}

Result<Preset> findPreset(const std::string &name) {
  std::vector<std::string> names;
  for (const Preset &preset : presets()) {
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
