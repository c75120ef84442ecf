//===- Task.cpp - hybrid-run task: look at a synthetic task ------------------------===//
#include "training/tasks/Task.h"
#include "runtime/files/Npy.h"
#include "tools/hybrid-run/DataArgument.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/tasks/Statistics.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace hybrid::tools {
namespace {

struct TaskArguments {
  std::string spec, split = "test", convention = "paper", out;
  int64_t count = 1280, show = 0, stats = 0;
  uint64_t seed = rt::defaultDataSeed;
  bool json = false;
};

/// Three aligned rows: what goes in, what it is, what is asked.
std::string annotated(const rt::Task &task, int64_t number, std::span<const int32_t> inputs,
                      std::span<const int32_t> targets) {
  std::string in = "inputs ", meaning = "       ", out = "targets";
  size_t width = std::to_string(task.vocabulary()).size() + 2;
  size_t scored = 0;
  for (size_t t = 0; t < inputs.size(); ++t) {
    in += fmt::format("{:>{}}", inputs[t], width);
    meaning += fmt::format("{:>{}}", task.spell(inputs[t]), width);
    bool asked = targets[t] != rt::ignoredTarget;
    scored += asked;
    out += asked ? fmt::format("{:>{}}", targets[t], width) : fmt::format("{:>{}}", ".", width);
  }
  return fmt::format("instance {}: {} positions, {} scored\n{}\n{}\n{}\n", number, inputs.size(),
                     scored, in, meaning, out);
}

/// Instances 0 .. count-1, one behind the other.
struct Instances {
  std::vector<int32_t> inputs, targets;
};
Instances drawInstances(const rt::Task &task, const TaskArguments &arguments, size_t count) {
  auto inputs = static_cast<size_t>(task.positions() * task.inputWords()),
       targets = static_cast<size_t>(task.positions() * task.targetWords());
  Instances instances{std::vector<int32_t>(count * inputs), std::vector<int32_t>(count * targets)};
  for (size_t i = 0; i < count; ++i)
    task.generate(arguments.seed, arguments.split == "train" ? rt::Split::Train : rt::Split::Test,
                  i, std::span(instances.inputs).subspan(i * inputs, inputs),
                  std::span(instances.targets).subspan(i * targets, targets));
  return instances;
}

/// A row a position: the numbers that go in, and what is asked.
std::string annotatedNumbers(const rt::Task &task, int64_t number, std::span<const int32_t> inputs,
                             std::span<const int32_t> targets) {
  auto width = static_cast<size_t>(task.inputWords());
  std::string rows;
  size_t scored = 0, positions = targets.size() / 2;
  for (size_t t = 0; t < positions; ++t) {
    rows += fmt::format("{:>6} ", t);
    for (size_t i = 0; i < width; ++i)
      rows += fmt::format("{:>9.4f}", rt::numberOf(inputs[t * width + i]));
    bool asked = rt::numberOf(targets[2 * t + 1]) != 0;
    scored += asked;
    rows += asked ? fmt::format("  ->{:>9.4f}\n", rt::numberOf(targets[2 * t])) : "\n";
  }
  return fmt::format("instance {}: {} positions, {} scored\n{}", number, positions, scored, rows);
}

nlohmann::json describe(const rt::Task &task, const rt::TaskStatistics &statistics) {
  nlohmann::json kinds, inputs, targets;
  for (const auto &[kind, times] : statistics.kinds)
    kinds[kind] = statistics.share(kind);
  for (auto [token, times] : statistics.inputs)
    inputs[std::to_string(token)] = times;
  for (auto [token, times] : statistics.targets)
    targets[std::to_string(token)] = times;
  return {{"task", task.spec()},
          {"vocabulary", task.vocabulary()},
          {"instances", statistics.instances},
          {"positions", statistics.positions},
          {"scored",
           {{"mean", statistics.meanScored()},
            {"least", statistics.leastScored},
            {"most", statistics.mostScored}}},
          {"kinds", kinds},
          {"inputs", inputs},
          {"targets", targets}};
}

/// The same for people: shares instead of counts, and of classes only how even they are.
std::string summary(const rt::Task &task, const rt::TaskStatistics &statistics) {
  std::string text =
      fmt::format("scored positions  mean {:.2f}, {} to {} in an instance\n",
                  statistics.meanScored(), statistics.leastScored, statistics.mostScored);
  std::string kinds;
  for (const auto &[kind, times] : statistics.kinds)
    kinds +=
        fmt::format("{}{} {:.2f} %", kinds.empty() ? "" : ", ", kind, 100 * statistics.share(kind));
  text += "inputs            " + kinds + "\n";
  auto rarer = [](const auto &a, const auto &b) { return a.second < b.second; };
  auto [rarest, commonest] =
      std::minmax_element(statistics.targets.begin(), statistics.targets.end(), rarer);
  auto percent = [&](uint64_t times) {
    return 100 * static_cast<double>(times) / static_cast<double>(statistics.scored);
  };
  return text + fmt::format("answers           {} of {} ids; the rarest, {}, is {:.2f} % of them, "
                            "the commonest, {}, {:.2f} %\n",
                            statistics.targets.size(), task.vocabulary(), task.spell(rarest->first),
                            percent(rarest->second), task.spell(commonest->first),
                            percent(commonest->second));
}

void show(const rt::Task &task, const TaskArguments &arguments) {
  std::string kind = task.inputNumbers() > 0
                         ? fmt::format("{} numbers at each position", task.inputNumbers())
                         : fmt::format("vocabulary {}", task.vocabulary());
  std::cout << task.spec() << "\n"
            << fmt::format("{}, {} positions, {} split, seed {}\n", kind, task.positions(),
                           arguments.split, arguments.seed);
  Instances instances = drawInstances(task, arguments, static_cast<size_t>(arguments.show));
  for (int64_t i = 0; i < arguments.show; ++i) {
    auto part = [&](const std::vector<int32_t> &words, int64_t ofPosition) {
      auto size = static_cast<size_t>(task.positions() * ofPosition);
      return std::span<const int32_t>(words).subspan(static_cast<size_t>(i) * size, size);
    };
    auto annotate = task.inputNumbers() > 0 ? annotatedNumbers : annotated;
    std::cout << annotate(task, i, part(instances.inputs, task.inputWords()),
                          part(instances.targets, task.targetWords()));
  }
}

void writeArray(const TaskArguments &arguments, const char *name, rt::DType type,
                const std::vector<int64_t> &shape, std::span<const int32_t> words) {
  require(rt::writeNpy(arguments.out + "/" + name, type, shape, std::as_bytes(words)));
}

void exportInstances(const rt::Task &task, const TaskArguments &arguments) {
  auto count = static_cast<size_t>(arguments.count);
  constexpr size_t largest = size_t{1} << 32; // elements of an array: 16 GB
  if (count > largest / static_cast<size_t>(task.positions() *
                                            std::max(task.inputWords(), task.targetWords())))
    throw Failure(
        fmt::format("{} instances of {} positions are too many for one array: export them in parts",
                    count, task.positions()));
  Instances instances = drawInstances(task, arguments, count);
  std::error_code error;
  std::filesystem::create_directories(arguments.out, error);
  if (error)
    throw Failure(fmt::format("cannot make the folder '{}': {}", arguments.out, error.message()));
  const std::vector<int64_t> shape = {arguments.count, task.positions()};
  if (task.inputNumbers() == 0) {
    writeArray(arguments, "inputs.npy", rt::DType::I32, shape, instances.inputs);
    writeArray(arguments, "targets.npy", rt::DType::I32, shape, instances.targets);
  } else {
    std::vector<int32_t> targets, weights;
    for (size_t i = 0; i < instances.targets.size(); i += 2) {
      targets.push_back(instances.targets[i]);
      weights.push_back(instances.targets[i + 1]);
    }
    writeArray(arguments, "inputs.npy", rt::DType::F32, {shape[0], shape[1], task.inputNumbers()},
               instances.inputs);
    writeArray(arguments, "targets.npy", rt::DType::F32, shape, targets);
    writeArray(arguments, "weights.npy", rt::DType::F32, shape, weights);
  }
  std::cout << fmt::format("{} instances of {} in {}\n", count, task.spec(), arguments.out);
}

void tellStatistics(const rt::Task &task, const TaskArguments &arguments) {
  if (task.inputNumbers() > 0)
    throw Failure(fmt::format("--stats: {} has numbers, statistics are of tokens", task.name()));
  rt::Split split = arguments.split == "train" ? rt::Split::Train : rt::Split::Test;
  rt::TaskStatistics statistics =
      rt::statisticsOf(task, arguments.seed, split, static_cast<uint64_t>(arguments.stats));
  if (arguments.json)
    std::cout << describe(task, statistics).dump(2) << "\n";
  else
    std::cout << task.spec() << "\n"
              << fmt::format("{} {} instances of {} positions, vocabulary {}, seed {}\n",
                             arguments.stats, arguments.split, task.positions(), task.vocabulary(),
                             arguments.seed)
              << summary(task, statistics);
}

void run(const TaskArguments &arguments) {
  auto task = valueOf(rt::createTask(arguments.spec, conventionOf(arguments.convention)));
  if (arguments.stats > 0)
    tellStatistics(*task, arguments);
  if (!arguments.out.empty())
    exportInstances(*task, arguments);
  if (arguments.show > 0)
    show(*task, arguments);
}

} // namespace

