//===- GatherParameters.cpp - parameters are where they are used -----------===//
//
// Parameters are cut into buckets, in the order in which a program first uses them. A bucket is
// needed for some intervals of the program: forward, and again backward. It is gathered for each of
// them, while the one before is computed, and given up behind it.
//
//===----------------------------------------------------------------------===//
#include "dialect/schedule/Memory.h"
#include "dialect/schedule/RankOps.h"
#include "passes/schedule/OpenStates.h"
#include "passes/schedule/SchedulePasses.h"
#include "passes/schedule/SharedRanges.h"
#include <map>
#include <set>

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_GATHERPARAMETERS
#include "passes/schedule/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral source = "shard_optimizer";

class Gathering {
public:
  Gathering(ProgramOp program, const ByteRanges &shared, int64_t bucketBytes)
      : program(program), shared(shared), bucketBytes(bucketBytes), builder(program.getContext()) {}

  unsigned run() {
    for (Operation &op : program.getBody().front())
      if (isa<ScheduleStep, TileLoopOp>(op))
        steps.push_back(&op);
    if (steps.empty())
      return 0;
    isClosed = statesAreClosed(program, steps);
    makeBuckets();
    findIntervals();
    place();
    insert();
    return static_cast<unsigned>(intervals.size());
  }

private:
  struct Bucket {
    SmallVector<Value> buffers;
    std::set<size_t> uses; // steps
    int64_t bytes = 0;
  };
  /// Steps [begin, end] that use a bucket. It is gathered before step `gatherAt`.
  struct Interval {
    size_t bucket, begin, end, gatherAt;
    bool gathers = true, releases = true;
  };

  void makeBuckets() {
    std::map<Operation *, size_t> number;
    for (auto [i, step] : llvm::enumerate(steps))
      number[step] = i;
    struct Use {
      BufferOp buffer;
      std::set<size_t> steps;
    };
    std::vector<Use> used;
    int64_t all = 0;
    for (auto buffer : program.getOps<BufferOp>()) {
      if (buffer.getSpace() != Space::Parameters || !buffer.getAt())
        continue;
      const auto at = static_cast<int64_t>(*buffer.getAt());
      if (!shared.contains({at, at + buffer.getBytes()}))
        continue;
      Use use{buffer, {}};
      for (const Access &access : usesOf(buffer)) {
        Operation *op = access.step;
        while (op->getParentOp() != program.getOperation())
          op = op->getParentOp();
        if (auto found = number.find(op); found != number.end())
          use.steps.insert(found->second);
      }
      if (use.steps.empty())
        continue;
      all += buffer.getBytes();
      used.push_back(std::move(use));
    }
    llvm::stable_sort(
        used, [](const Use &a, const Use &b) { return *a.steps.begin() < *b.steps.begin(); });
    // Small models too have something to send while they compute.
    constexpr int64_t fewest = 4;
    const int64_t wanted = std::min(bucketBytes, (all + fewest - 1) / fewest);
    for (Use &use : used) {
      if (buckets.empty() || buckets.back().bytes >= wanted)
        buckets.emplace_back();
      buckets.back().buffers.push_back(use.buffer);
      buckets.back().uses.insert(use.steps.begin(), use.steps.end());
      buckets.back().bytes += use.buffer.getBytes();
    }
  }

  /// A bucket stays where fewer than two others are used before it is used again.
  void findIntervals() {
    for (size_t bucket = 0; bucket < buckets.size(); ++bucket) {
      const std::set<size_t> &uses = buckets[bucket].uses;
      std::optional<Interval> open;
      for (size_t step : uses) {
        if (open && othersUsed(bucket, open->end, step) >= 2)
          intervals.push_back(*std::exchange(open, std::nullopt));
        if (!open)
          open = Interval{bucket, step, step, step};
        open->end = step;
      }
      intervals.push_back(*open);
    }
    llvm::stable_sort(intervals,
                      [](const Interval &a, const Interval &b) { return a.begin < b.begin; });
  }

  size_t othersUsed(size_t bucket, size_t behind, size_t before) const {
    size_t count = 0;
    for (size_t other = 0; other < buckets.size(); ++other) {
      auto next = buckets[other].uses.upper_bound(behind);
      count += other != bucket && next != buckets[other].uses.end() && *next < before;
    }
    return count;
  }

