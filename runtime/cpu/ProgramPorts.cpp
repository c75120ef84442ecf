//===- ProgramPorts.cpp - inputs and outputs of a program, beside the arena -===//
#include "runtime/cpu/ProgramPorts.h"
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {

Result<void> ProgramPorts::allocate() {
  if (memory || layout.stride == 0)
    return {};
  auto allocated = Arena::allocate(layout.stride * static_cast<uint64_t>(replicas),
                                   fmt::format("inputs and outputs of {} replicas", replicas));
  if (!allocated)
    return allocated.error();
  memory = std::move(*allocated);
  return {};
}

std::byte *ProgramPorts::place(const KeptPorts::Port &port, int64_t replica) const {
  return memory.data() + static_cast<uint64_t>(replica) * layout.stride + port.offset;
}

std::span<std::byte> ProgramPorts::at(const fb::Tensor &tensor, int64_t replica) const {
  for (const auto *ports : {&layout.inputs, &layout.outputs})
    for (const KeptPorts::Port &port : *ports)
      if (port.tensor == &tensor)
        return {place(port, replica), tensor.buffer()->bytes()};
  return {};
}

void ProgramPorts::placeInputs(int64_t replica, const AddressOf &address,
                               const Chooses &chosen) const {
  for (const KeptPorts::Port &port : layout.inputs)
    if (const fb::BufferRef &buffer = *port.tensor->buffer();
        buffer.bytes() && (!chosen || chosen(*port.tensor)))
      std::memcpy(address(buffer), place(port, replica), buffer.bytes());
}

void ProgramPorts::keepOutputs(int64_t replica, const AddressOf &address) const {
  for (const KeptPorts::Port &port : layout.outputs)
    if (const fb::BufferRef &buffer = *port.tensor->buffer(); buffer.bytes())
      std::memcpy(place(port, replica), address(buffer), buffer.bytes());
}

} // namespace hybrid::rt
