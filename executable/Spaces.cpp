//===- Spaces.cpp - what programs touch of which memory, and how large it is ===//
#include "executable/Spaces.h"
#include "executable/ReplicaStride.h"
#include <algorithm>
#include <functional>

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

static uint64_t bytesOfParameter(const fb::Parameter &parameter) {
  uint64_t bytes = parameter.dtype() == fb::DType::F64 ? 8 : 4;
  if (parameter.shape())
    for (int64_t size : *parameter.shape())
      bytes *= static_cast<uint64_t>(size);
  return bytes;
}

/// Up to the last that programs touch: frozen parameters lie behind it, without gradients and
/// moments.
static uint64_t touchedBytes(const fb::Executable &executable, fb::Space space) {
  uint64_t end = 0;
  auto visit = [&](const fb::BufferRef &buffer) {
    if (buffer.space() == space)
      end = std::max(end, buffer.offset() + buffer.bytes());
  };
  std::function<void(const fb::Step &)> visitStep = [&](const fb::Step &step) {
    for (const fb::BufferRef &buffer : buffersOf(step))
      visit(buffer);
    if (const auto *loop = step.operation_as_TileLoop(); loop && loop->steps())
      for (const fb::Step *inner : *loop->steps())
        visitStep(*inner);
  };
  for (const fb::Program *program : *executable.programs()) {
    for (const auto *ports : {program->inputs(), program->outputs()})
      if (ports)
        for (const fb::Tensor *tensor : *ports)
          visit(*tensor->buffer());
    if (program->steps())
      for (const fb::Step *step : *program->steps())
        visitStep(*step);
  }
  if (executable.parameters())
    for (const fb::Parameter *parameter : *executable.parameters())
      if (parameter->trainable())
        end = std::max(end, parameter->offset() + bytesOfParameter(*parameter));
  return end;
}

uint64_t spaceBytes(const fb::Executable &executable, fb::Space space) {
  const bool isOfTraining =
      space == fb::Space::Gradients || space == fb::Space::Moment1 || space == fb::Space::Moment2;
  if (isOfTraining && executable.replicas() == 1) // code knows the stride of replicas
    return std::min<uint64_t>(executable.parameter_bytes(), touchedBytes(executable, space));
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
