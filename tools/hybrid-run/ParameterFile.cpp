//===- ParameterFile.cpp - parameters from a safetensors file ----------------------===//
#include "tools/hybrid-run/ParameterFile.h"
#include "runtime/files/Safetensors.h"
#include "tools/hybrid-run/Verbs.h"
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace hybrid::tools {

std::string nearestName(const std::string &name, const std::vector<std::string> &candidates) {
  std::string best;
  size_t bestDistance = name.size() / 3 + 3;
  for (const std::string &candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 1; i <= name.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= candidate.size(); ++j) {
        size_t substituted = diagonal + (name[i - 1] != candidate[j - 1]);
        diagonal = row[j];
        row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < bestDistance) {
      bestDistance = row.back();
      best = candidate;
    }
  }
  return best;
}

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
} // namespace

void loadParameters(rt::Session &session, const std::string &path) {
  rt::SafetensorsFile file = valueOf(rt::SafetensorsFile::open(path));
  const auto &parameters = session.executable().parameters();
  std::vector<std::string> known, faults;
  for (const rt::ParameterInfo &parameter : parameters)
    known.push_back(parameter.name);
  for (const auto &[name, tensor] : file.tensors()) {
    bool training = name.starts_with("moment1.") || name.starts_with("moment2.");
    if (training || std::find(known.begin(), known.end(), name) != known.end())
      continue;
    std::string nearest = nearestName(name, known);
    faults.push_back(fmt::format("'{}' is no parameter of the model{}", name,
                                 nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const rt::ParameterInfo &parameter = parameters[i];
    const rt::SafetensorsEntry *tensor = file.find(parameter.name);
    if (!tensor) {
      faults.push_back(fmt::format("'{}' {} is missing", parameter.name, parameter.shapeText()));
      continue;
    }
    if (tensor->shape != parameter.shape) {
      faults.push_back(fmt::format("'{}' is [{}], but the model has {}", parameter.name,
                                   fmt::join(tensor->shape, ", "), parameter.shapeText()));
      continue;
    }
    bool wideFrom = tensor->type == rt::SafetensorsEntry::Type::F64,
         wideTo = parameter.dtype == rt::DType::F64;
    if (tensor->type != rt::SafetensorsEntry::Type::F32 && !wideFrom)
      faults.push_back(
          fmt::format("'{}' holds integers, expected floating point numbers", parameter.name));
    else if (wideFrom == wideTo)
      require(session.setParameter(i, tensor->data));
    else if (wideFrom)
      require(session.setParameter(i, convert<double, float>(tensor->data)));
    else
      require(session.setParameter(i, convert<float, double>(tensor->data)));
  }
  if (!faults.empty())
    throw Failure(fmt::format("{}: does not fit the model: {}", path, fmt::join(faults, "; ")));
}

void saveParameters(rt::Session &session, const std::string &path) {
  const auto &parameters = session.executable().parameters();
  std::vector<rt::SafetensorsTensor> tensors;
  for (size_t i = 0; i < parameters.size(); ++i)
    tensors.push_back(
        {parameters[i].name, parameters[i].dtype, parameters[i].shape, session.parameter(i)});
  require(rt::writeSafetensors(path, tensors, {}));
}

} // namespace hybrid::tools
