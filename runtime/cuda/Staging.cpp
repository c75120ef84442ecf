//===- Staging.cpp - inputs and outputs of a program on their way -----------===//
#include "runtime/cuda/Staging.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

Staging::Staging(const Gpu &gpu, const fb::Program &program, size_t replicas)
    : gpu(gpu), replicas(replicas), inputs(TableRow::ofInputs(program)),
      outputs(TableRow::ofOutputs(program)) {}

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

Result<void> Staging::ensureSet(PinnedMemory &set, const TableRow &row) const {
  if (set)
    return {};
  auto memory = PinnedMemory::allocate(gpu, tableBytes(row, capacity));
  if (!memory)
    return memory.error();
  set = std::move(*memory);
  return {};
}

Result<void> Staging::ensureTable(GpuMemory &table, const TableRow &row) const {
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
    return Error{"a burst has no such step"};
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
  for (const TableRow::Group &group : inputs.groups)
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
  for (const TableRow::Group &group : inputs.groups)
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
  for (const TableRow::Group &group : outputs.groups)
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
