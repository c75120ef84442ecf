//===- ParameterFile.cpp - parameters from a safetensors file ----------------------===//
#include "training/ParameterFile.h"
#include "executable/Executable_generated.h"
#include "executable/NearestName.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Safetensors.h"
#include "training/TensorHashes.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace hybrid::rt {
namespace {

template <typename From, typename To>
std::vector<std::byte> convert(std::span<const std::byte> from) {
  std::vector<std::byte> to(from.size() / sizeof(From) * sizeof(To));
  for (size_t i = 0; i < to.size() / sizeof(To); ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof(From));
    To converted = static_cast<To>(value);
    std::memcpy(to.data() + i * sizeof(To), &converted, sizeof(To));
  }
  return to;
}

/// The parameters of the model that a run's config.json beside its checkpoints names and this
/// executable was not given, or given otherwise. Empty: there is no such file, or nothing differs.
std::string settingsThatFit(const Executable &executable, const std::string &checkpoint) {
  const std::filesystem::path run =
      std::filesystem::absolute(checkpoint).parent_path().parent_path();
  auto text = readText((run / "config.json").string());
  if (!text)
    return "";
  const nlohmann::json config = parseJsonOrNull(*text);
  auto then = config.is_object() ? config.find("model_settings") : config.end();
  if (!config.is_object() || then == config.end() || !then->is_object())
    return "";
  std::map<std::string, std::string> now;
  if (executable.format().settings())
    for (const fb::Setting *setting : *executable.format().settings())
      now[setting->name()->str()] = setting->value() ? setting->value()->str() : "";
  // These are flags of the compiler, and no parameter's shape depends on them.
  static const std::set<std::string> flags{"batch",     "length",     "precision",      "products",
                                           "attention", "transforms", "small-products", "memory",
                                           "ensemble",  "optimizer"};
  std::vector<std::string> fitting;
  for (const auto &[name, value] : then->items())
    if (value.is_string() && !flags.contains(name) &&
        (!now.contains(name) || now[name] != value.get<std::string>()))
      fitting.push_back(fmt::format("--set {}={}", name, value.get<std::string>()));
  for (const auto &[name, value] : now)
    if (!flags.contains(name) && !then->contains(name))
      fitting.push_back(fmt::format("no --set {}={}", name, value));
  if (fitting.empty())
    return "";
  return fmt::format(". Its run was trained with {}", fmt::join(fitting, ", "));
}

} // namespace

std::string firstFaults(const std::vector<std::string> &faults) {
  constexpr size_t shown = 3;
  std::string text = fmt::format(
      "{}", fmt::join(faults.begin(),
                      faults.begin() + static_cast<std::ptrdiff_t>(std::min(shown, faults.size())),
                      "; "));
  if (faults.size() > shown)
    text += fmt::format("; and {} more", faults.size() - shown);
  return text;
}

Result<void> loadParameters(Session &session, const std::string &path, bool average) {
  auto opened = SafetensorsFile::open(path);
  if (!opened)
    return opened.error();
  const SafetensorsFile &file = *opened;
  if (auto sound = checkHashes(file, path); !sound)
    return sound;
  const auto &parameters = session.executable().parameters();
  std::vector<std::string> known, faults;
  for (const ParameterInfo &parameter : parameters)
    known.push_back(parameter.name);
  for (const auto &[name, tensor] : file.tensors()) {
    bool training = name.starts_with("moment1.") || name.starts_with("moment2.") ||
                    name.starts_with(averagePrefix);
    if (training || std::find(known.begin(), known.end(), name) != known.end())
      continue;
    std::string nearest = nearestName(name, known);
    faults.push_back(fmt::format("'{}' is no parameter of the model{}", name,
                                 nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
  if (average && !parameters.empty() && !file.find(averagePrefix + parameters[0].name))
    return Error{fmt::format("{} has no average of the parameters: train with --ema", path)};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ParameterInfo &parameter = parameters[i];
    const SafetensorsEntry *tensor = file.find((average ? averagePrefix : "") + parameter.name);
    if (!tensor) {
      faults.push_back(fmt::format("'{}' {} is missing", parameter.name, parameter.shapeText()));
      continue;
    }
    if (tensor->shape != parameter.shape) {
      faults.push_back(fmt::format("'{}' is [{}], but the model has {}", parameter.name,
                                   fmt::join(tensor->shape, ", "), parameter.shapeText()));
      continue;
    }
    bool wideFrom = tensor->type == SafetensorsEntry::Type::F64,
         wideTo = parameter.dtype == DType::F64;
    if (tensor->type != SafetensorsEntry::Type::F32 && !wideFrom)
      faults.push_back(fmt::format("'{}' holds {} numbers, expected F32 or F64", parameter.name,
                                   nameOf(tensor->type)));
    else if (auto done = wideFrom == wideTo ? session.setParameter(i, tensor->data)
                         : wideFrom ? session.setParameter(i, convert<double, float>(tensor->data))
                                    : session.setParameter(i, convert<float, double>(tensor->data));
             !done)
      return done;
  }
  if (!faults.empty())
    return Error{fmt::format("{}: does not fit the model: {}{}", path, firstFaults(faults),
                             settingsThatFit(session.executable(), path))};
  return {};
}

Result<void> saveParameters(Session &session, const std::string &path) {
  const auto &parameters = session.executable().parameters();
  std::vector<SafetensorsTensor> tensors;
  for (size_t i = 0; i < parameters.size(); ++i)
    tensors.push_back(
        {parameters[i].name, parameters[i].dtype, parameters[i].shape, session.parameter(i)});
  std::map<std::string, std::string> metadata;
  addHashes(tensors, metadata);
  return writeSafetensors(path, tensors, metadata);
}

} // namespace hybrid::rt
