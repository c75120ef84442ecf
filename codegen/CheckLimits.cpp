//===- CheckLimits.cpp - whether a runtime will take a program ---------------===//
#include "codegen/CheckLimits.h"
#include "dialect/schedule/ScheduleOps.h"
#include "executable/Limits.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace hybrid {
namespace {

std::string inTebibytes(double bytes) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f TiB", bytes / (uint64_t(1) << 40));
  return text;
}

class Check {
public:
  Check(ModuleOp module, bool onCuda, int64_t sharedBytes)
      : module(module), onCuda(onCuda), sharedBytes(sharedBytes) {}

  LogicalResult run() {
    auto replicas = ReplicasAttr::of(module);
    count = replicas ? replicas.getCount() : 1;
    for (auto [name, what] : {std::pair("schedule.parameter_bytes", "parameters"),
                              std::pair("schedule.constants_bytes", "constants")})
      if (failed(space(what, module->getAttrOfType<IntegerAttr>(name).getInt())))
        return failure();
    for (auto program : module.getOps<ProgramOp>())
      if (failed(space("arena of program '" + program.getSymName().str() + "'",
                       program.getArenaBytes().value_or(0))))
        return failure();
    for (auto program : module.getOps<ProgramOp>()) {
      WalkResult walked = program.walk([&](Operation *op) {
        return failed(step(op)) ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return failure();
    }
    return success();
  }

private:
  /// Sizes that do not fit 63 bits have become negative.
  LogicalResult space(const std::string &what, int64_t bytes) {
    if (bytes >= 0 &&
        static_cast<double>(bytes) * static_cast<double>(count) <= double(mostSpaceBytes))
      return success();
    return emitError(module.getLoc())
           << "the " << what << " would take "
           << (bytes < 0 ? "more than 8388608 TiB"
                         : inTebibytes(static_cast<double>(bytes) * static_cast<double>(count)))
           << ", and no executable may have more than " << inTebibytes(mostSpaceBytes)
           << ": compile with a smaller --batch or --length"
           << (count > 1 ? ", or a smaller --ensemble" : "");
  }

  LogicalResult step(Operation *op) {
    if (auto loop = dyn_cast<TileLoopOp>(op)) {
      const int64_t tiles = (static_cast<int64_t>(loop.getRows()) - 1) / loop.getTile() + 1,
                    parts = static_cast<int64_t>(loop.getBody().front().getOperations().size());
      tileSteps += tiles * parts;
      if (onCuda && tileSteps > mostTileSteps)
        return op->emitError() << "its tiles and those before it are " << tileSteps
                               << " launches, and no executable may have more than "
                               << mostTileSteps << ": compile with a smaller --batch or --length";
      return success();
    }
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch)
      return success();
    const auto grid = static_cast<int64_t>(launch.getGrid()),
               mostGrid = onCuda ? mostBlocks : mostItems;
    if (grid > mostGrid)
      return op->emitError() << launch.getSource() << " has " << grid
                             << " work items, and no launch may have more than " << mostGrid
                             << ": compile with a smaller --batch or --length";
    const auto threads = static_cast<int64_t>(launch.getThreads()),
               shared = static_cast<int64_t>(launch.getScratchBytes());
    if (onCuda && (threads > mostBlockThreads || shared > sharedBytes))
      return op->emitError() << launch.getSource() << " takes blocks of " << threads
                             << " threads and " << shared
                             << " bytes of shared memory, and the target has at most "
                             << mostBlockThreads << " and " << sharedBytes
                             << ": it is too large for a GPU, as by its states, taps, experts or "
                                "channels of a head";
    const size_t own = launch.getBuffers().size(),
                 most = onCuda ? mostBlockBuffers : mostLaunchBuffers;
    buffers += own;
    if (own > most || buffers > mostBuffers)
      return op->emitError() << launch.getSource() << " touches " << (own > most ? own : buffers)
                             << " buffers" << (own > most ? "" : " with all before it")
                             << ", and no launch may touch more than " << most
                             << ": put fewer tensors together here, in several steps";
    return success();
  }

  ModuleOp module;
  bool onCuda;
  int64_t sharedBytes; // of a block
  int64_t count = 1, tileSteps = 0;
  uint64_t buffers = 0;
};

} // namespace

LogicalResult checkLimits(ModuleOp module, const DeviceTarget &target) {
  return Check(module, target.describe().device == "cuda", target.sharedBytes()).run();
}

} // namespace hybrid
