//===- Branches.h - the streams that the steps of a program run on ----------===//
//
// Steps of a program that need nothing of each other may be on several branches (Executable.fbs),
// each a stream of the device. Events are between them where a step says that it waits for another;
// in a capture they are the edges of the graph, beside those along the streams.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/cuda/Gpu.h"
#include <array>
#include <memory>
#include <vector>

namespace hybrid::rt::cuda {

class Branches {
public:
  /// Null where all steps are on one.
  static Result<std::unique_ptr<Branches>> create(const Gpu &gpu, const fb::Program &program);
  ~Branches();
  Branches(const Branches &) = delete;
  Branches &operator=(const Branches &) = delete;

  unsigned steps() const { return source.steps()->size(); }
  unsigned branchOf(unsigned step) const { return source.steps()->Get(step)->branch(); }

  /// The streams of other branches go on behind what the first was given.
  Result<void> part();
  /// A step's stream waits for what the step does.
  Result<void> beforeStep(unsigned step);
  /// Whether the next launch of a branch depends on nothing but the launch before it there: one
  /// that waits for another stream must not be made ready before.
  bool goesOn(unsigned branch) const { return !waited[branch]; }
  /// The branch's stream has been given something, which may have let it wait for another.
  void given(unsigned branch, bool lastWaits) { waited[branch] = lastWaits; }
  /// Notes where a step ends, for those who wait.
  Result<void> behindStep(unsigned step);
  /// The first stream waits for the others.
  Result<void> join();

private:
  Branches(const Gpu &gpu, const fb::Program &program) : gpu(gpu), source(program) {}
  Result<void> record(Event event, unsigned branch) const;
  Result<void> wait(unsigned branch, Event event);

  const Gpu &gpu;
  const fb::Program &source;
  std::array<Event, mostBranches> ends{}; // of the first one: its begin; null: no step is on it
  std::vector<Event> behind;              // of steps that another waits for, else null
  std::array<bool, mostBranches> waited{};
};

} // namespace hybrid::rt::cuda
