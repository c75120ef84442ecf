//===- PlanTiles.cpp - places of the buffers of a loop over tiles -----------===//
#include "dialect/schedule/Memory.h"
#include "passes/schedule/ArenaPlanner.h"
#include "passes/schedule/SchedulePasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_PLANTILES
#include "passes/schedule/Passes.h.inc"

namespace {

void plan(TileLoopOp loop) {
  llvm::MapVector<Operation *, Lifetime> lifetimes;
  int64_t now = 0;
  for (Operation &op : loop.getBody().front()) {
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      int64_t rows = buffer.getBytes() / static_cast<int64_t>(loop.getRows());
      lifetimes[buffer] = {rows * static_cast<int64_t>(loop.getTile()), INT64_MAX, -1};
    }
    if (!isa<ScheduleStep>(op))
      continue;
    for (const Access &access : accessesOf(&op)) {
      auto found = lifetimes.find(access.view.buffer.getDefiningOp());
      if (found != lifetimes.end())
        found->second.first = std::min(found->second.first, now), found->second.last = now;
    }
    ++now;
  }
  std::vector<Lifetime> placed;
  for (auto &[buffer, lifetime] : lifetimes)
    placed.push_back(lifetime);
  loop.setTileBytes(planArena(placed));
  for (auto [entry, lifetime] : llvm::zip(lifetimes, placed))
    cast<BufferOp>(entry.first).setAt(lifetime.offset);
}

struct PlanTiles : impl::PlanTilesBase<PlanTiles> {
  using PlanTilesBase::PlanTilesBase;
  void runOnOperation() override {
    for (auto loop : getOperation().getOps<TileLoopOp>())
      plan(loop);
  }
};

} // namespace
} // namespace hybrid
