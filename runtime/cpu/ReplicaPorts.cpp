//===- ReplicaPorts.cpp - inputs and outputs of the replicas of a program ---===//
#include "runtime/cpu/ReplicaPorts.h"
#include "codegen/ReplicaStride.h"
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {

ReplicaPorts::ReplicaPorts(const fb::Program &program, int64_t replicas) : replicas(replicas) {
  auto add = [&](const auto *tensors, std::vector<Port> &ports) {
    if (tensors)
      for (const fb::Tensor *tensor : *tensors) {
        ports.push_back({tensor, stride});
        stride += replicaStride(tensor->buffer()->bytes()); // bounded by ExecutableVerifier.cpp
      }
  };
  add(program.inputs(), inputs);
  add(program.outputs(), outputs);
}

uint64_t ReplicaPorts::bytesFor(const fb::Program &program, int64_t replicas) {
  return ReplicaPorts(program, replicas).stride * static_cast<uint64_t>(replicas);
}

Result<void> ReplicaPorts::allocate() {
  if (memory || stride == 0)
    return {};
  auto allocated = Arena::allocate(stride * static_cast<uint64_t>(replicas),
                                   fmt::format("inputs and outputs of {} replicas", replicas));
  if (!allocated)
    return allocated.error();
  memory = std::move(*allocated);
  return {};
}

std::byte *ReplicaPorts::place(const Port &port, int64_t replica) const {
  return memory.data() + static_cast<uint64_t>(replica) * stride + port.offset;
}

std::span<std::byte> ReplicaPorts::at(const fb::Tensor &tensor, int64_t replica) const {
  for (const auto *ports : {&inputs, &outputs})
    for (const Port &port : *ports)
      if (port.tensor == &tensor)
        return {place(port, replica), tensor.buffer()->bytes()};
  return {};
}

void ReplicaPorts::placeInputs(int64_t replica, const AddressOf &address) const {
  for (const Port &port : inputs)
    if (const fb::BufferRef &buffer = *port.tensor->buffer(); buffer.bytes())
      std::memcpy(address(buffer), place(port, replica), buffer.bytes());
}

void ReplicaPorts::keepOutputs(int64_t replica, const AddressOf &address) const {
  for (const Port &port : outputs)
    if (const fb::BufferRef &buffer = *port.tensor->buffer(); buffer.bytes())
      std::memcpy(place(port, replica), address(buffer), buffer.bytes());
}

} // namespace hybrid::rt
