//===- Models.cpp - architectures as the laboratory compiles them --------------===//
#include "laboratory/Models.h"
#include "runtime/cpu/Threads.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/compile/ModelSpec.h"
#include "training/compile/Process.h"
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <thread>

namespace hybrid::rt::lab {

namespace {

Error otherVersion(const std::string &compiler) {
  return Error{fmt::format("what {} says is not understood: is it of this version?", compiler)};
}

/// What the compiler prints as JSON; an error is what it says where it fails.
Result<nlohmann::json> askCompiler(const std::string &compiler,
                                   const std::vector<std::string> &arguments) {
  auto output = runForOutput(compiler, arguments);
  if (!output)
    return output.error();
  if (output->signal != 0)
    return Error{fmt::format("hybridc was ended by {}", output->text())};
  if (output->status != 0)
    return Error{output->err};
  auto answer = parseJsonOrNull(output->out);
  if (!answer.is_object())
    return Error{fmt::format("{} {} does not print JSON", compiler, fmt::join(arguments, " "))};
  return answer;
}

/// The state in what hybridc counted; nothing where it cannot tell.
std::optional<StateSize> stateOf(const nlohmann::json &counted) {
  auto fixed = jsonField<int64_t>(counted, "fixed_state_elements"),
       growing = jsonField<int64_t>(counted, "dynamic_state_elements");
  return fixed && growing ? std::optional(StateSize{*fixed, *growing}) : std::nullopt;
}

/// As MAD counts it, where layers say otherwise than it is.
std::optional<StateSize> countedStateOf(const nlohmann::json &counted) {
  auto published = counted.find("published_states");
  if (published != counted.end() && published->is_array())
    for (const nlohmann::json &each : *published)
      if (jsonField<std::string>(each, "method") == "mad")
        return stateOf(each);
  return stateOf(counted);
}

/// The same for the user, who sees all that the compiler says.
Result<nlohmann::json> askOrTell(const std::string &compiler,
                                 const std::vector<std::string> &arguments) {
  auto answer = askCompiler(compiler, arguments);
  if (answer)
    return answer;
  const std::string &said = answer.error().message;
  say(stderr, "{}{}", said, said.ends_with('\n') ? "" : "\n");
  return Error{fmt::format("{} did not compile", arguments.front())};
}

} // namespace

Result<std::pair<std::string, std::string>> splitSetting(const std::string &setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error{fmt::format("--set {}: expected NAME=VALUE", setting)};
  return std::pair(setting.substr(0, equals), setting.substr(equals + 1));
}

Result<void> requireSameSource(const Architecture &architecture, const std::string &source) {
  if (source == architecture.source)
    return {};
  return Error{fmt::format("'{}' is not what it was when the study began: put it back, or begin "
                           "another study with another --out",
                           architecture.path)};
}

bool isLaboratorys(const std::string &parameter) {
  return parameter == "vocab" || parameter == "l_max" || parameter == "readout";
}

Result<std::vector<ModelChoice>> chooseModels(const std::vector<std::string> &wanted,
                                              const std::vector<std::string> &settings,
                                              const std::vector<std::string> &grids) {
  auto split = [](const std::string &list) {
    std::vector<std::string> items;
    for (size_t at = 0; at <= list.size();) {
      size_t end = std::min(list.find(',', at), list.size());
      items.push_back(list.substr(at, end - at));
      at = end + 1;
    }
    return items;
  };
  auto with = [](ModelChoice choice, const std::string &setting) {
    choice.settings.push_back(setting);
    choice.name += " " + setting;
    return choice;
  };
  std::vector<ModelChoice> choices;
  for (const std::string &each : wanted) {
    const size_t end = each.find(".hyb:");
    const std::string path = end == std::string::npos ? each : each.substr(0, end + 4);
    ModelChoice choice{path, std::filesystem::path(path).stem().string(), settings};
    if (end != std::string::npos)
      for (const std::string &setting : split(each.substr(end + 5)))
        choice = with(std::move(choice), setting);
    std::vector<ModelChoice> variants{std::move(choice)};
    for (const std::string &grid : grids) {
      auto axis = splitSetting(grid);
      if (!axis)
        return Error{fmt::format("--grid {}: expected NAME=VALUE,VALUE,...", grid)};
      std::vector<ModelChoice> more;
      for (const ModelChoice &variant : variants)
        for (const std::string &value : split(axis->second))
          more.push_back(with(variant, axis->first + "=" + value));
      variants = std::move(more);
    }
    choices.insert(choices.end(), variants.begin(), variants.end());
  }
  return choices;
}

Result<Models> Models::create(std::string precision, std::string device) {
  std::string compiler = findCompiler();
  if (compiler.empty())
    return Error{"hybridc is not beside hybrid-run: build it (tools/check --build-only)"};
  return Models(std::move(precision), std::move(device), std::move(compiler));
}

Result<Models::Model> Models::inspect(const std::string &path) const {
  auto description = askOrTell(compiler, {path, "--help-model=json"});
  if (!description)
    return description.error();
  Model model{path, {}, {}};
  auto parameters = description->find("parameters");
  if (parameters == description->end() || !parameters->is_array())
    return otherVersion(compiler);
  for (const auto &parameter : *parameters)
    if (auto name = jsonField<std::string>(parameter, "name"))
      model.parameters.insert(*name);
  return model;
}

Result<Architecture> Models::add(const ModelChoice &choice, const std::vector<Setting> &needed) {
  const auto &[path, chosenName, settings] = choice;
  if (std::filesystem::path(path).extension() != ".hyb")
    return Error{fmt::format("{}: the laboratory compiles each architecture for many tasks, so it "
                             "needs the text of a model (.hyb)",
                             path)};
  Architecture architecture;
  architecture.name = chosenName;
  architecture.path = path;
  auto source = readText(path);
  if (!source)
    return source.error();
  architecture.source = std::move(*source);
  if (models.contains(architecture.name))
    return Error{fmt::format("two architectures are called '{}' ('{}' and '{}'): rename one file, "
                             "or give them settings of their own, as in {}:width=64",
                             architecture.name, models[architecture.name].path, path, path)};
  auto model = inspect(path);
  if (!model)
    return model.error();
  for (const std::string &setting : settings) {
    auto split = splitSetting(setting);
    if (!split)
      return split.error();
    const auto &[name, value] = *split;
    if (architecture.settings.contains(name) && architecture.settings[name] != value)
      return Error{fmt::format("{}: '{}' is set twice, to {} and to {}", architecture.name, name,
                               architecture.settings[name], value)};
    if (isLaboratorys(name))
      return Error{fmt::format("--set {}: the laboratory sets '{}' for each task", setting, name)};
    architecture.settings[name] = value;
  }
  model->settings = settings;
  if (!model->parameters.contains("vocab"))
    return Error{fmt::format("{}: the laboratory sets the model's parameter `vocab` (tokens of a "
                             "task), which it does not "
                             "have; it has {}",
                             path, fmt::join(model->parameters, ", "))};
  for (const Setting &setting : needed)
    if (setting.fromLast && !model->parameters.contains("readout"))
      return Error{fmt::format(
          "{}: the task '{}' asks for the whole sequence from the model's last position. Give the "
          "model a parameter `readout: layer = language_head` and end it with `output logits = "
          "readout(x, vocab)`, as those of models/mad/ do: the laboratory sets readout = "
          "compression_head (std.heads). Or leave the task out with --tasks",
          path, setting.task)};
  models[architecture.name] = std::move(*model);
  return architecture;
}

Result<void> Models::add(const Architecture &architecture) {
  auto source = readText(architecture.path);
  if (!source)
    return source.error();
  if (auto same = requireSameSource(architecture, *source); !same)
    return same;
  auto model = inspect(architecture.path);
  if (!model)
    return model.error();
  for (const auto &[name, value] : architecture.settings)
    model->settings.push_back(name + "=" + value);
  models[architecture.name] = std::move(*model);
  return {};
}

std::vector<std::string> Models::settingsFor(const Model &model, const Setting &setting) const {
  std::vector<std::string> settings = model.settings;
  settings.push_back(fmt::format("vocab={}", setting.vocabulary));
  if (model.parameters.contains("l_max"))
    settings.push_back(fmt::format("l_max={}", setting.longest));
  if (setting.fromLast)
    settings.emplace_back("readout=compression_head");
  return settings;
}

std::vector<std::string> Models::costArguments(const Model &model, const Setting &setting) const {
  std::vector<std::string> arguments{
      model.path, "--batch", "1", "--length", std::to_string(setting.positions), "--cost=json"};
  for (const std::string &each : settingsFor(model, setting))
    arguments.insert(arguments.end(), {"--set", each});
  return arguments;
}

Result<PointCost> Models::count(const std::vector<std::string> &arguments) const {
  auto counted = askCompiler(compiler, arguments);
  if (!counted)
    return counted.error();
  auto parameters = jsonField<int64_t>(*counted, "parameters");
  auto forward = jsonField<double>(*counted, "forward_flops_per_token"),
       training = jsonField<double>(*counted, "training_flops_per_token");
  auto program = jsonField<std::string>(*counted, "program");
  if (!parameters || !counted->contains("fixed_state_elements") || !forward || !training ||
      !program)
    return otherVersion(compiler);
  return PointCost{*parameters, *forward, *training, stateOf(*counted), countedStateOf(*counted),
                   *program};
}

Result<PointCost> Models::cost(const std::string &architecture, const Setting &setting) {
  auto arguments = costArguments(models.at(architecture), setting);
  if (auto there = costs.find(arguments); there != costs.end())
    return there->second;
  auto counted = count(arguments);
  if (counted)
    costs.emplace(std::move(arguments), *counted);
  return counted;
}

Result<void> Models::countCosts(const std::vector<std::string> &architectures,
                                const std::vector<Setting> &settings,
                                const std::function<void(size_t, size_t)> &counted) {
  std::set<std::vector<std::string>> wanted;
  for (const std::string &architecture : architectures)
    for (const Setting &setting : settings)
      if (auto arguments = costArguments(models.at(architecture), setting);
          !costs.contains(arguments))
        wanted.insert(std::move(arguments));
  const std::vector<std::vector<std::string>> questions(wanted.begin(), wanted.end());
  std::vector<std::optional<Result<PointCost>>> answers(questions.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex telling;
  size_t done = 0;
  auto ask = [&] {
    for (size_t i = next++; i < questions.size() && !failed; i = next++) {
      answers[i] = count(questions[i]);
      if (!*answers[i])
        failed = true;
      std::lock_guard lock(telling);
      counted(++done, questions.size());
    }
  };
  {
    std::vector<std::jthread> askers;
    for (size_t i = std::min<size_t>(questions.size(), static_cast<size_t>(availableThreads()));
         i > 1; --i)
      askers.emplace_back(ask);
    ask();
  }
  for (size_t i = 0; i < questions.size(); ++i) {
    if (answers[i] && !*answers[i])
      return Error{
          fmt::format("{}\n{} did not compile", answers[i]->error().message, questions[i].front())};
    if (answers[i])
      costs.emplace(questions[i], **answers[i]);
  }
  return {};
}

Result<std::shared_ptr<const Executable>> Models::load(const ModelRequest &request) {
  auto found = models.find(request.architecture);
  if (found == models.end())
    return Error{fmt::format("no architecture is called '{}'", request.architecture)};
  ModelSpec model;
  model.path = found->second.path;
  model.batch = request.batch;
  model.length = request.setting.positions;
  model.replicas = request.replicas;
  model.precision = precision;
  model.device = device;
  model.settings = settingsFor(found->second, request.setting);
  model.quiet = true;
  return model.load();
}

} // namespace hybrid::rt::lab
