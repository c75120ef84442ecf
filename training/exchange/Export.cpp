//===- Export.cpp - an imported model back to Hugging Face's layout --------------===//
#include "runtime/files/ElementCount.h"
#include "training/TensorHashes.h"
#include "training/exchange/Folder.h"
#include "training/exchange/Import.h"
#include "training/exchange/Record.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt::exchange {
namespace {

namespace fs = std::filesystem;

/// Tensors of the original, made of parameters of ours.
class Exporter {
public:
  Exporter(const Architecture &model, const Record &record, const SafetensorsFile &parameters,
           const SafetensorsFile *unused)
      : model(model), record(record), parameters(parameters), unused(unused) {}

  /// Checks everything. The errors name `parametersPath` and the record's file.
  Result<void> plan(const std::string &parametersPath, const std::string &recordPath);
  Result<void> write(const std::string &path);
  size_t tensors() const { return plans.size(); }

private:
  struct Place {
    const TensorRule *rule = nullptr; // null: a tensor that is not used
    size_t source = 0;
  };
  Result<std::span<const std::byte>> make(size_t i);

  const Architecture &model;
  const Record &record;
  const SafetensorsFile &parameters;
  const SafetensorsFile *unused;
  std::vector<SafetensorsPlan> plans;
  std::vector<Place> places;             // of each plan
  const TensorRule *scattered = nullptr; // whose sources these are
  std::vector<std::vector<std::byte>> sources;
  std::vector<std::byte> current;
};

Result<void> Exporter::plan(const std::string &parametersPath, const std::string &recordPath) {
  std::vector<std::string> missing;
  for (const TensorRule &rule : model.rules.rules()) {
    const SafetensorsEntry *parameter = parameters.find(rule.parameter);
    if (!parameter)
      return Error{fmt::format("'{}' has no parameter '{}': it is no checkpoint of this model",
                               parametersPath, rule.parameter)};
    if (parameter->shape != rule.shape || (parameter->type != SafetensorsEntry::Type::F32 &&
                                           parameter->type != SafetensorsEntry::Type::F64))
      return Error{fmt::format("'{}': '{}' is {} [{}], expected F32 [{}]", parametersPath,
                               rule.parameter, nameOf(parameter->type),
                               fmt::join(parameter->shape, ", "), fmt::join(rule.shape, ", "))};
    for (size_t i = 0; i < rule.sources.size(); ++i) {
      const std::string name = nameInFile(model, rule.sources[i].name, [&](const std::string &n) {
        return record.tensors.contains(n);
      });
      auto type = record.tensors.find(name);
      if (type == record.tensors.end() || !isFloat(type->second)) {
        missing.push_back(name);
        continue;
      }
      plans.push_back({name, type->second, rule.sources[i].shape});
      places.push_back({&rule, i});
    }
  }
  if (!missing.empty())
    return Error{
        fmt::format("'{}' says nothing of tensors that config.json asks for: {}. Import the "
                    "model again",
                    recordPath, someOf(missing))};
  if (unused)
    for (const auto &[name, entry] : unused->tensors()) {
      plans.push_back({name, entry.type, entry.shape});
      places.push_back({});
    }
  return {};
}

Result<std::span<const std::byte>> Exporter::make(size_t i) {
  const Place &place = places[i];
  if (!place.rule)
    return unused->find(plans[i].name)->data;
  const SafetensorsEntry &parameter = *parameters.find(place.rule->parameter);
  const bool wide = parameter.type == SafetensorsEntry::Type::F64;
  if (scattered != place.rule) {
    sources = scatter(*place.rule, parameter.data, wide ? 8 : 4);
    scattered = place.rule;
  }
  current = narrowed(sources[place.source], wide, plans[i].type);
  return std::span<const std::byte>(current);
}

Result<void> Exporter::write(const std::string &path) {
  return writeSafetensors(path, plans, {{"format", "pt"}}, [this](size_t i) { return make(i); });
}

} // namespace

Result<std::string> exportHuggingFace(const std::string &folder, const std::string &checkpoint,
                                      const std::string &out) {
  auto in = [&](const char *name) { return (fs::path(folder) / name).string(); };
  auto record = readRecord(in("exchange.json"));
  if (!record)
    return record.error();
  auto described = describe(folder);
  if (!described)
    return described.error();
  if (described->type != record->type)
    return Error{fmt::format("'{}' is of type {}, but '{}' of {}: import the model again",
                             in("config.json"), described->type, in("exchange.json"),
                             record->type)};
  described->architecture.rules.cutAs([&](const std::string &name) -> std::optional<int64_t> {
    auto rows = record->rows.find(name);
    return rows == record->rows.end() ? std::nullopt : std::optional(rows->second);
  });
  const std::string path = checkpoint.empty() ? in("model.safetensors") : checkpoint;
  auto parameters = SafetensorsFile::open(path);
  if (!parameters)
    return parameters.error();
  if (auto sound = checkHashes(*parameters, path); !sound)
    return sound.error();
  std::optional<SafetensorsFile> unused;
  std::error_code ignored;
  if (fs::exists(in("unused.safetensors"), ignored)) {
    auto opened = SafetensorsFile::open(in("unused.safetensors"));
    if (!opened)
      return opened.error();
    unused.emplace(std::move(*opened));
  }
  auto sideFiles = readSideFiles(folder);
  if (!sideFiles)
    return sideFiles.error();
  Exporter exporter(described->architecture, *record, *parameters, unused ? &*unused : nullptr);
  if (auto done = exporter.plan(path, in("exchange.json")); !done)
    return done.error();
  auto output = OutputFolder::create(out);
  if (!output)
    return output.error();
  if (auto done = exporter.write(output->file("model.safetensors")); !done)
    return done.error();
  for (const auto &[name, content] : *sideFiles) // config.json is the last
    if (auto done = output->write(name, content); !done)
      return done.error();
  output->keep();
  return fmt::format("{}: {} tensors\nin {}\n", described->type, exporter.tensors(), out);
}

} // namespace hybrid::rt::exchange
