//===- Statistics.cpp - what the instances of a task are like ---------------===//
#include "training/tasks/Statistics.h"
#include <algorithm>

namespace hybrid::rt {

double TaskStatistics::share(const std::string &kind) const {
  auto found = kinds.find(kind);
  return found == kinds.end()
             ? 0
             : static_cast<double>(found->second) / static_cast<double>(instances * positions);
}

TaskStatistics statisticsOf(const Task &task, uint64_t seed, Split split, uint64_t count) {
  TaskStatistics statistics;
  statistics.instances = count;
  statistics.positions = static_cast<uint64_t>(task.positions());
  std::vector<int32_t> inputs(statistics.positions), targets(statistics.positions);
  for (uint64_t i = 0; i < count; ++i) {
    task.generate(seed, split, i, inputs, targets);
    uint64_t scored = 0;
    for (int32_t token : inputs)
      ++statistics.inputs[token];
    for (int32_t target : targets)
      if (target != ignoredTarget) {
        ++statistics.targets[target];
        ++scored;
      }
    statistics.scored += scored;
    statistics.leastScored = i ? std::min(statistics.leastScored, scored) : scored;
    statistics.mostScored = std::max(statistics.mostScored, scored);
  }
  for (auto [token, times] : statistics.inputs) {
    std::string kind = task.spell(token);
    kind.erase(std::find_if(kind.begin(), kind.end(), [](char c) { return c >= '0' && c <= '9'; }),
               kind.end());
    statistics.kinds[kind.empty() ? "digit" : kind] += times;
  }
  return statistics;
}

} // namespace hybrid::rt
