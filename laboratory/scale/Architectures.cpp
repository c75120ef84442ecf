//===- Architectures.cpp - models as a scaling study sets them ------------------------===//
#include "laboratory/scale/Architectures.h"
#include "runtime/files/Json.h"
#include "training/compile/ModelSpec.h"
#include "training/compile/Process.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace hybrid::rt::lab::scale {
namespace {

/// A model's parameters and the texts of their defaults.
Result<std::map<std::string, std::string>> parametersOf(const std::string &compiler,
                                                        const std::string &path) {
  auto said = runForOutput(compiler, {path, "--help-model=json"});
  if (!said)
    return said.error();
  if (said->status != 0)
    return Error{said->err.empty() ? "hybridc was ended by " + said->text() : said->err};
  std::map<std::string, std::string> parameters;
  const nlohmann::json described = parseJsonOrNull(said->out);
  for (const nlohmann::json &each : described.value("parameters", nlohmann::json::array()))
    if (auto name = jsonField<std::string>(each, "name"))
      parameters[*name] = jsonField<std::string>(each, "default").value_or("");
  return parameters;
}

bool isSet(const ModelChoice &model, const std::string &name) {
  return std::any_of(model.settings.begin(), model.settings.end(),
                     [&](const std::string &setting) { return setting.starts_with(name + "="); });
}

} // namespace

Result<void> prepareArchitectures(PlanOptions &plan) {
  const std::string compiler = findCompiler();
  bool hasRatio = false;
  for (ModelChoice &model : plan.architectures) {
    auto parameters = parametersOf(compiler, model.path);
    if (!parameters)
      return parameters.error();
    auto set = [&](const char *name, const std::string &value) {
      if (parameters->contains(name) && !isSet(model, name))
        model.settings.push_back(fmt::format("{}={}", name, value));
    };
    if (plan.vocabulary)
      set("vocab", std::to_string(*plan.vocabulary));
    set("l_max", std::to_string(plan.length));
    if (plan.sweeps.ratios.empty() || !parameters->contains(ratioParameter))
      continue;
    hasRatio = true;
    set(ratioParameter, parameters->at(ratioParameter));
  }
  if (!plan.sweeps.ratios.empty() && !hasRatio)
    return Error{fmt::format("--ratios: none of the models has a parameter '{}', as those of "
                             "models/scaling/striped-*.hyb do",
                             ratioParameter)};
  return {};
}

std::optional<double> attentionShare(const std::map<std::string, std::string> &settings) {
  auto found = settings.find(ratioParameter);
  if (found == settings.end())
    return std::nullopt;
  char *end = nullptr;
  const double ratio = std::strtod(found->second.c_str(), &end);
  if (end == found->second.c_str() || *end || ratio < 0)
    return std::nullopt;
  return 1 / (ratio + 1);
}

} // namespace hybrid::rt::lab::scale
