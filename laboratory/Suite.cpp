//===- Suite.cpp - which settings of which tasks -----------------------------===//
#include "laboratory/Suite.h"
#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace hybrid::rt::lab {
namespace {

struct Sweep {
  const char *axis;
  std::vector<double> values;
};

struct MadTask {
  const char *name;
  uint64_t trainExamples;
  std::vector<Sweep> sweeps;
};

const std::vector<MadTask> &suite() {
  const Sweep fewer{"train_examples", {6400, 3200, 1600, 800}};
  const Sweep vocab{"vocab", {32, 64, 128}}, length{"length", {256, 512, 1024}};
  static const std::vector<MadTask> tasks = {
      {"in-context-recall", 12800, {vocab, length, fewer}},
      {"noisy-in-context-recall",
       12800,
       {{"vocab", {48, 80, 144}}, length, fewer, {"frac_noise", {0.4, 0.6, 0.8}}}},
      {"fuzzy-in-context-recall", 12800, {vocab, length, fewer}},
      {"selective-copying",
       12800,
       {vocab, {"length", {512, 1024}}, fewer, {"tokens_to_copy", {32, 64, 96}}}},
      {"compression", 12800, {vocab, {"length", {64, 128, 256}}, fewer}},
      {"memorization", 256, {{"vocab", {512, 1024, 2048, 4096, 8192}}}},
  };
  return tasks;
}

double settingOf(const Task &task, std::string_view key, double fallback) {
  for (const auto &[name, value] : task.settings())
    if (name == key) {
      double number = fallback;
      std::from_chars(value.data(), value.data() + value.size(), number);
      return number;
    }
  return fallback;
}

Result<Setting> makeSetting(const std::string &spec, Convention convention) {
  auto task = createTask(spec, convention);
  if (!task)
    return task.error();
  const Task &made = **task;
  Setting setting;
  setting.task = made.name();
  setting.spec = made.spec();
  setting.axis = "baseline";
  setting.vocabulary = made.vocabulary();
  setting.positions = made.positions();
  setting.longest = std::max(made.positions(), static_cast<int64_t>(settingOf(made, "length", 0)));
  setting.axisValue = static_cast<double>(setting.longest);
  setting.fromLast = made.takesNoPadding();
  setting.chance = made.chanceAccuracy();
  return setting;
}

/// Makes `setting`, a task that is asked for again, one of the settings of the first: it differs in
/// one parameter, which is its axis.
Result<void> placeBeside(const Setting &first, Setting &setting) {
  auto parametersOf = [](const std::string &spec) {
    std::map<std::string, std::string> parameters;
    size_t at = spec.find(':');
    while (at < spec.size()) {
      const size_t end = std::min(spec.find(',', at + 1), spec.size());
      const std::string item = spec.substr(at + 1, end - at - 1);
      const size_t equals = std::min(item.find('='), item.size());
      parameters[item.substr(0, equals)] = item.substr(std::min(equals + 1, item.size()));
      at = end;
    }
    return parameters;
  };
  const auto before = parametersOf(first.spec), now = parametersOf(setting.spec);
  std::vector<std::string> differences;
  for (const auto &[name, value] : now)
    if (auto found = before.find(name); found == before.end() || found->second != value)
      differences.push_back(name);
  double value = 0;
  if (differences.size() == 1) {
    const std::string &text = now.at(differences[0]);
    const auto old = before.find(differences[0]);
    const bool sameKind = old != before.end() && !text.empty() && old->second[0] == text[0];
    const char *digits = text.data() + (sameKind && std::isupper(text[0])); // of "S4" after "S3"
    auto [end, fault] = std::from_chars(digits, text.data() + text.size(), value);
    if (fault == std::errc() && end == text.data() + text.size()) {
      setting.axis = differences[0];
      setting.axisValue = value;
      return {};
    }
  }
  return Error{
      fmt::format("the task '{}' is asked for again, as '{}': settings of one task differ "
                  "from its first, '{}', in the number of one parameter, this one in {}",
                  first.task, setting.spec, first.spec,
                  differences.empty() ? "none" : fmt::format("{}", fmt::join(differences, ", ")))};
}

} // namespace

const std::vector<std::string> &suiteNames() {
  static const std::vector<std::string> names = {"smoke",  "baseline", "full",
                                                 "recall", "state",    "reasoning"};
  return names;
}

