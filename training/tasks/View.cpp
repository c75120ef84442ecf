//===- View.cpp - a task to look at -----------------------------------------------===//
#include "training/tasks/View.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Print.h"
#include "training/tasks/Statistics.h"
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hybrid::rt {
namespace {

/// Three aligned rows: what goes in, what it is, what is asked.
std::string annotated(const Task &task, int64_t number, std::span<const int32_t> inputs,
                      std::span<const int32_t> targets) {
  std::string in = "inputs ", meaning = "       ", out = "targets";
  size_t width = std::to_string(task.vocabulary()).size() + 2;
  for (int32_t token : inputs)
    width = std::max(width, task.spell(token).size() + 1);
  size_t scored = 0;
  for (size_t t = 0; t < inputs.size(); ++t) {
    in += fmt::format("{:>{}}", inputs[t], width);
    meaning += fmt::format("{:>{}}", task.spell(inputs[t]), width);
    bool asked = targets[t] != ignoredTarget;
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
Instances drawInstances(const Task &task, const TaskView &view, size_t count) {
  auto inputs = static_cast<size_t>(task.positions() * task.inputWords()),
       targets = static_cast<size_t>(task.positions() * task.targetWords());
  Instances instances{std::vector<int32_t>(count * inputs), std::vector<int32_t>(count * targets)};
  for (size_t i = 0; i < count; ++i)
    task.generate(view.seed, view.split, i, std::span(instances.inputs).subspan(i * inputs, inputs),
                  std::span(instances.targets).subspan(i * targets, targets));
  return instances;
}

/// A row a position: the numbers that go in, and what is asked.
std::string annotatedNumbers(const Task &task, int64_t number, std::span<const int32_t> inputs,
                             std::span<const int32_t> targets) {
  auto width = static_cast<size_t>(task.inputWords());
  std::string rows;
  size_t scored = 0, positions = targets.size() / 2;
  for (size_t t = 0; t < positions; ++t) {
    rows += fmt::format("{:>6} ", t);
    for (size_t i = 0; i < width; ++i)
      rows += fmt::format("{:>9.4f}", numberOf(inputs[t * width + i]));
    bool asked = numberOf(targets[2 * t + 1]) != 0;
    scored += asked;
    rows += asked ? fmt::format("  ->{:>9.4f}\n", numberOf(targets[2 * t])) : "\n";
  }
  return fmt::format("instance {}: {} positions, {} scored\n{}", number, positions, scored, rows);
}

nlohmann::json describe(const Task &task, const TaskStatistics &statistics) {
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
std::string summary(const Task &task, const TaskStatistics &statistics) {
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

void show(const Task &task, const TaskView &view) {
  std::string kind = task.inputNumbers() > 0
                         ? fmt::format("{} numbers at each position", task.inputNumbers())
                         : fmt::format("vocabulary {}", task.vocabulary());
  say("{}\n{}, {} positions, {} split, seed {}\n", task.spec(), kind, task.positions(),
      nameOf(view.split), view.seed);
  Instances instances = drawInstances(task, view, static_cast<size_t>(view.show));
  for (int64_t i = 0; i < view.show; ++i) {
    auto part = [&](const std::vector<int32_t> &words, int64_t ofPosition) {
      auto size = static_cast<size_t>(task.positions() * ofPosition);
      return std::span<const int32_t>(words).subspan(static_cast<size_t>(i) * size, size);
    };
    auto annotate = task.inputNumbers() > 0 ? annotatedNumbers : annotated;
    say("{}", annotate(task, i, part(instances.inputs, task.inputWords()),
                       part(instances.targets, task.targetWords())));
  }
}

Result<void> exportInstances(const Task &task, const TaskView &view) {
  auto count = static_cast<size_t>(view.count);
  constexpr size_t largest = size_t{1} << 32; // elements of an array: 16 GB
  if (count > largest / static_cast<size_t>(task.positions() *
                                            std::max(task.inputWords(), task.targetWords())))
    return Error{
        fmt::format("{} instances of {} positions are too many for one array: export them in parts",
                    count, task.positions())};
  Instances instances = drawInstances(task, view, count);
  if (auto done = makeFolder(view.out); !done)
    return done;
  const std::vector<int64_t> shape = {view.count, task.positions()};
  Result<void> written;
  auto write = [&](const char *name, DType type, const std::vector<int64_t> &shape,
                   std::span<const int32_t> words) {
    if (written)
      written = writeNpy(view.out + "/" + name, type, shape, std::as_bytes(words));
  };
  if (task.inputNumbers() == 0) {
    write("inputs.npy", DType::I32, shape, instances.inputs);
    write("targets.npy", DType::I32, shape, instances.targets);
  } else {
    std::vector<int32_t> targets, weights;
    for (size_t i = 0; i < instances.targets.size(); i += 2) {
      targets.push_back(instances.targets[i]);
      weights.push_back(instances.targets[i + 1]);
    }
    write("inputs.npy", DType::F32, {shape[0], shape[1], task.inputNumbers()}, instances.inputs);
    write("targets.npy", DType::F32, shape, targets);
    write("weights.npy", DType::F32, shape, weights);
  }
  if (written)
    say("{} instances of {} in {}\n", count, task.spec(), view.out);
  return written;
}

Result<void> tellStatistics(const Task &task, const TaskView &view) {
  if (task.inputNumbers() > 0)
    return Error{fmt::format("--stats: {} has numbers, statistics are of tokens", task.name())};
  const TaskStatistics statistics =
      statisticsOf(task, view.seed, view.split, static_cast<uint64_t>(view.stats));
  if (view.json)
    say("{}\n", jsonText(describe(task, statistics)));
  else
    say("{}\n{} {} instances of {} positions, vocabulary {}, seed {}\n{}", task.spec(), view.stats,
        nameOf(view.split), task.positions(), task.vocabulary(), view.seed,
        summary(task, statistics));
  return {};
}

} // namespace

Result<void> viewTask(const TaskView &view) {
  auto task = createTask(view.spec, view.convention);
  if (!task)
    return task.error();
  if (view.stats > 0)
    if (auto done = tellStatistics(**task, view); !done)
      return done;
  if (!view.out.empty())
    if (auto done = exportInstances(**task, view); !done)
      return done;
  if (view.show > 0)
    show(**task, view);
  return {};
}

} // namespace hybrid::rt
