//===- PortLayout.cpp - inputs and outputs of a program beside the arena ----===//
#include "executable/PortLayout.h"
#include "executable/ReplicaStride.h"
#include <algorithm>

namespace hybrid {

static std::vector<const fb::Tensor *>
listOf(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *tensors) {
  if (!tensors)
    return {};
  return {tensors->begin(), tensors->end()};
}

KeptPorts::KeptPorts(const fb::Program &program, uint64_t replicas) {
  uint64_t inputBytes = 0;
  for (const fb::Tensor *tensor : listOf(program.inputs()))
    inputBytes += tensor->buffer()->bytes();
  keepsInputs = replicas > 1 || inputBytes <= mostInputBytes;
  auto add = [&](const auto *tensors, std::vector<Port> &ports) {
    for (const fb::Tensor *tensor : listOf(tensors)) {
      ports.push_back({tensor, stride});
      stride += replicaStride(tensor->buffer()->bytes()); // bounded by ExecutableVerifier.cpp
    }
  };
  if (keepsInputs)
    add(program.inputs(), inputs);
  if (replicas > 1)
    add(program.outputs(), outputs);
}

static uint64_t aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

TableRow TableRow::ofInputs(const fb::Program &program) {
  return TableRow(listOf(program.inputs()));
}

TableRow TableRow::ofOutputs(const fb::Program &program) {
  std::vector<const fb::Tensor *> kept;
  uint64_t bytes = 0;
  for (const fb::Tensor *tensor : listOf(program.outputs()))
    if (bytes + tensor->buffer()->bytes() <= keptOutputBytes) {
      kept.push_back(tensor);
      bytes += tensor->buffer()->bytes();
    }
  return TableRow(kept);
}

TableRow::TableRow(std::vector<const fb::Tensor *> tensors) {
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

} // namespace hybrid
