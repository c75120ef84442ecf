//===- AssignBranches.cpp - steps that need nothing of each other part ------===//
//
// Of a step, the longest way through the program that leads over it says how much time it has to
// spare. Steps that can spare their own go to another branch: filters, which only a later step of
// the main chain needs, gradients of weights and their sums, which none does. What is on the
// longest way stays on branch 0, so that its launches follow one another.
//
//===----------------------------------------------------------------------===//
#include "dialect/Shapes.h"
#include "dialect/schedule/Branches.h"
#include "dialect/schedule/Memory.h"
#include "dialect/schedule/RankOps.h"
#include "passes/schedule/ArenaLifetimes.h"
#include "passes/schedule/SchedulePasses.h"
#include <cmath>
#include <deque>
#include <map>

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_ASSIGNBRANCHES
#include "passes/schedule/Passes.h.inc"

namespace {

/// What steps take on a large GPU, in microseconds, of which only the proportions matter.
constexpr double launchTime = 2, bytesPerTime = 2e6, operationsPerTime = 1e8;
/// What it costs that a step waits for another branch.
constexpr double waitTime = 1;

/// Of the arena of one branch, what others may hold behind the main one: as much as they like
/// first, then less, so that memory is free again.
constexpr double shares[] = {INFINITY, 1, 0.5, 0.25, 0.125, 0.0625};
/// How many steps ahead of another branch's the main one may always be: with less both would take
/// turns.
constexpr size_t leastAhead = 4;

double timeOf(Operation *step) {
  double time = launchTime;
  for (const Access &access : accessesOf(step))
    time += static_cast<double>(access.view.extent() * bytesOf(access.view.element)) / bytesPerTime;
  if (auto product = dyn_cast<LibraryMatmulOp>(step))
    time += 2.0 * static_cast<double>(product.getM()) * static_cast<double>(product.getN()) *
            static_cast<double>(product.getK()) * static_cast<double>(product.getBatch()) /
            operationsPerTime;
  return time;
}

/// Of the buffers in the arena that a step touches, in bytes.
int64_t heldBy(Operation *step) {
  llvm::SmallPtrSet<Operation *, 8> found;
  int64_t bytes = 0;
  for (const Access &access : accessesOf(step))
    if (auto buffer = access.view.buffer.getDefiningOp<BufferOp>();
        buffer.getSpace() == Space::Arena && found.insert(buffer).second)
      bytes += buffer.getBytes();
  return bytes;
}

/// Loops use one room for their tiles, attention and transforms one workspace each, and ranks meet
/// in one order.
bool mayPart(Operation *step) { return isa<LaunchOp, LibraryMatmulOp>(step); }

/// For each step, earlier ones that touch the same bytes where one of both writes them: as the
/// loader of an executable sees it, from the first byte of a view to its last.
class Dependences {
public:
  explicit Dependences(ArrayRef<Operation *> steps) : earlier(steps.size()) {
    for (auto [number, step] : llvm::enumerate(steps))
      for (const Access &access : accessesOf(step))
        add(number, access);
  }
  /// In descending order, each once.
  ArrayRef<size_t> of(size_t step) const { return earlier[step]; }

private:
  struct Use {
    size_t step;
    int64_t begin, end;
  };
  struct Uses {
    SmallVector<Use> reads, writes;
  };

  void add(size_t number, const Access &access) {
    auto buffer = access.view.buffer.getDefiningOp<BufferOp>();
    const int64_t size = bytesOf(access.view.element),
                  begin =
                      static_cast<int64_t>(buffer.getAt().value_or(0)) + access.view.offset * size;
    const Use use{number, begin, begin + access.view.extent() * size};
    // Buffers of other spaces may lie in one another.
    const bool isApart = buffer.getSpace() == Space::Arena || buffer.getSpace() == Space::Tile;
    Uses &uses = all[{isApart ? buffer.getOperation() : nullptr, buffer.getSpace()}];
    meet(use, uses.writes);
    if (access.written)
      meet(use, uses.reads);
    (access.written ? uses.writes : uses.reads).push_back(use);
  }

  void meet(const Use &use, ArrayRef<Use> others) {
    SmallVector<size_t> &found = earlier[use.step];
    for (const Use &other : others) {
      if (other.step == use.step || other.begin >= use.end || use.begin >= other.end)
        continue;
      auto *at = llvm::lower_bound(found, other.step, std::greater<>());
      if (at == found.end() || *at != other.step)
        found.insert(at, other.step);
    }
  }

  std::vector<SmallVector<size_t>> earlier;
  std::map<std::pair<Operation *, Space>, Uses> all;
};

class Assignment {
public:
  explicit Assignment(ArrayRef<Operation *> steps)
      : steps(steps), dependences(steps), branches(steps.size()) {
    for (Operation *step : steps)
      times.push_back(timeOf(step)), held.push_back(heldBy(step));
    findSpare();
    place();
  }

  bool parts() const {
    return llvm::any_of(branches, [](unsigned branch) { return branch != 0; });
  }

