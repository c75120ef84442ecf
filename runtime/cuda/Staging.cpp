//===- Staging.cpp - inputs and outputs of a program on their way -----------===//
#include "runtime/cuda/Staging.h"
#include <cstring>

namespace hybrid::rt::cuda {

static uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

Staging::Staging(const Gpu &gpu, const fb::Program &program) : gpu(gpu) {
  if (program.inputs())
    for (const fb::Tensor *tensor : *program.inputs()) {
      inputOffsets[tensor] = inputBytes;
      inputBytes += aligned(tensor->buffer()->bytes());
    }
  if (program.outputs())
    for (const fb::Tensor *tensor : *program.outputs())
      if (keptBytes + aligned(tensor->buffer()->bytes()) <= Device::keptOutputBytes) {
        keptOffsets[tensor] = keptBytes;
        keptBytes += aligned(tensor->buffer()->bytes());
      }
}

Result<void> Staging::ensureSet(PinnedMemory &set, uint64_t bytes) const {
  if (set)
    return {};
  auto memory = PinnedMemory::allocate(gpu, bytes);
  if (!memory)
    return memory.error();
  set = std::move(*memory);
  return {};
}

Result<std::span<std::byte>> Staging::input(const fb::Tensor &tensor) {
  if (auto done = ensureSet(inputs[current], inputBytes); !done)
    return done.error();
  return std::span(inputs[current].data() + inputOffsets.at(&tensor), tensor.buffer()->bytes());
}

Result<void> Staging::prepare(bool waits) {
  for (auto [memory, bytes] :
       {std::pair(&waiting, waits ? inputBytes : 0), std::pair(&aside, keptBytes)}) {
    if (*memory || bytes == 0)
      continue;
    auto allocated = GpuMemory::allocate(gpu, bytes);
    if (!allocated)
      return allocated.error();
    *memory = std::move(*allocated);
  }
  return {};
}

Result<void> Staging::upload(size_t set, bool waits, const AddressOf &address) {
  if (inputBytes == 0)
    return {};
  if (auto done = ensureSet(inputs[set], inputBytes); !done)
    return done;
  if (waits)
    return gpu.copyIn(waiting.address(), inputs[set].data(), inputBytes);
  for (const auto &[tensor, offset] : inputOffsets)
    if (auto done = gpu.copyIn(address(*tensor->buffer()), inputs[set].data() + offset,
                               tensor->buffer()->bytes());
        !done)
      return done;
  return {};
}

Result<void> Staging::place(const AddressOf &address) const {
  for (const auto &[tensor, offset] : inputOffsets)
    if (auto done = gpu.copyOnDevice(address(*tensor->buffer()), waiting.address() + offset,
                                     tensor->buffer()->bytes());
        !done)
      return done;
  return {};
}

Result<void> Staging::keepOutputs(const AddressOf &address) const {
  for (const auto &[tensor, offset] : keptOffsets)
    if (auto done = gpu.copyOnDevice(aside.address() + offset, address(*tensor->buffer()),
                                     tensor->buffer()->bytes());
        !done)
      return done;
  return {};
}

Result<void> Staging::downloadOutputs(size_t set) {
  if (keptBytes == 0)
    return {};
  if (auto done = ensureSet(outputs[set], keptBytes); !done)
    return done;
  return gpu.copyOut(outputs[set].data(), aside.address(), keptBytes);
}

std::span<const std::byte> Staging::kept(const fb::Tensor &tensor, size_t set) const {
  auto found = keptOffsets.find(&tensor);
  if (found == keptOffsets.end() || !outputs[set])
    return {};
  return {outputs[set].data() + found->second, tensor.buffer()->bytes()};
}

} // namespace hybrid::rt::cuda
