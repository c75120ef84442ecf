//===- Code.cpp - machine code of a scheduled module ------------------------===//
#include "codegen/Code.h"
#include "dialect/schedule/ScheduleOps.h"

std::string hybrid::launchKey(mlir::Operation *op) {
  auto launch = cast<LaunchOp>(op);
  std::string key = launch.getKernel().str() + "," + std::to_string(launch.getThreads()) + "," +
                    launch.getStore().str();
  if (!launch.getRowFunction().empty())
    key += ("," + launch.getRowFunction()).str();
  for (int64_t word : launch.getConstants())
    key += "," + std::to_string(word);
  for (auto function : launch.getFunctions().getAsRange<mlir::StringAttr>())
    key += ("," + function.getValue()).str();
  for (int64_t index : launch.getRounded())
    key += ",rounded " + std::to_string(index);
  // A kernel for a GPU finds its replica's memory itself: by the space of each buffer.
  if (launch.getThreads() > 0 && ReplicasAttr::of(launch))
    for (auto buffer : launch.getBuffers().getAsRange<BufferAttr>())
      key += ("," + (buffer.getBytes() ? stringifyEnum(buffer.getSpace()) : "none")).str();
  return key;
}