  /// Says for each step what it waits for, where steps of other branches that the main one has not
  /// waited for hold about `most` bytes at most.
  StepOrder order(double most, std::vector<SmallVector<int64_t>> &after) const {
    StepOrder order;
    after.assign(steps.size(), {});
    std::array<int64_t, mostBranches> last = StepOrder::start(); // of each branch
    Lagging lagging;
    for (size_t step = 0; step < steps.size(); ++step) {
      const unsigned branch = branches[step];
      auto waitFor = [&](size_t earlier) {
        const unsigned other = branches[earlier];
        if (other == branch || order.knownTo(branch)[other] >= static_cast<int64_t>(earlier))
          return;
        order.wait(branch, earlier);
        after[step].push_back(static_cast<int64_t>(earlier));
      };
      for (size_t earlier : dependences.of(step))
        waitFor(earlier);
      if (branch != 0) {
        // What holds little is not worth a wait.
        if (const int64_t bytes = held[step]; static_cast<double>(bytes) > most / 16)
          lagging.add({step, bytes});
      } else {
        lagging.drop([&](size_t earlier) {
          return order.knownTo(0)[branches[earlier]] >= static_cast<int64_t>(earlier);
        });
        // Best where the step is not made ready before the last one of its branch has ended anyway.
        const bool isFree = !isa<LaunchOp>(steps[step]) || !after[step].empty() || last[0] < 0 ||
                            !isa<LaunchOp>(steps[last[0]]);
        while (static_cast<double>(lagging.bytes) > (isFree ? most : 2 * most) &&
               step - lagging.steps.front().number >= leastAhead)
          waitFor(lagging.takeFirst());
      }
      order.add(branch);
      last[branch] = static_cast<int64_t>(step);
    }
    return order;
  }

  unsigned branchOf(size_t step) const { return branches[step]; }

private:
  /// Steps of other branches that the main one has not waited for, in their order.
  struct Lagging {
    struct Step {
      size_t number;
      int64_t bytes;
    };
    std::deque<Step> steps;
    int64_t bytes = 0;

    void add(Step step) { steps.push_back(step), bytes += step.bytes; }
    size_t takeFirst() {
      const Step first = steps.front();
      steps.pop_front(), bytes -= first.bytes;
      return first.number;
    }
    /// Those at the front that are known to be done.
    void drop(llvm::function_ref<bool(size_t)> isDone) {
      while (!steps.empty() && isDone(steps.front().number))
        takeFirst();
    }
  };

  void findSpare() {
    std::vector<double> begin(steps.size()), rest(steps.size());
    double whole = 0;
    for (size_t step = 0; step < steps.size(); ++step) {
      for (size_t earlier : dependences.of(step))
        begin[step] = std::max(begin[step], begin[earlier] + times[earlier]);
      whole = std::max(whole, begin[step] + times[step]);
    }
    for (size_t step = steps.size(); step-- > 0;) {
      rest[step] += times[step];
      for (size_t earlier : dependences.of(step))
        rest[earlier] = std::max(rest[earlier], rest[step]);
    }
    for (size_t step = 0; step < steps.size(); ++step)
      spare.push_back(whole - begin[step] - rest[step]);
  }

  /// In the order of the program, each to the branch where it begins first; but branch 0 is kept
  /// for what has no time to spare.
  void place() {
    std::array<double, mostBranches> free{};
    std::vector<double> ends;
    for (size_t step = 0; step < steps.size(); ++step) {
      auto beginOn = [&](unsigned branch) {
        double begin = free[branch];
        for (size_t earlier : dependences.of(step))
          begin = std::max(begin, ends[earlier] + (branches[earlier] == branch ? 0 : waitTime));
        return begin;
      };
      unsigned best = 0;
      if (mayPart(steps[step])) {
        double first = beginOn(0) + spare[step];
        for (unsigned branch = 1; branch < mostBranches; ++branch)
          if (double begin = beginOn(branch); begin + waitTime < first)
            best = branch, first = begin;
      }
      branches[step] = best;
      ends.push_back(beginOn(best) + times[step]);
      free[best] = ends.back();
    }
  }

  ArrayRef<Operation *> steps;
  Dependences dependences;
  std::vector<double> times, spare;
  std::vector<int64_t> held;
  SmallVector<unsigned> branches;
};

struct AssignBranches : impl::AssignBranchesBase<AssignBranches> {
  using AssignBranchesBase::AssignBranchesBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    const SmallVector<Operation *> steps = stepsOf(program);
    const Assignment assignment(steps);
    if (!assignment.parts())
      return;
    ArenaLifetimes lifetimes(program, steps, /*pauses=*/false);
    StepOrder inOrder;
    for (size_t i = 0; i < steps.size(); ++i)
      inOrder.add(0);
    const int64_t bytes = lifetimes.place(inOrder), most = bytes + bytes / 100 * growth;
    std::vector<SmallVector<int64_t>> after;
    for (double share : shares)
      if (lifetimes.place(assignment.order(share * static_cast<double>(bytes), after)) <= most)
        return mark(steps, assignment, after);
  }

private:
  void mark(ArrayRef<Operation *> steps, const Assignment &assignment,
            ArrayRef<SmallVector<int64_t>> after) {
    Builder builder(&getContext());
    for (auto [number, step] : llvm::enumerate(steps)) {
      if (const unsigned branch = assignment.branchOf(number)) {
        step->setAttr(branchAttribute, builder.getI64IntegerAttr(branch));
        ++numParted;
      }
      if (!after[number].empty())
        step->setAttr(afterAttribute, builder.getDenseI64ArrayAttr(after[number]));
      numWaits += after[number].size();
    }
  }
};

} // namespace
} // namespace hybrid
