//===- RecomputePlan.cpp - what to keep and what to compute again -----------===//
#include "passes/RecomputePlan.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <tuple>

using namespace llvm;

namespace hybrid {

/// How often the results of a unit may be given up: each time costs its computation once more.
static constexpr int32_t mostVersions = 4;
/// The search aims at peaks lower by this factor one after the other, so that the way to a small
/// budget leads through all larger ones.
static constexpr double levelFactor = 0.95;

RecomputePlan::RecomputePlan(const RecomputeGraph &graph)
    : graph(graph), members(graph.units), splits(graph.units), bestSplits(graph.units),
      current(evaluate(splits)), best(current) {
  for (auto [i, node] : llvm::enumerate(graph.nodes))
    if (node.unit >= 0)
      members[node.unit].push_back(static_cast<int32_t>(i));
}

static int32_t versionAt(ArrayRef<int32_t> splits, int32_t node) {
  return static_cast<int32_t>(llvm::count_if(splits, [&](int32_t split) { return split < node; }));
}

void RecomputePlan::place(Program &program, const Splits &splits) const {
  int32_t count = static_cast<int32_t>(graph.nodes.size());
  std::vector<char> made(static_cast<size_t>(count) * mostVersions);
  // Chains are longer than the stack is deep: a node comes twice, to ask for its producers and to
  // run.
  struct Pending {
    int32_t node, version;
    bool ready;
  };
  SmallVector<Pending> pending;
  for (int32_t at = 0; at < count; ++at) {
    pending.push_back({at, 0, false});
    while (!pending.empty()) {
      Pending next = pending.pop_back_val();
      char &done = made[static_cast<size_t>(next.node) * mostVersions + next.version];
      if (done)
        continue;
      const RecomputeGraph::Node &node = graph.nodes[next.node];
      auto versionOf = [&](int32_t producer) {
        int32_t unit = graph.nodes[producer].unit;
        return unit < 0 ? 0 : versionAt(splits[unit], at);
      };
      if (!next.ready) {
        pending.push_back({next.node, next.version, true});
        for (int32_t producer : llvm::reverse(node.producers))
          if (producer >= 0)
            if (int32_t version = versionOf(producer))
              pending.push_back({producer, version, false});
        continue;
      }
      done = true;
      RecomputeStep step{next.node, next.version, at, {}};
      for (int32_t producer : node.producers)
        step.producerVersions.push_back(producer >= 0 ? versionOf(producer) : 0);
      program.steps.push_back(std::move(step));
    }
  }
}

void RecomputePlan::dropUnused(Program &program) const {
  std::vector<char> used(graph.nodes.size() * mostVersions), keep(program.steps.size());
  for (size_t i = program.steps.size(); i-- > 0;) {
    const RecomputeStep &step = program.steps[i];
    const RecomputeGraph::Node &node = graph.nodes[step.node];
    if (!node.required && !used[static_cast<size_t>(step.node) * mostVersions + step.version])
      continue;
    keep[i] = true;
    for (auto [producer, version] : llvm::zip_equal(node.producers, step.producerVersions))
      if (producer >= 0)
        used[static_cast<size_t>(producer) * mostVersions + version] = true;
  }
  size_t kept = 0;
  for (size_t i = 0; i < program.steps.size(); ++i)
    if (keep[i]) {
      if (kept != i)
        program.steps[kept] = std::move(program.steps[i]);
      ++kept;
    }
  program.steps.resize(kept);
}

void RecomputePlan::measure(Program &program) const {
  std::vector<Lifetime> lifetimes(graph.storages.size() * mostVersions);
  int32_t end = static_cast<int32_t>(program.steps.size());
  auto touch = [&](int32_t storage, int32_t version, int32_t step) {
    if (storage < 0)
      return;
    Lifetime &lifetime = lifetimes[static_cast<size_t>(storage) * mostVersions + version];
    lifetime.first = std::min(lifetime.first, step);
    lifetime.last = std::max(lifetime.last, step);
  };
  for (auto [i, step] : llvm::enumerate(program.steps)) {
    const RecomputeGraph::Node &node = graph.nodes[step.node];
    program.cost += node.cost;
    for (auto [storage, version] : llvm::zip_equal(node.reads, step.producerVersions))
      touch(storage, version, static_cast<int32_t>(i));
    for (int32_t storage : node.writes)
      touch(storage, step.version, static_cast<int32_t>(i));
  }
  std::vector<int64_t> change(program.steps.size() + 1);
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    const RecomputeGraph::Storage &storage = graph.storages[i / mostVersions];
    Lifetime lifetime = lifetimes[i];
    if (i % mostVersions == 0 && storage.input)
      lifetime = {0, end - 1}; // where the runtime writes them stays theirs
    if (lifetime.last < lifetime.first || end == 0)
      continue;
    if (storage.output)
      lifetime.last = end - 1;
    change[lifetime.first] += storage.bytes;
    change[lifetime.last + 1] -= storage.bytes;
  }
  program.live.resize(program.steps.size());
  int64_t live = 0;
  for (int32_t i = 0; i < end; ++i) {
    live += change[i];
    program.live[i] = live;
    if (live > program.peak)
      program.peak = live, program.peakStep = i;
  }
}

RecomputePlan::Program RecomputePlan::evaluate(const Splits &splits) const {
  Program program;
  place(program, splits);
  dropUnused(program);
  measure(program);
  return program;
}