void addTask(CLI::App &app) {
  auto *verb = app.add_subcommand("task", "show or export instances of a synthetic task");
  auto arguments = std::make_shared<TaskArguments>();
  verb->add_option("name", arguments->spec, "NAME[:key=value,...]")->required();
  verb->add_option("--split", arguments->split, "train or test")
      ->check(CLI::IsMember({"train", "test"}))
      ->capture_default_str();
  auto *count = verb->add_option("--count", arguments->count, "instances to export")
                    ->check(CLI::Range(int64_t{1}, int64_t{1} << 32))
                    ->capture_default_str();
  verb->add_option("--seed", arguments->seed, "of the data")->capture_default_str();
  verb->add_option("--convention", arguments->convention,
                   "where a paper and its code disagree: paper or mad-lab")
      ->check(CLI::IsMember({"paper", "mad-lab"}))
      ->capture_default_str();
  auto *show = verb->add_option("--show", arguments->show, "print this many instances (default 3)")
                   ->check(CLI::Range(int64_t{1}, int64_t{1000000}));
  auto *stats = verb->add_option("--stats", arguments->stats,
                                 "tell what this many instances are like, instead of printing them")
                    ->check(CLI::Range(int64_t{1}, int64_t{1} << 32));
  auto *exports =
      verb->add_option("--export", arguments->out, "folder for inputs.npy and targets.npy")
          ->excludes(show)
          ->excludes(stats);
  verb->add_flag("--json", arguments->json, "print --stats as JSON")->needs(stats)->excludes(show);
  verb->callback([arguments, count, show, stats, exports] {
    if (show->empty() && stats->empty() && exports->empty())
      arguments->show = count->empty() ? 3 : arguments->count;
    run(*arguments);
  });
}

} // namespace hybrid::tools
