//===- ScheduleDialect.cpp - registration and attributes of the schedule ----===//
#include "dialect/schedule/RankOps.h"
#include "dialect/schedule/TransformOps.h"
#include "executable/ReplicaStride.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hybrid;

#include "dialect/schedule/ScheduleDialect.cpp.inc"
#include "dialect/schedule/ScheduleEnums.cpp.inc"
#include "dialect/schedule/ScheduleInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/schedule/ScheduleAttributes.cpp.inc"

void ScheduleDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/schedule/ScheduleAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/schedule/ScheduleOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/schedule/RankOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/schedule/TransformOps.cpp.inc"
      >();
}

LogicalResult BufferAttr::verify(function_ref<InFlightDiagnostic()> emitError, Space,
                                 int64_t offset, int64_t bytes) {
  if (offset < 0 || bytes < 0)
    return emitError() << "buffer at offset " << offset << " with " << bytes
                       << " bytes: neither can be negative";
  return success();
}

LogicalResult ReplicasAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t count,
                                   int64_t arena, int64_t parameters, int64_t tile) {
  if (count < 2 || count > mostReplicas)
    return emitError() << count << " replicas, expected 2 to " << mostReplicas;
  for (int64_t stride : {arena, parameters, tile})
    if (stride < 0 || stride % 256)
      return emitError() << "replicas " << stride << " bytes apart, expected a multiple of 256";
  return success();
}

ReplicasAttr ReplicasAttr::of(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<ReplicasAttr>(attributeName) : ReplicasAttr();
}

int64_t ReplicasAttr::strideOf(Space space) const {
  switch (space) {
  case Space::Arena:
    return getArena();
  case Space::Tile:
    return getTile();
  case Space::Constants:
    return 0;
  case Space::Parameters:
  case Space::Gradients:
  case Space::Moment1:
  case Space::Moment2:
    break;
  }
  return getParameters();
}

/// `schedule.replicas` decides where kernels find their memory, which the runtime places by the
/// sizes that the module states.
static LogicalResult verifyReplicas(Operation *op, Attribute value) {
  auto module = dyn_cast<ModuleOp>(op);
  auto replicas = dyn_cast<ReplicasAttr>(value);
  if (!module || !replicas)
    return op->emitError() << "schedule.replicas is " << value
                           << ", expected #schedule.replicas<...> on a module";
  auto agrees = [&](StringRef space, int64_t bytes, int64_t stride) -> LogicalResult {
    if (bytes >= 0 && replicaStride(static_cast<uint64_t>(bytes)) == static_cast<uint64_t>(stride))
      return success();
    return op->emitError() << "schedule.replicas places replicas of " << bytes << " bytes of "
                           << space << " " << stride << " bytes apart";
  };
  int64_t arena = 0, tile = 0;
  for (auto program : module.getOps<ProgramOp>()) {
    if (IntegerAttr bytes = program.getArenaBytesAttr())
      arena = std::max(arena, bytes.getInt());
    for (auto loop : program.getOps<TileLoopOp>())
      tile = std::max(tile, static_cast<int64_t>(loop.getTileBytes()));
  }
  auto parameters = module->getAttrOfType<IntegerAttr>("schedule.parameter_bytes");
  if (failed(agrees("the arena", arena, replicas.getArena())) ||
      failed(agrees("tiles", tile, replicas.getTile())))
    return failure();
  return agrees("parameters", parameters ? parameters.getInt() : 0, replicas.getParameters());
}

LogicalResult ScheduleDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == ReplicasAttr::attributeName)
    return verifyReplicas(op, attribute.getValue());
  return success();
}