RecomputePlan::AroundPeak RecomputePlan::aroundPeak() const {
  AroundPeak around;
  around.place = current.steps[current.peakStep].at;
  around.before.resize(graph.units), around.at.resize(graph.units),
      around.behind.resize(graph.units);
  for (auto [i, step] : llvm::enumerate(current.steps)) {
    const RecomputeGraph::Node &node = graph.nodes[step.node];
    bool isBefore = static_cast<int64_t>(i) < current.peakStep;
    std::vector<char> &touched = isBefore                  ? around.before
                                 : step.at <= around.place ? around.at
                                                           : around.behind;
    auto touch = [&](int32_t unit) {
      if (unit >= 0)
        touched[unit] = true;
    };
    touch(node.unit);
    for (int32_t producer : node.producers)
      if (producer >= 0)
        touch(graph.nodes[producer].unit);
  }
  return around;
}

bool RecomputePlan::giveUp(Splits &trial, int32_t unit, const AroundPeak &around,
                           bool withSources) const {
  SmallVector<int32_t> pending{unit};
  while (!pending.empty()) {
    int32_t next = pending.pop_back_val();
    SmallVector<int32_t, 2> &places = trial[next];
    if (llvm::is_contained(places, around.place)) {
      if (next == unit)
        return false;
      continue;
    }
    if (static_cast<int32_t>(places.size()) + 1 >= mostVersions)
      return false;
    places.push_back(around.place);
    llvm::sort(places);
    if (!withSources)
      return true;
    for (int32_t member : members[next])
      for (int32_t producer : graph.nodes[member].producers) {
        int32_t source = producer >= 0 ? graph.nodes[producer].unit : -1;
        if (source >= 0 && !around.at[source] && !around.behind[source])
          pending.push_back(source);
      }
  }
  return true;
}

/// Σ max(0, live - level) over the steps: bytes times how long they are too many.
static double excess(ArrayRef<int64_t> live, double level) {
  double sum = 0;
  for (int64_t bytes : live)
    sum += std::max(0.0, static_cast<double>(bytes) - level);
  return sum;
}

bool RecomputePlan::improve(double level, bool maySources) {
  AroundPeak around = aroundPeak();
  double before = excess(current.live, level);
  // A unit that is asked for at the peak's own place cannot be given up there.
  SmallVector<int32_t> units;
  for (int32_t unit = 0; unit < graph.units; ++unit)
    if (around.before[unit] && !around.at[unit] && around.behind[unit])
      units.push_back(unit);
  // What a unit scored last is a good guess: look at the best of them first, and stop when the rest
  // cannot be better. New ones come first.
  auto guess = [&](int32_t unit) {
    auto found = lastScore.find(unit);
    return found == lastScore.end() ? std::numeric_limits<double>::infinity() : found->second;
  };
  llvm::sort(units, [&](int32_t a, int32_t b) {
    double first = guess(a), second = guess(b);
    return first != second ? first > second : a < b;
  });
  double bestScore = 0;
  std::optional<Program> chosen;
  Splits chosenSplits;
  for (int32_t unit : units) {
    if (chosen && guess(unit) <= bestScore)
      break;
    lastScore[unit] = -std::numeric_limits<double>::infinity();
    // What it is computed from is kept longer, or computed again too.
    for (bool withSources : {false, true}) {
      if (withSources && !maySources)
        break;
      Splits trial = splits;
      if (!giveUp(trial, unit, around, withSources))
        continue;
      Program program = evaluate(trial);
      double gain = before - excess(program.live, level);
      double score = gain / std::max(1.0, program.cost - current.cost);
      lastScore[unit] = std::max(lastScore[unit], score);
      if (gain > 0 && (!chosen || score > bestScore)) {
        bestScore = score;
        chosen = std::move(program);
        chosenSplits = std::move(trial);
      }
    }
  }
  if (!chosen)
    return false;
  splits = std::move(chosenSplits);
  current = std::move(*chosen);
  return true;
}

void RecomputePlan::reduce(int64_t budget) {
  if (best.peak <= budget)
    return;
  // Neither way is the better one for all models.
  RecomputePlan other = *this;
  search(budget, false);
  other.search(budget, true);
  bool reached = best.peak <= budget, otherReached = other.best.peak <= budget;
  if (reached && otherReached ? other.best.cost < best.cost : other.best.peak < best.peak) {
    best = std::move(other.best);
    bestSplits = std::move(other.bestSplits);
  }
}

void RecomputePlan::search(int64_t budget, bool maySources) {
  double level = levelFactor * static_cast<double>(current.peak);
  while (best.peak > budget && improve(level, maySources)) {
    if (current.peak < best.peak) {
      best = current;
      bestSplits = splits;
    }
    if (static_cast<double>(current.peak) <= level) {
      level = levelFactor * static_cast<double>(current.peak);
      lastScore.clear();
    }
  }
  keepMore(std::max(budget, best.peak));
}

/// The way to a budget gives up more than it needs at its end: takes back what is not needed, the
/// costliest first.
void RecomputePlan::keepMore(int64_t budget) {
  struct Return {
    int32_t unit, split;
    double saved;
  };
  SmallVector<Return> returns;
  auto without = [&](int32_t unit, int32_t split) {
    Splits trial = bestSplits;
    llvm::erase(trial[unit], split);
    return trial;
  };
  for (int32_t unit = 0; unit < graph.units; ++unit)
    for (int32_t split : bestSplits[unit])
      returns.push_back({unit, split, best.cost - evaluate(without(unit, split)).cost});
  llvm::sort(returns, [](const Return &a, const Return &b) {
    return std::tie(b.saved, a.unit, a.split) < std::tie(a.saved, b.unit, b.split);
  });
  for (const Return &candidate : returns) {
    Splits trial = without(candidate.unit, candidate.split);
    Program program = evaluate(trial);
    if (program.peak <= budget && program.cost <= best.cost) {
      best = std::move(program);
      bestSplits = std::move(trial);
    }
  }
}

} // namespace hybrid
