//===- MemoryPlan.cpp - the memory a scheduled model takes ------------------===//
#include "codegen/MemoryPlan.h"
#include "dialect/schedule/ScheduleOps.h"
#include "executable/ReplicaStride.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hybrid {

/// No allocation is smaller.
static constexpr int64_t leastBytes = 64;

static int64_t aligned(int64_t bytes) {
  return static_cast<int64_t>(replicaStride(static_cast<uint64_t>(bytes)));
}

/// Inputs and outputs of a program, each where a replica keeps it.
static int64_t portBytes(ProgramOp program) {
  int64_t bytes = 0;
  for (ArrayAttr ports : {program.getInputs(), program.getOutputs()})
    for (auto port : ports.getAsRange<DictionaryAttr>())
      bytes += aligned(port.getAs<BufferAttr>("buffer").getBytes());
  return bytes;
}

int64_t MemoryPlan::arenas() const {
  return arenaCopies == 1 ? arena : arenaCopies * aligned(arena);
}

int64_t MemoryPlan::scratch() const { return std::max(leastBytes, scratchPerThread * threads); }

int64_t MemoryPlan::tiles() const {
  return std::max({leastBytes, tilesPerThread * threads, tilesShared});
}

int64_t MemoryPlan::total() const {
  return parameters + constants + gradients + moments + arenas() + ports + scratch() + tiles();
}

MemoryPlan planMemory(ModuleOp scheduled, int64_t threads) {
  auto attribute = [&](StringRef name) {
    auto found = scheduled->getAttrOfType<IntegerAttr>(name);
    return found ? found.getInt() : 0;
  };
  MemoryPlan plan;
  plan.threads = threads;
  if (auto replicas = ReplicasAttr::of(scheduled))
    plan.replicas = replicas.getCount();
  auto ofAll = [&](int64_t bytes) {
    return plan.replicas == 1 ? bytes : plan.replicas * aligned(bytes);
  };
  bool onGpu = false;
  scheduled.walk([&](LaunchOp launch) { onGpu |= launch.getThreads() > 0; });
  if (onGpu)
    plan.arenaCopies = plan.replicas;
  plan.parameters = std::max(leastBytes, ofAll(attribute("schedule.parameter_bytes")));
  plan.constants = std::max(leastBytes, attribute("schedule.constants_bytes"));
  plan.arena = leastBytes;
  auto programs = llvm::to_vector(scheduled.getOps<ProgramOp>());
  bool hasTrain = llvm::any_of(programs, [](ProgramOp op) { return op.getSymName() == "train"; });
  for (ProgramOp program : programs) {
    int64_t bytes = static_cast<int64_t>(program.getArenaBytes().value_or(0));
    if (bytes >= plan.arena) {
      plan.arena = bytes;
      plan.program = program.getSymName().str();
      plan.largest.clear();
      if (auto parts = program->getAttrOfType<ArrayAttr>("schedule.largest"))
        for (auto part : parts.getAsRange<DictionaryAttr>())
          plan.largest.push_back({part.getAs<StringAttr>("op").str(),
                                  part.getAs<StringAttr>("location").str(),
                                  part.getAs<IntegerAttr>("bytes").getInt()});
    }
    // A model with a loss of its own is trained through its vjp.
    StringRef name = program.getSymName();
    bool trains = name == "update" || name == (hasTrain ? "train" : "vjp");
    if (plan.replicas > 1 && !onGpu && (trains || name == "init"))
      plan.ports += plan.replicas * portBytes(program);
    program.getBody().walk([&](Operation *op) {
      if (auto loop = dyn_cast<TileLoopOp>(op)) {
        int64_t &tiles = loop.getSequential() ? plan.tilesShared : plan.tilesPerThread;
        tiles = std::max<int64_t>(tiles, llvm::alignTo(loop.getTileBytes(), 64));
        return;
      }
      if (auto launch = dyn_cast<LaunchOp>(op))
        plan.scratchPerThread =
            std::max<int64_t>(plan.scratchPerThread, llvm::alignTo(launch.getScratchBytes(), 64));
      for (auto buffer : op->getAttrOfType<ArrayAttr>("buffers").getAsRange<BufferAttr>()) {
        if (!trains || buffer.getBytes() == 0)
          continue;
        if (buffer.getSpace() == Space::Gradients)
          plan.gradients = plan.parameters;
        else if (buffer.getSpace() == Space::Moment1 || buffer.getSpace() == Space::Moment2)
          plan.moments = 2 * plan.parameters;
      }
    });
  }
  if (onGpu)
    plan.tilesShared = ofAll(plan.tilesShared);
  return plan;
}

} // namespace hybrid
