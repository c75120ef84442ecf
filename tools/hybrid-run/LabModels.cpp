//===- LabModels.cpp - architectures as the laboratory compiles them --------------===//
#include "tools/hybrid-run/LabModels.h"
#include "tools/hybrid-run/Process.h"
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace hybrid::tools {
namespace lab = rt::lab;

namespace {

std::string readModel(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    throw Failure(fmt::format("cannot read '{}'", path));
  return text.str();
}

std::pair<std::string, std::string> splitSetting(const std::string &setting) {
  size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Failure(fmt::format("--set {}: expected NAME=VALUE", setting));
  return {setting.substr(0, equals), setting.substr(equals + 1)};
}

nlohmann::json askCompiler(const std::string &compiler, const std::vector<std::string> &arguments) {
  ProgramOutput output = runForOutput(compiler, arguments);
  if (output.status != 0) {
    std::fputs(output.err.c_str(), stderr);
    throw Failure(fmt::format("{} did not compile", arguments.front()));
  }
  return nlohmann::json::parse(output.out);
}

} // namespace

LabModels::LabModels(std::string precision, std::string device)
    : precision(std::move(precision)), device(std::move(device)), compiler(findCompiler()) {
  if (compiler.empty())
    throw Failure("hybridc is not beside hybrid-run: build it (tools/check --build-only)");
}

LabModels::Model LabModels::inspect(const std::string &path) const {
  Model model{path, {}, {}};
  nlohmann::json description = askCompiler(compiler, {path, "--help-model=json"});
  for (const auto &parameter : description["parameters"])
    model.parameters.insert(parameter["name"].get<std::string>());
  return model;
}

lab::Architecture LabModels::add(const std::string &path, const std::vector<std::string> &settings,
                                 const std::vector<lab::Setting> &needed) {
  if (std::filesystem::path(path).extension() != ".hyb")
    throw Failure(fmt::format("{}: the laboratory compiles each architecture for many tasks, so it "
                              "needs the text of a model (.hyb)",
                              path));
  lab::Architecture architecture;
  architecture.name = std::filesystem::path(path).stem().string();
  architecture.path = path;
  architecture.source = readModel(path);
  if (models.contains(architecture.name))
    throw Failure(fmt::format("two architectures are called '{}' ('{}' and '{}'): rename one file",
                              architecture.name, models[architecture.name].path, path));
  Model model = inspect(path);
  for (const std::string &setting : settings) {
    auto [name, value] = splitSetting(setting);
    if (name == "vocab" || name == "l_max" || name == "readout")
      throw Failure(fmt::format("--set {}: the laboratory sets '{}' for each task", setting, name));
    architecture.settings[name] = value;
  }
  model.settings = settings;
  if (!model.parameters.contains("vocab"))
    throw Failure(fmt::format("{}: the laboratory sets the model's parameter `vocab` (tokens of a "
                              "task), which it does not "
                              "have; it has {}",
                              path, fmt::join(model.parameters, ", ")));
  for (const lab::Setting &setting : needed)
    if (setting.fromLast && !model.parameters.contains("readout"))
      throw Failure(fmt::format(
          "{}: the task '{}' asks for the whole sequence from the model's last position. Give the "
          "model a parameter `readout: layer = language_head` and end it with `output logits = "
          "readout(x, vocab)`, as those of models/mad/ do: the laboratory sets readout = "
          "compression_head (std.heads). Or leave the task out with --tasks",
          path, setting.task));
  models[architecture.name] = std::move(model);
  return architecture;
}

void LabModels::add(const lab::Architecture &architecture) {
  if (readModel(architecture.path) != architecture.source)
    throw Failure(fmt::format("'{}' is not what it was when the study began: put it back, or begin "
                              "another study with another --out",
                              architecture.path));
  Model model = inspect(architecture.path);
  for (const auto &[name, value] : architecture.settings)
    model.settings.push_back(name + "=" + value);
  models[architecture.name] = std::move(model);
}

std::vector<std::string> LabModels::settingsFor(const Model &model,
                                                const lab::Setting &setting) const {
  std::vector<std::string> settings = model.settings;
  settings.push_back(fmt::format("vocab={}", setting.vocabulary));
  if (model.parameters.contains("l_max"))
    settings.push_back(fmt::format("l_max={}", setting.longest));
  if (setting.fromLast)
    settings.emplace_back("readout=compression_head");
  return settings;
}

LabModels::Cost LabModels::cost(const std::string &architecture, const lab::Setting &setting) {
  const Model &model = models.at(architecture);
  std::vector<std::string> arguments{
      model.path, "--batch", "1", "--length", std::to_string(setting.positions), "--cost=json"};
  for (const std::string &each : settingsFor(model, setting))
    arguments.insert(arguments.end(), {"--set", each});
  auto [place, isNew] = costs.try_emplace(fmt::format("{}", fmt::join(arguments, " ")));
  if (isNew) {
    nlohmann::json counted = askCompiler(compiler, arguments);
    place->second = {counted["parameters"].get<int64_t>(),
                     counted["fixed_state_elements"].get<int64_t>() +
                         counted["dynamic_state_elements"].get<int64_t>(),
                     counted["forward_flops_per_token"].get<double>()};
  }
  return place->second;
}

rt::Result<lab::PointCost> LabModels::count(const std::string &architecture,
                                            const lab::Setting &setting) {
  const Model &model = models.at(architecture);
  std::vector<std::string> arguments{
      model.path, "--batch", "1", "--length", std::to_string(setting.positions), "--cost=json"};
  for (const std::string &each : settingsFor(model, setting))
    arguments.insert(arguments.end(), {"--set", each});
  ProgramOutput output = runForOutput(compiler, arguments);
  if (output.status != 0) {
    constexpr std::string_view mark = "error: ";
    size_t start = output.err.find(mark);
    start = start == std::string::npos ? 0 : start + mark.size();
    return rt::Error{output.err.substr(start, output.err.find('\n', start) - start)};
  }
  nlohmann::json counted = nlohmann::json::parse(output.out);
  return lab::PointCost{counted["parameters"].get<int64_t>(),
                        counted["forward_flops_per_token"].get<double>(),
                        counted["training_flops_per_token"].get<double>(),
                        counted["fixed_state_elements"].get<int64_t>() +
                            counted["dynamic_state_elements"].get<int64_t>(),
                        counted["program"].get<std::string>()};
}

rt::Result<std::shared_ptr<const rt::Executable>>
LabModels::load(const lab::ModelRequest &request) {
  auto found = models.find(request.architecture);
  if (found == models.end())
    return rt::Error{fmt::format("no architecture is called '{}'", request.architecture)};
  ModelArgument argument;
  argument.path = found->second.path;
  argument.batch = request.batch;
  argument.length = request.setting.positions;
  argument.replicas = request.replicas;
  argument.precision = precision;
  argument.device = device;
  argument.settings = settingsFor(found->second, request.setting);
  argument.quiet = true;
  try {
    return argument.load();
  } catch (const Failure &failure) {
    return rt::Error{failure.what()};
  }
}

} // namespace hybrid::tools
