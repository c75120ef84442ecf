//===- Staging.cpp - inputs and outputs of a program on their way -----------===//
#include "runtime/cuda/Staging.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

static uint64_t aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

static std::vector<const fb::Tensor *> inputsOf(const fb::Program &program) {
  std::vector<const fb::Tensor *> tensors;
  if (program.inputs())
    tensors.assign(program.inputs()->begin(), program.inputs()->end());
  return tensors;
}

static std::vector<const fb::Tensor *> keptOutputsOf(const fb::Program &program) {
  std::vector<const fb::Tensor *> tensors;
  uint64_t bytes = 0;
  if (program.outputs())
    for (const fb::Tensor *tensor : *program.outputs())
      if (bytes + tensor->buffer()->bytes() <= Device::keptOutputBytes) {
        tensors.push_back(tensor);
        bytes += tensor->buffer()->bytes();
      }
  return tensors;
}

Staging::Row::Row(std::vector<const fb::Tensor *> tensors) {
  // Copying what lies between costs less than another copy; nothing lives there when a program
  // begins, and nobody reads it when one has ended.
  constexpr uint64_t mostBetween = 256;
  std::sort(tensors.begin(), tensors.end(), [](const fb::Tensor *a, const fb::Tensor *b) {
    return std::pair(a->buffer()->space(), a->buffer()->offset()) <
           std::pair(b->buffer()->space(), b->buffer()->offset());
  });
  for (const fb::Tensor *tensor : tensors) {
    const fb::BufferRef &buffer = *tensor->buffer();
    const uint64_t end = buffer.offset() + buffer.bytes();
    bool joins = false;
    if (!groups.empty() && buffer.bytes() && groups.back().place.bytes()) {
      const fb::BufferRef &last = groups.back().place;
      joins = last.space() == buffer.space() &&
              buffer.offset() <= last.offset() + last.bytes() + mostBetween;
    }
    if (!joins)
      groups.push_back({buffer, aligned(bytes)});
    Group &group = groups.back();
    const uint64_t begin = group.place.offset();
    group.place = {begin, std::max(begin + group.place.bytes(), end) - begin, buffer.space()};
    offsets[tensor] = group.offset + buffer.offset() - begin;
    bytes = group.offset + group.place.bytes();
  }
  bytes = aligned(bytes);
}

Staging::Staging(const Gpu &gpu, const fb::Program &program, size_t replicas)
    : gpu(gpu), replicas(replicas), inputs(inputsOf(program)), outputs(keptOutputsOf(program)) {}

size_t Staging::mostSteps() const {
  const uint64_t step = std::max(tableBytes(inputs, 1), tableBytes(outputs, 1));
  return step ? static_cast<size_t>(mostTableBytes / step) : SIZE_MAX;
}

void Staging::reserve(size_t steps) {
  if (steps == capacity)
    return;
  capacity = steps;
  for (auto *sets : {&inputSets, &outputSets})
    for (PinnedMemory &set : *sets)
      set = PinnedMemory();
  inputTable = GpuMemory(), outputTable = GpuMemory();
}

Result<void> Staging::ensureSet(PinnedMemory &set, const Row &row) const {
  if (set)
    return {};
  auto memory = PinnedMemory::allocate(gpu, tableBytes(row, capacity));
  if (!memory)
    return memory.error();
  set = std::move(*memory);
  return {};
}

Result<void> Staging::ensureTable(GpuMemory &table, const Row &row) const {
  if (table || row.bytes == 0)
    return {};
  auto memory = GpuMemory::allocate(gpu, tableBytes(row, capacity));
  if (!memory)
    return Error{fmt::format("no memory for the {} bytes of a table of inputs or outputs: {}",
                             tableBytes(row, capacity), memory.error().message)};
  table = std::move(*memory);
  return {};
}

Result<std::span<std::byte>> Staging::input(const fb::Tensor &tensor, size_t replica, size_t step) {
  if (step >= capacity)
    return Error{"a block has no such step"};
  if (auto done = ensureSet(inputSets[current], inputs); !done)
    return done.error();
  return std::span(inputSets[current].data() + rowAt(inputs, step, replica) +
                       inputs.offsets.at(&tensor),
                   tensor.buffer()->bytes());
}

Result<void> Staging::prepare(bool table) {
  if (auto done = ensureTable(outputTable, outputs); !done || !table)
    return done;
  return ensureTable(inputTable, inputs);
}

Result<void> Staging::upload(size_t set, size_t steps) {
  if (auto done = ensureSet(inputSets[set], inputs); !done)
    return done;
  return gpu.copyIn(inputTable.address(), inputSets[set].data(), tableBytes(inputs, steps));
}

Result<void> Staging::place(size_t step, const DevicePlaces &places) const {
  for (const Row::Group &group : inputs.groups)
    if (auto done = gpu.copyRows(places.address(group.place), places.stride(group.place.space()),
                                 inputTable.address() + rowAt(inputs, step, 0) + group.offset,
                                 inputs.bytes, group.place.bytes(), replicas);
        !done)
      return done;
  return {};
}

Result<void> Staging::placeFromHost(size_t set, size_t step, const DevicePlaces &places) {
  if (auto done = ensureSet(inputSets[set], inputs); !done)
    return done;
  for (const Row::Group &group : inputs.groups)
    for (size_t replica = 0; replica < replicas; ++replica)
      if (auto done =
              gpu.copyIn(places.address(group.place) + replica * places.stride(group.place.space()),
                         inputSets[set].data() + rowAt(inputs, step, replica) + group.offset,
                         group.place.bytes());
          !done)
        return done;
  return {};
}

Result<void> Staging::keepOutputs(size_t step, const DevicePlaces &places) const {
  for (const Row::Group &group : outputs.groups)
    if (auto done = gpu.copyRows(outputTable.address() + rowAt(outputs, step, 0) + group.offset,
                                 outputs.bytes, places.address(group.place),
                                 places.stride(group.place.space()), group.place.bytes(), replicas);
        !done)
      return done;
  return {};
}

Result<void> Staging::downloadOutputs(size_t set, size_t steps) {
  if (outputs.bytes == 0)
    return {};
  if (auto done = ensureSet(outputSets[set], outputs); !done)
    return done;
  return gpu.copyOut(outputSets[set].data(), outputTable.address(), tableBytes(outputs, steps));
}

std::span<const std::byte> Staging::kept(const fb::Tensor &tensor, size_t set, size_t replica,
                                         size_t step) const {
  auto found = outputs.offsets.find(&tensor);
  if (found == outputs.offsets.end() || !outputSets[set])
    return {};
  return {outputSets[set].data() + rowAt(outputs, step, replica) + found->second,
          tensor.buffer()->bytes()};
}

} // namespace hybrid::rt::cuda