std::string_view describeSuite(std::string_view suite) {
  static const std::map<std::string_view, std::string_view> texts = {
      {"smoke",
       "baselines, one short training of each: for a first look, and not the paper's protocol"},
      {"baseline", "baselines by the whole protocol"},
      {"full", "all 66 settings by the whole protocol"},
      {"recall",
       "recall of 4 to 32 pairs, asked at once, and of pairs of keys, one short training of each"},
      {"state", "states to be tracked beyond the lengths of training, one short training of each"},
      {"reasoning", "steps that are not written down, one short training of each"}};
  const auto found = texts.find(suite);
  return found == texts.end() ? "" : found->second;
}

bool isShort(std::string_view suite) { return suite == "smoke" || !tasksOfSuite(suite).empty(); }

std::vector<std::string> tasksOfSuite(std::string_view suite) {
  std::vector<std::string> tasks;
  if (suite == "recall") {
    for (int pairs : {4, 8, 16, 32})
      tasks.push_back(fmt::format("multi-query-recall:vocab=512,length=128,pairs={}", pairs));
    tasks.emplace_back("joint-recall");
  }
  if (suite == "state") {
    tasks = {"parity:length=128", "modular-arithmetic:length=128"};
    for (const char *group : {"S3", "S4", "S5"})
      tasks.push_back(fmt::format("word-problem:group={},length=128,train_length=32", group));
  }
  if (suite == "reasoning") // of sizes at which something is learnt in minutes
    tasks = {"mano:operators=2", "mano:operators=4", "depo:nodes=12,hops=1,longest=1",
             "depo:nodes=12,hops=4,longest=1"};
  return tasks;
}

std::string Setting::key() const {
  return trainExamples ? fmt::format("{};train_examples={}", spec, trainExamples) : spec;
}

Result<Setting> Setting::parse(const std::string &key, Convention convention) {
  size_t end = key.find(';');
  auto setting = makeSetting(key.substr(0, end), convention);
  if (!setting || end == std::string::npos)
    return setting;
  constexpr std::string_view examples = "train_examples=";
  std::string_view rest = std::string_view(key).substr(end + 1);
  if (rest.starts_with(examples)) {
    rest.remove_prefix(examples.size());
    auto [last, fault] =
        std::from_chars(rest.data(), rest.data() + rest.size(), setting->trainExamples);
    if (fault == std::errc() && last == rest.data() + rest.size())
      return setting;
  }
  return Error{fmt::format("setting '{}': expected TASK;train_examples=NUMBER", key)};
}

const std::vector<std::string> &madTasks() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const MadTask &task : suite())
      list.emplace_back(task.name);
    return list;
  }();
  return names;
}

Result<std::vector<Setting>> suiteSettings(const std::vector<std::string> &tasks, bool sweeps,
                                           bool fresh, Convention convention) {
  std::vector<Setting> baselines, harder;
  for (const std::string &wanted : tasks.empty() ? madTasks() : tasks) {
    auto baseline = makeSetting(wanted, convention);
    if (!baseline)
      return baseline.error();
    auto known = std::find_if(suite().begin(), suite().end(),
                              [&](const MadTask &task) { return wanted == task.name; });
    bool listed = known != suite().end();
    if (!fresh)
      baseline->trainExamples = listed ? known->trainExamples : 12800;
    auto first = std::find_if(baselines.begin(), baselines.end(),
                              [&](const Setting &other) { return other.task == baseline->task; });
    if (first != baselines.end()) {
      if (auto done = placeBeside(*first, *baseline); !done)
        return done.error();
      harder.push_back(*baseline);
      continue;
    }
    baselines.push_back(*baseline);
    if (!sweeps || !listed)
      continue;
    for (const Sweep &sweep : known->sweeps)
      for (double value : sweep.values) {
        bool ofSet = std::string_view(sweep.axis) == "train_examples";
        auto setting =
            ofSet ? baseline
                  : makeSetting(fmt::format("{}:{}={}", wanted, sweep.axis, value), convention);
        if (!setting)
          return setting.error();
        setting->axis = sweep.axis;
        setting->axisValue = value;
        setting->trainExamples = fresh   ? 0
                                 : ofSet ? static_cast<uint64_t>(value)
                                         : known->trainExamples;
        harder.push_back(*setting);
      }
  }
  baselines.insert(baselines.end(), harder.begin(), harder.end());
  return baselines;
}

} // namespace hybrid::rt::lab
