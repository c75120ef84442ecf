//===- Task.cpp - hybrid-run task: look at a synthetic task ------------------------===//
#include "runtime/tasks/Task.h"
#include "runtime/data/Npy.h"
#include "runtime/tasks/Statistics.h"
#include "tools/hybrid-run/DataArgument.h"
#include "tools/hybrid-run/Verbs.h"
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

void run(const TaskArguments &arguments) {
  auto task = valueOf(rt::createTask(arguments.spec, conventionOf(arguments.convention)));
  rt::Split split = arguments.split == "train" ? rt::Split::Train : rt::Split::Test;
  auto positions = static_cast<size_t>(task->positions());
  rt::TaskStatistics statistics;
  if (arguments.stats > 0)
    statistics =
        rt::statisticsOf(*task, arguments.seed, split, static_cast<uint64_t>(arguments.stats));
  if (arguments.json) {
    std::cout << describe(*task, statistics).dump(2) << "\n";
    return;
  }
  if (arguments.out.empty()) {
    std::cout << task->spec() << "\n"
              << fmt::format("vocabulary {}, {} positions, {} split, seed {}\n", task->vocabulary(),
                             positions, arguments.split, arguments.seed);
    std::vector<int32_t> inputs(positions), targets(positions);
    for (int64_t i = 0; i < arguments.show; ++i) {
      task->generate(arguments.seed, split, static_cast<uint64_t>(i), inputs, targets);
      std::cout << annotated(*task, i, inputs, targets);
    }
    if (arguments.stats > 0)
      std::cout << fmt::format("{} instances\n", arguments.stats) << summary(*task, statistics);
    return;
  }
  auto count = static_cast<size_t>(arguments.count);
  constexpr size_t largest = size_t{1} << 32; // elements of an array: 16 GB
  if (count > largest / positions)
    throw Failure(
        fmt::format("{} instances of {} positions are too many for one array: export them in parts",
                    count, positions));
  std::vector<int32_t> inputs(count * positions), targets(count * positions);
  for (size_t i = 0; i < count; ++i)
    task->generate(arguments.seed, split, i, std::span(inputs).subspan(i * positions, positions),
                   std::span(targets).subspan(i * positions, positions));
  std::error_code error;
  std::filesystem::create_directories(arguments.out, error);
  if (error)
    throw Failure(fmt::format("cannot make the folder '{}': {}", arguments.out, error.message()));
  const int64_t shape[] = {arguments.count, task->positions()};
  require(rt::writeNpy(arguments.out + "/inputs.npy", rt::DType::I32, shape,
                       std::as_bytes(std::span(inputs))));
  require(rt::writeNpy(arguments.out + "/targets.npy", rt::DType::I32, shape,
                       std::as_bytes(std::span(targets))));
  std::cout << fmt::format("{} instances of {} in {}\n", count, task->spec(), arguments.out);
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
