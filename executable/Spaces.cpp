//===- Spaces.cpp - what programs touch of which memory, and how large it is ===//
#include "executable/Spaces.h"
#include "executable/ReplicaStride.h"
#include <algorithm>

namespace hybrid {

std::vector<fb::BufferRef> buffersOf(const fb::Step &step) {
  std::vector<fb::BufferRef> buffers;
  auto addAll = [&](const flatbuffers::Vector<const fb::BufferRef *> *list) {
    if (list)
      for (const fb::BufferRef *buffer : *list)
        buffers.push_back(*buffer);
  };
  if (const auto *launch = step.operation_as_KernelLaunch())
    addAll(launch->buffers());
  else if (const auto *attention = step.operation_as_Attention())
    addAll(attention->buffers());
  else if (const auto *await = step.operation_as_Await())
    addAll(await->buffers());
  else if (const auto *reduction = step.operation_as_AllReduce()) {
    addAll(reduction->buffers());
    if (reduction->weight())
      buffers.push_back(*reduction->weight());
  } else if (const auto *product = step.operation_as_Matmul())
    for (const fb::BufferRef *buffer : {product->a(), product->b(), product->c(), product->bias(),
                                        product->offsets(), product->addend()})
      if (buffer)
        buffers.push_back(*buffer);
  return buffers;
}

using Spaces = std::array<bool, spaceCount>;

static void addSpaces(const fb::Step &step, Spaces &touched) {
  for (const fb::BufferRef &buffer : buffersOf(step))
    if (buffer.bytes() && buffer.space() != fb::Space::Tile)
      touched[static_cast<size_t>(buffer.space())] = true;
  if (const auto *loop = step.operation_as_TileLoop(); loop && loop->steps())
    for (const fb::Step *inner : *loop->steps())
      addSpaces(*inner, touched);
}

Spaces spacesOf(const fb::Program &program) {
  Spaces touched{};
  touched[static_cast<size_t>(fb::Space::Arena)] = true;
  for (const auto *ports : {program.inputs(), program.outputs()})
    if (ports)
      for (const fb::Tensor *tensor : *ports)
        touched[static_cast<size_t>(tensor->buffer()->space())] = true;
  if (program.steps())
    for (const fb::Step *step : *program.steps())
      addSpaces(*step, touched);
  return touched;
}

bool touchesTraining(const fb::Program &program) {
  const Spaces touched = spacesOf(program);
  return touched[size_t(fb::Space::Gradients)] || touched[size_t(fb::Space::Moment1)] ||
         touched[size_t(fb::Space::Moment2)];
}

uint64_t spaceBytes(const fb::Executable &executable, fb::Space space) {
  if (space == fb::Space::Arena)
    return executable.arena_bytes();
  if (space == fb::Space::Constants)
    return executable.constants_bytes();
  if (space != fb::Space::Tile)
    return executable.parameter_bytes();
  uint64_t bytes = 0;
  for (const fb::Program *program : *executable.programs())
    if (program->steps())
      for (const fb::Step *step : *program->steps())
        if (const auto *loop = step->operation_as_TileLoop())
          bytes = std::max(bytes, loop->tile_bytes());
  return bytes;
}

uint64_t replicaStrideOf(const fb::Executable &executable, fb::Space space) {
  return space == fb::Space::Constants ? 0 : replicaStride(spaceBytes(executable, space));
}

} // namespace hybrid
