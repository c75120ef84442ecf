//===- RecordedArguments.cpp - a training's command line, kept with its run -------===//
#include "tools/hybrid-run/RecordedArguments.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/compile/Process.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace hybrid::tools {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

/// Of one call alone. --trust, too: whose machine code may run is no other's to say.
constexpr std::string_view ofTheCall[] = {"--out",
                                          "--resume",
                                          "--repeat",
                                          "--quiet",
                                          "--json",
                                          "--trust",
                                          "--data-parallel",
                                          "--sequence-parallel",
                                          "--shard-optimizer",
                                          "--emulate-link",
                                          "--profile",
                                          "--profile-steps"};
/// Of these one is given: it takes the place of the others.
constexpr std::string_view alternatives[][2] = {{"--task", "--data"}, {"--steps", "--epochs"}};

bool isOfTheCall(const std::string &name) {
  return name.starts_with("--help") ||
         std::find(std::begin(ofTheCall), std::end(ofTheCall), name) != std::end(ofTheCall);
}

/// With those of its groups.
std::vector<CLI::Option *> optionsOf(CLI::App &verb) {
  std::vector<CLI::Option *> options = verb.get_options();
  for (CLI::App *group : verb.get_subcommands([](CLI::App *) { return true; }))
    if (group->get_name().empty())
      for (CLI::Option *option : optionsOf(*group))
        options.push_back(option);
  return options;
}

/// The options of `train` with nothing required and nothing done, to see what is given.
class Probe {
public:
  Probe() {
    verb = app.add_subcommand("train", "");
    values = addTrainOptions(verb);
    for (CLI::Option *option : optionsOf(*verb))
      option->required(false);
    for (CLI::App *group : verb->get_subcommands([](CLI::App *) { return true; }))
      group->require_option(0);
  }
  /// False for words that are wrong in themselves.
  bool read(const std::vector<std::string> &words) {
    std::vector<std::string> reversed(words.rbegin(),
                                      words.rend() - 1); // as the library takes them
    try {
      app.parse(reversed);
      return true;
    } catch (const std::exception &) {
      return false;
    }
  }
  std::set<std::string> given() const {
    std::set<std::string> names;
    for (const CLI::Option *option : optionsOf(*verb))
      if (option->count() > 0)
        names.insert(option->get_name());
    for (const auto &pair : alternatives)
      if (names.contains(std::string(pair[0])) || names.contains(std::string(pair[1])))
        names.insert({std::string(pair[0]), std::string(pair[1])});
    return names;
  }
  bool has(const std::string &name) const { return verb->get_option_no_throw(name) != nullptr; }
  std::string valueOf(const std::string &name) const {
    const CLI::Option *option = verb->get_option(name);
    return option->count() > 0 ? option->results().back() : "";
  }

private:
  CLI::App app;
  CLI::App *verb;
  std::shared_ptr<rt::lab::TrainingOptions> values; // what the options write to
};

/// Paths are those of the folder that the run was started in.
void goWhereItBegan(const json &config, const json &kept, std::vector<std::string> &words) {
  auto model = kept.find("model");
  const auto directory = rt::jsonField<std::string>(config, "directory");
  if (!directory || model == kept.end() || !model->is_array() || model->empty() ||
      !model->front().is_string())
    return;
  const fs::path path = model->front().get<std::string>();
  std::error_code error;
  if (path.is_absolute() || fs::exists(path, error) || !fs::exists(*directory / path, error))
    return;
  const fs::path here = fs::current_path(error);
  fs::current_path(*directory, error);
  if (!error) // where this call's run goes is told from here
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i].starts_with("--out="))
        words[i] = "--out=" + (here / words[i].substr(6)).string();
      else if (words[i] == "--out" && i + 1 < words.size())
        words[i + 1] = (here / words[i + 1]).string();
    }
}

} // namespace

json argumentsToKeep(CLI::App &verb) {
  json kept = json::object();
  for (const CLI::Option *option : optionsOf(verb))
    if (option->count() > 0 && !isOfTheCall(option->get_name()))
      kept[option->get_name()] = option->results();
  return kept;
}

std::string commandOf(const json &kept, const std::string &out) {
  std::string model, flags;
  for (const auto &[name, values] : kept.items())
    for (const json &value : values) {
      const std::string &text = value.get_ref<const std::string &>();
      (name.starts_with("-") ? flags : model) +=
          " " + rt::shellWord(name.starts_with("-") ? name + "=" + text : text);
    }
  return "hybrid-run train" + model + flags + (out.empty() ? "" : " --out " + rt::shellWord(out));
}

rt::Result<std::vector<std::string>> withKeptArguments(std::vector<std::string> words) {
  if (words.size() < 2 || words[1] != "train")
    return words;
  Probe probe;
  if (!probe.read(words))
    return words;
  const std::set<std::string> given = probe.given();
  const bool repeats = given.contains("--repeat");
  const std::string run = probe.valueOf(repeats ? "--repeat" : "--out");
  const std::string path = run + "/config.json";
  std::error_code error;
  if (!repeats && (!given.contains("--resume") || run.empty() || !fs::exists(path, error)))
    return words;
  auto file = rt::MappedFile::open(path);
  if (!file)
    return file.error();
  const auto bytes = file->bytes();
  auto config = rt::parseJson({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, path);
  if (!config)
    return config.error();
  const auto kept = config->is_object() ? config->find("arguments") : config->end();
  if (!config->is_object() || kept == config->end() || !kept->is_object()) {
    if (repeats)
      return rt::Error{
          fmt::format("--repeat {}: '{}' does not say what the run was started with", run, path)};
    return words;
  }
  std::vector<std::string> added;
  for (const auto &[name, values] : kept->items()) {
    if (given.contains(name))
      continue;
    if (isOfTheCall(name) || !probe.has(name) || !values.is_array())
      return rt::Error{fmt::format("'{}': its arguments have '{}', which no training keeps: give "
                                   "the whole command line",
                                   path, name)};
    for (const json &value : values)
      if (value.is_string())
        added.push_back(name.starts_with("-")
                            ? fmt::format("{}={}", name, value.get_ref<const std::string &>())
                            : value.get<std::string>());
  }
  if (!given.contains("model"))
    goWhereItBegan(*config, *kept, words);
  words.insert(words.end(), added.begin(), added.end());
  return words;
}

} // namespace hybrid::tools
