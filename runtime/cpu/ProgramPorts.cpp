//===- ProgramPorts.cpp - inputs and outputs of a program, beside the arena -===//
#include "runtime/cpu/ProgramPorts.h"
#include "executable/ReplicaStride.h"
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {

ProgramPorts::ProgramPorts(const fb::Program &program, int64_t replicas) : replicas(replicas) {
  uint64_t inputBytes = 0;
  if (program.inputs())
    for (const fb::Tensor *tensor : *program.inputs())
      inputBytes += tensor->buffer()->bytes();
  inputsKept = replicas > 1 || inputBytes <= mostKeptInputs;
  auto add = [&](const auto *tensors, std::vector<Port> &ports) {
    if (tensors)
      for (const fb::Tensor *tensor : *tensors) {
        ports.push_back({tensor, stride});
        stride += replicaStride(tensor->buffer()->bytes()); // bounded by ExecutableVerifier.cpp
      }
  };
  if (inputsKept)
    add(program.inputs(), inputs);
  if (replicas > 1)
    add(program.outputs(), outputs);
}

uint64_t ProgramPorts::bytesFor(const fb::Program &program, int64_t replicas) {
  return ProgramPorts(program, replicas).stride * static_cast<uint64_t>(replicas);
}

Result<void> ProgramPorts::allocate() {
  if (memory || stride == 0)
    return {};
  auto allocated = Arena::allocate(stride * static_cast<uint64_t>(replicas),
                                   fmt::format("inputs and outputs of {} replicas", replicas));
  if (!allocated)
    return allocated.error();
  memory = std::move(*allocated);
  return {};
}

std::byte *ProgramPorts::place(const Port &port, int64_t replica) const {
  return memory.data() + static_cast<uint64_t>(replica) * stride + port.offset;
}

std::span<std::byte> ProgramPorts::at(const fb::Tensor &tensor, int64_t replica) const {
  for (const auto *ports : {&inputs, &outputs})
    for (const Port &port : *ports)
      if (port.tensor == &tensor)
        return {place(port, replica), tensor.buffer()->bytes()};
  return {};
}

void ProgramPorts::placeInputs(int64_t replica, const AddressOf &address) const {
  for (const Port &port : inputs)
    if (const fb::BufferRef &buffer = *port.tensor->buffer(); buffer.bytes())
      std::memcpy(address(buffer), place(port, replica), buffer.bytes());
}

void ProgramPorts::keepOutputs(int64_t replica, const AddressOf &address) const {
  for (const Port &port : outputs)
    if (const fb::BufferRef &buffer = *port.tensor->buffer(); buffer.bytes())
      std::memcpy(place(port, replica), address(buffer), buffer.bytes());
}

} // namespace hybrid::rt
