//===- WarmStart.cpp - the parameters of another run to begin with ------------------===//
#include "training/WarmStart.h"
#include "executable/NearestName.h"
#include "runtime/files/File.h"
#include "runtime/files/Safetensors.h"
#include "training/ParameterFile.h"
#include "training/TensorHashes.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <xxhash.h>

namespace hybrid::rt {
namespace {

bool belongsToTraining(const std::string &name) {
  return name.starts_with("moment1.") || name.starts_with("moment2.") ||
         name.starts_with(averagePrefix);
}

bool matchesAny(const std::vector<std::string> &patterns, const std::string &name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string &pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

double read(std::span<const std::byte> data, bool wide, int64_t place) {
  if (wide) {
    double value;
    std::memcpy(&value, data.data() + place * 8, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, data.data() + place * 4, sizeof value);
  return value;
}

void write(std::span<std::byte> data, bool wide, int64_t place, double value) {
  const auto narrow = static_cast<float>(value);
  if (wide)
    std::memcpy(data.data() + place * 8, &value, sizeof value);
  else
    std::memcpy(data.data() + place * 4, &narrow, sizeof narrow);
}

/// Copies what both have: of every dimension the first places.
void copyCommon(const SafetensorsEntry &from, const StateTensor &to, std::span<std::byte> bytes) {
  const bool wideFrom = from.type == SafetensorsEntry::Type::F64, wideTo = to.type == DType::F64;
  const size_t rank = to.shape.size();
  std::vector<int64_t> common(rank), place(rank, 0);
  int64_t count = 1;
  for (size_t d = 0; d < rank; ++d)
    count *= common[d] = std::min(from.shape[d], to.shape[d]);
  for (int64_t i = 0; i < count; ++i) {
    int64_t there = 0, here = 0;
    for (size_t d = 0; d < rank; ++d) {
      there = there * from.shape[d] + place[d];
      here = here * to.shape[d] + place[d];
    }
    write(bytes, wideTo, here, read(from.data, wideFrom, there));
    for (size_t d = rank; d-- > 0 && ++place[d] == common[d];)
      place[d] = 0;
  }
}

/// Where the tensors of a file go.
struct Places {
  SafetensorsFile file;
  std::vector<std::pair<size_t, const SafetensorsEntry *>> taken; // index into the runner's state
  size_t parameters = 0;
  std::vector<std::string> parts, drawn; // taken in part, as told to people; left as drawn
};

Result<Places> placesOf(const WarmStart &from, const std::vector<StateTensor> &state) {
  auto opened = SafetensorsFile::open(from.path);
  if (!opened)
    return opened.error();
  if (auto sound = checkHashes(*opened, from.path); !sound)
    return sound.error();
  Places places{std::move(*opened), {}, 0, {}, {}};
  std::vector<std::string> known, faults;
  for (size_t i = 0; i < state.size(); ++i) {
    const StateTensor &parameter = state[i];
    if (belongsToTraining(parameter.name))
      continue;
    known.push_back(parameter.name);
    const bool mayDiffer = matchesAny(from.mayDiffer, parameter.name);
    const SafetensorsEntry *tensor = places.file.find(parameter.name);
    auto shapes = [&] {
      return fmt::format("'{}' is [{}], but the model has [{}]", parameter.name,
                         fmt::join(tensor->shape, ", "), fmt::join(parameter.shape, ", "));
    };
    if (!tensor) {
      if (mayDiffer)
        places.drawn.push_back(parameter.name);
      else
        faults.push_back(fmt::format("'{}' is missing", parameter.name));
    } else if (tensor->type != SafetensorsEntry::Type::F32 &&
               tensor->type != SafetensorsEntry::Type::F64) {
      faults.push_back(
          fmt::format("'{}' holds integers, expected floating point numbers", parameter.name));
    } else if (tensor->shape.size() != parameter.shape.size() ||
               (tensor->shape != parameter.shape && !mayDiffer)) {
      faults.push_back(shapes());
    } else {
      if (tensor->shape != parameter.shape)
        places.parts.push_back(shapes());
      places.taken.emplace_back(i, tensor);
    }
  }
  for (const auto &[name, tensor] : places.file.tensors()) {
    if (belongsToTraining(name) || matchesAny(from.mayDiffer, name) ||
        std::find(known.begin(), known.end(), name) != known.end())
      continue;
    const std::string nearest = nearestName(name, known);
    faults.push_back(fmt::format("'{}' is no parameter of the model{}", name,
                                 nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
  for (const std::string &pattern : from.mayDiffer) {
    std::vector<std::string> names = known;
    for (const auto &[name, tensor] : places.file.tensors())
      names.push_back(name);
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string &name) { return matchesAny({pattern}, name); }))
      return Error{fmt::format("--init-new {}: no parameter is called so; there are {}", pattern,
                               fmt::join(known, ", "))};
  }
  if (!faults.empty())
    return Error{fmt::format("--init-from {}: does not fit the model: {}. What may differ is named "
                             "by --init-new PATTERN",
                             from.path, firstFaults(faults))};
  places.parameters = known.size();
  return places;
}

} // namespace

Result<void> WarmStart::identify() {
  auto mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.error();
  identity = fmt::format("{:016x}", XXH3_64bits(mapped->bytes().data(), mapped->bytes().size()));
  if (!mayDiffer.empty())
    identity += fmt::format(" but {}", fmt::join(mayDiffer, " "));
  return {};
}

Result<void> checkWarmStart(const WarmStart &from, StepRunner &runner, int64_t replica) {
  auto places = placesOf(from, runner.state(replica));
  return places ? Result<void>() : places.error();
}

Result<std::string> startWarm(const WarmStart &from, StepRunner &runner, int64_t replica) {
  const std::vector<StateTensor> state = runner.state(replica);
  auto places = placesOf(from, state);
  if (!places)
    return places.error();
  for (const auto &[index, tensor] : places->taken) {
    std::vector<std::byte> bytes(state[index].data.begin(), state[index].data.end());
    copyCommon(*tensor, state[index], bytes);
    if (auto done = runner.setState(replica, index, bytes); !done)
      return done.error();
  }
  std::string text = fmt::format("{} of {} parameters from '{}'", places->taken.size(),
                                 places->parameters, from.path);
  if (!places->parts.empty())
    text += fmt::format("; of these in part: {}", fmt::join(places->parts, "; "));
  if (!places->drawn.empty())
    text += fmt::format("; drawn anew: {}", fmt::join(places->drawn, ", "));
  return text;
}

} // namespace hybrid::rt
