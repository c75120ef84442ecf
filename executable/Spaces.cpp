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
  else if (const auto *transform = step.operation_as_Transform()) {
    for (const fb::BufferRef *buffer : {transform->real(), transform->spectrum()})
      if (buffer)
        buffers.push_back(*buffer);
  } else if (const auto *await = step.operation_as_Await())
    addAll(await->buffers());
  else if (const auto *gather = step.operation_as_AllGather())
    addAll(gather->buffers());
  else if (const auto *release = step.operation_as_Release())
    addAll(release->buffers());
  else if (const auto *reduction = step.operation_as_AllReduce()) {
    addAll(reduction->buffers());
    if (reduction->weight())
      buffers.push_back(*reduction->weight());
  } else if (const auto *exchange = step.operation_as_Exchange()) {
    for (const fb::BufferRef *buffer : {exchange->send(), exchange->receive()})
      if (buffer)
        buffers.push_back(*buffer);
  } else if (const auto *product = step.operation_as_Matmul())
    for (const fb::BufferRef *buffer : {product->a(), product->b(), product->c(), product->bias(),
                                        product->offsets(), product->addend()})
      if (buffer)
        buffers.push_back(*buffer);
  return buffers;
}

using Spaces = std::array<bool, spaceCount>;

using Visit = std::function<void(const fb::BufferRef &)>;

/// Buffers of a step, and of the steps of a loop.
static void visitBuffers(const fb::Step &step, const Visit &visit) {
  for (const fb::BufferRef &buffer : buffersOf(step))
    visit(buffer);
  if (const auto *loop = step.operation_as_TileLoop(); loop && loop->steps())
    for (const fb::Step *inner : *loop->steps())
      visitBuffers(*inner, visit);
}

static void visitSteps(const fb::Program &program, const Visit &visit) {
  if (program.steps())
    for (const fb::Step *step : *program.steps())
      visitBuffers(*step, visit);
}

static void visitPorts(const fb::Program &program, const Visit &visit) {
  for (const auto *ports : {program.inputs(), program.outputs()})
    if (ports)
      for (const fb::Tensor *tensor : *ports)
        visit(*tensor->buffer());
}

Spaces spacesOf(const fb::Program &program) {
  Spaces touched{};
  touched[static_cast<size_t>(fb::Space::Arena)] = true;
  visitPorts(program, [&](const fb::BufferRef &buffer) {
    touched[static_cast<size_t>(buffer.space())] = true;
  });
  visitSteps(program, [&](const fb::BufferRef &buffer) {
    if (buffer.bytes() && buffer.space() != fb::Space::Tile)
      touched[static_cast<size_t>(buffer.space())] = true;
  });
  return touched;
}

bool touchesTraining(const fb::Program &program) {
  const Spaces touched = spacesOf(program);
  return touched[size_t(fb::Space::Gradients)] || touched[size_t(fb::Space::Moment1)] ||
         touched[size_t(fb::Space::Moment2)];
}

bool takesInput(const fb::Program &program, std::string_view name) {
  const fb::BufferRef *place = nullptr;
  if (program.inputs())
    for (const fb::Tensor *input : *program.inputs())
      if (input->name()->string_view() == name)
        place = input->buffer();
  bool taken = false;
  if (place)
    visitSteps(program, [&](const fb::BufferRef &buffer) {
      taken |= buffer.space() == place->space() && buffer.offset() == place->offset();
    });
  return taken;
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
  const Visit visit = [&](const fb::BufferRef &buffer) {
    if (buffer.space() == space)
      end = std::max(end, buffer.offset() + buffer.bytes());
  };
  for (const fb::Program *program : *executable.programs()) {
    visitPorts(*program, visit);
    visitSteps(*program, visit);
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
