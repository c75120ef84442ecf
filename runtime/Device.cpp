//===- Device.cpp - what a session needs of the machine it runs on ----------===//
#include "runtime/Device.h"
#include "executable/ReplicaStride.h"
#include <algorithm>

namespace hybrid::rt {

Result<int64_t> Device::reserveSteps(std::span<const size_t>, int64_t) { return int64_t(1); }
Result<bool> Device::holdExamples(const Examples &) { return false; }
Result<void> Device::takeExamples(int64_t, int64_t, uint64_t) {
  return Error{"this device holds no training sets"};
}
Result<void> Device::start(std::span<const size_t>, int64_t) {
  return Error{"this device runs programs one at a time"};
}
Result<void> Device::finish() { return Error{"no run was started"}; }
Result<void> Device::measure(std::span<const size_t>, int64_t, size_t, std::vector<double> &) {
  return Error{"this device has no clock of its own"};
}

std::string_view nameOf(fb::Space space) {
  switch (space) {
  case fb::Space::Arena:
    return "the arena";
  case fb::Space::Parameters:
    return "the parameters";
  case fb::Space::Gradients:
    return "the gradients";
  case fb::Space::Moment1:
    return "the first moments";
  case fb::Space::Moment2:
    return "the second moments";
  case fb::Space::Constants:
    return "the constants";
  case fb::Space::Tile:
    break;
  }
  return "the tiles";
}

uint64_t bytesOf(const fb::Executable &executable, fb::Space space) {
  if (space == fb::Space::Arena)
    return executable.arena_bytes();
  return space == fb::Space::Constants ? executable.constants_bytes()
                                       : executable.parameter_bytes();
}

uint64_t replicaStrideOf(const fb::Executable &executable, fb::Space space) {
  if (space == fb::Space::Constants)
    return 0;
  if (space != fb::Space::Tile)
    return replicaStride(bytesOf(executable, space));
  uint64_t bytes = 0;
  for (const fb::Program *program : *executable.programs())
    if (program->steps())
      for (const fb::Step *step : *program->steps())
        if (const auto *loop = step->operation_as_TileLoop())
          bytes = std::max(bytes, loop->tile_bytes());
  return replicaStride(bytes);
}

std::vector<fb::BufferRef> buffersOf(const fb::Step &step) {
  std::vector<fb::BufferRef> buffers;
  auto add = [&](const fb::BufferRef *buffer) {
    if (buffer)
      buffers.push_back(*buffer);
  };
  if (const auto *launch = step.operation_as_KernelLaunch()) {
    if (launch->buffers())
      for (const fb::BufferRef *buffer : *launch->buffers())
        add(buffer);
  } else if (const auto *product = step.operation_as_Matmul()) {
    for (const fb::BufferRef *buffer : {product->a(), product->b(), product->c(), product->bias(),
                                        product->offsets(), product->addend()})
      add(buffer);
  } else if (const auto *attention = step.operation_as_Attention()) {
    for (const fb::BufferRef *buffer : *attention->buffers())
      add(buffer);
  }
  return buffers;
}

} // namespace hybrid::rt
