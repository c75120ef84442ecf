//===- Bursts.h - programs run a number of times as one unit of work ---------===//
//
// A burst is a number of times a sequence of programs, on one stream. The first of a size makes its
// calls one by one, during which the libraries load what they need; the second is captured as a
// graph, with the branches that the programs have, and from then on such a burst is one launch.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/cuda/HeldExamples.h"
#include "runtime/cuda/PreparedProgram.h"
#include "runtime/cuda/RestingReplicas.h"
#include <compare>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace hybrid::rt::cuda {

class Bursts {
public:
  /// All of them are the device's, and outlive this. `examples`: null where an executable takes
  /// batches from the host only.
  Bursts(const Gpu &gpu, const fb::Executable &executable,
         std::span<const std::unique_ptr<PreparedProgram>> programs, RestingReplicas &resting,
         HeldExamples *examples);
  ~Bursts();
  Bursts(const Bursts &) = delete;
  Bursts &operator=(const Bursts &) = delete;

  /// As Device says.
  Result<int64_t> reserveSteps(std::span<const size_t> numbers, int64_t most);
  Result<void> start(std::span<const size_t> numbers, int64_t steps);
  Result<void> finish();
  Result<bool> holdExamples(const Examples &sets);
  Result<void> takeExamples(size_t replica, size_t step, uint64_t first);
  Result<void> measure(std::span<const size_t> numbers, int64_t steps, size_t runs,
                       std::vector<double> &seconds);

  /// Runs a program once and waits for it.
  Result<void> run(size_t number);
  Result<void> finishAll();
  Result<void> finishAllAndRest();
  /// Before these programs run for all replicas.
  Result<void> protectResting(std::span<const size_t> numbers);
  /// Whether outputs of the program lie in the arena, where its last run left them.
  bool hasOutputsOf(size_t number) const { return started.empty() && lastStarted == number; }

private:
  struct Burst {
    std::vector<size_t> programs;
    size_t steps = 1;
    bool gathers = false; // takes its batches from the examples held
    auto operator<=>(const Burst &) const = default;
  };
  /// What a burst has become.
  struct Launchable {
    int64_t runs = 0, lastRun = 0;
    GraphExec graph = nullptr;
  };
  /// A burst on its way.
  struct Started {
    Burst burst;
    std::vector<size_t> inputSets; // of its programs
    size_t outputSet = 0;
    Event end = nullptr;
  };

  /// Whether the first program's inputs go straight to their places.
  bool goesStraight(const Burst &burst) const {
    return burst.steps == 1 && replicas == 1 && !burst.gathers;
  }
  bool gathers(const Burst &burst, size_t program) const {
    return burst.gathers && program == examples->program();
  }
  Result<void> issueInOrder(const PreparedProgram &program) const;
  Result<void> issue(PreparedProgram &program, size_t step, bool fromTable, bool onBranches);
  Result<void> issueAll(const Burst &burst, bool onBranches);
  Result<void> capture(const Burst &burst, Launchable &state);
  void forgetGraphs(size_t most);
  Result<void> submit(const Burst &burst);
  Result<void> placeAgain(const Started &run, size_t i, size_t step);
  Error culpritOf(const Started &run, const Error &error);

  const Gpu &gpu;
  const fb::Executable &executable;
  std::span<const std::unique_ptr<PreparedProgram>> programs;
  RestingReplicas &resting;
  HeldExamples *examples;
  const size_t replicas;
  const bool waitsForEachStep;
  const bool capturesAll; // the first burst of a size too: for tests of graphs
  std::map<Burst, Launchable> launchables;
  std::deque<Started> started;
  std::vector<Event> freeEvents;
  size_t outputSet = 0;
  int64_t runs = 0;
  std::optional<size_t> lastStarted; // the program whose outputs lie in the arena
};

} // namespace hybrid::rt::cuda