  /// Each is gathered where the one before begins, and not while a state that came from a neighbour
  /// has not been handed on: that neighbour would wait for this rank to gather.
  void place() {
    std::vector<Interval *> last(buckets.size());
    for (size_t i = 0; i < intervals.size(); ++i) {
      Interval &now = intervals[i];
      size_t at = i == 0 ? 0 : intervals[i - 1].begin;
      Interval *before = last[now.bucket];
      if (before)
        at = std::max(at, before->end + 1);
      while (at > 0 && !isClosed[at])
        --at;
      now.gatherAt = at;
      if (before && at <= before->end) // there is no place for it: the bucket stays
        before->releases = now.gathers = false;
      last[now.bucket] = &now;
    }
  }

  void insert() {
    for (size_t step = 0; step < steps.size(); ++step) {
      builder.setInsertionPoint(steps[step]);
      for (const Interval &interval : intervals)
        if (interval.releases && interval.end + 1 == step)
          release(interval);
      for (const Interval &interval : intervals) {
        const SmallVector<Value> &buffers = buckets[interval.bucket].buffers;
        if (interval.gathers && interval.gatherAt == step)
          AllGatherOp::create(builder, steps[step]->getLoc(), buffers, builder.getArrayAttr({}),
                              source);
        if (interval.gathers && interval.begin == step)
          AwaitOp::create(builder, steps[step]->getLoc(), buffers, builder.getArrayAttr({}),
                          source);
      }
    }
    builder.setInsertionPointAfter(steps.back());
    for (const Interval &interval : intervals)
      if (interval.releases && interval.end + 1 == steps.size())
        release(interval);
  }

  void release(const Interval &interval) {
    ReleaseOp::create(builder, steps[interval.end]->getLoc(), buckets[interval.bucket].buffers,
                      builder.getArrayAttr({}), source);
  }

  ProgramOp program;
  const ByteRanges &shared;
  int64_t bucketBytes;
  OpBuilder builder;
  SmallVector<Operation *> steps;
  std::vector<bool> isClosed; // before each step
  std::vector<Bucket> buckets;
  std::vector<Interval> intervals; // by where they begin
};

/// The first values of parameters are given up as they are made.
void releaseFirstValues(ProgramOp init, const ByteRanges &shared) {
  OpBuilder builder(init.getContext());
  for (auto buffer : init.getOps<BufferOp>()) {
    if (buffer.getSpace() != Space::Parameters || !buffer.getAt())
      continue;
    const auto at = static_cast<int64_t>(*buffer.getAt());
    Operation *last = nullptr;
    for (const Access &access : usesOf(buffer))
      if (!last || last->isBeforeInBlock(access.step))
        last = access.step;
    if (!last || !shared.contains({at, at + buffer.getBytes()}))
      continue;
    builder.setInsertionPointAfter(last);
    ReleaseOp::create(builder, last->getLoc(), buffer.getResult(), builder.getArrayAttr({}),
                      source);
  }
}

struct GatherParameters : impl::GatherParametersBase<GatherParameters> {
  using GatherParametersBase::GatherParametersBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto stretches = module->getAttrOfType<ArrayAttr>(sharedAttribute);
    if (!stretches)
      return;
    ByteRanges shared;
    for (auto stretch : stretches.getAsRange<BufferAttr>())
      shared.add({stretch.getOffset(), stretch.getOffset() + stretch.getBytes()});
    Builder builder(module.getContext());
    module->setAttr(sharedParametersAttribute, builder.getUnitAttr());
    for (auto program : module.getOps<ProgramOp>()) {
      if (program.getSymName() == "update")
        keepShares(program);
      else if (program.getSymName() == "init")
        releaseFirstValues(program, shared);
      else
        numGathered += Gathering(program, shared, bucketBytes).run();
      for (auto buffer : program.getOps<BufferOp>())
        if (buffer->hasAttr(toOwnersAttribute))
          buffer->setAttr(releaseAttribute, builder.getUnitAttr());
    }
  }

  /// All ranks get the new parameters where they use them.
  static void keepShares(ProgramOp update) {
    for (auto gather : llvm::to_vector(update.getOps<AllGatherOp>())) {
      if (auto await = dyn_cast<AwaitOp>(gather->getNextNode()))
        await.erase();
      gather.erase();
    }
    eraseUnused(update);
  }
};

} // namespace
} // namespace hybrid
