//===- Ensemble.cpp - several trainings as one program ------------------------===//
//
// Replicas are an axis of the scheduled form, not of the graph: every space of memory but the
// constants exists once for each, and every launch runs for each. So every op and kernel takes part
// as it is. See docs/decisions/012-replicas.md.
//
//===----------------------------------------------------------------------===//
#include "dialect/schedule/ScheduleOps.h"
#include "executable/ReplicaStride.h"
#include "passes/Passes.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_ENSEMBLE
#include "passes/Passes.h.inc"

namespace {

int64_t strideOf(int64_t bytes) {
  return static_cast<int64_t>(replicaStride(static_cast<uint64_t>(bytes)));
}

class Ensemble : public impl::EnsembleBase<Ensemble> {
public:
  using EnsembleBase::EnsembleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const int64_t count = replicas;
    if (count < 1 || count > mostReplicas) {
      module.emitError() << "an ensemble of " << count << " replicas, expected 1 to "
                         << mostReplicas;
      return signalPassFailure();
    }
    auto programs = module.getOps<ProgramOp>();
    if (programs.empty()) {
      module.emitError() << "has no programs to make an ensemble of: schedule it first";
      return signalPassFailure();
    }
    if (count == 1)
      return;
    if (auto present = module->getAttrOfType<ReplicasAttr>(ReplicasAttr::attributeName)) {
      module.emitError() << "is an ensemble of " << present.getCount() << " replicas already";
      return signalPassFailure();
    }
    int64_t arena = 0, tile = 0;
    for (ProgramOp program : programs) {
      arena = std::max<int64_t>(arena, program.getArenaBytes().value_or(0));
      for (auto loop : program.getOps<TileLoopOp>())
        tile = std::max<int64_t>(tile, loop.getTileBytes());
    }
    auto parameters = module->getAttrOfType<IntegerAttr>("schedule.parameter_bytes");
    module->setAttr(ReplicasAttr::attributeName,
                    ReplicasAttr::get(&getContext(), count, strideOf(arena),
                                      strideOf(parameters ? parameters.getInt() : 0),
                                      strideOf(tile)));
  }
};

} // namespace
} // namespace hybrid
