//===- Spaces.cpp - what lies in memory lies inside its space -------------===//
#include "executable/Limits.h"
#include "executable/ReplicaStride.h"
#include "runtime/verifier/Verifier.h"
#include <algorithm>
#include <unordered_set>
#include <vector>

namespace hybrid::rt::verifier {

uint64_t Verifier::spaceBytes(fb::Space space) const {
  switch (space) {
  case fb::Space::Arena:
    return arenaBytes;
  case fb::Space::Constants:
    return executable.constants_bytes();
  case fb::Space::Tile:
    return loop ? loop->tile_bytes() : 0;
  case fb::Space::Parameters:
  case fb::Space::Gradients:
  case fb::Space::Moment1:
  case fb::Space::Moment2:
    break;
  }
  return executable.parameter_bytes();
}

Result<void> Verifier::checkSpaces() const {
  const std::pair<std::string_view, uint64_t> spaces[] = {
      {"arena", executable.arena_bytes()},
      {"parameters", executable.parameter_bytes()},
      {"constants", executable.constants_bytes()}};
  for (auto [name, bytes] : spaces)
    if (bytes > mostSpaceBytes)
      return error("corrupt: the {} would take {} bytes, more than the limit of {}", name, bytes,
                   mostSpaceBytes);
  uint64_t initial = executable.constants() ? executable.constants()->size() : 0;
  if (initial > executable.constants_bytes())
    return error("corrupt: {} bytes of constants do not fit their space of {}", initial,
                 executable.constants_bytes());
  return {};
}

/// All replicas of a space together are bounded as a space is.
Result<void> Verifier::checkReplicas() const {
  const uint64_t replicas = executable.replicas();
  if (replicas < 1 || replicas > uint64_t(mostReplicas))
    return error("corrupt: it is for {} replicas, expected 1 to {}", replicas, mostReplicas);
  if (replicas == 1)
    return {};
  uint64_t tileBytes = 0;
  if (executable.programs())
    for (const fb::Program *program : *executable.programs())
      if (program->steps())
        for (const fb::Step *step : *program->steps())
          if (const auto *tiles = step->operation_as_TileLoop())
            tileBytes = std::max(tileBytes, tiles->tile_bytes());
  const std::pair<std::string_view, uint64_t> spaces[] = {
      {"arena", executable.arena_bytes()},
      {"parameters", executable.parameter_bytes()},
      {"tiles", tileBytes}};
  for (auto [name, bytes] : spaces)
    if (bytes > mostSpaceBytes || replicaStride(bytes) > mostSpaceBytes / replicas)
      return error("corrupt: the {} of {} replicas would take {} bytes each, more than the limit "
                   "of {} together",
                   name, replicas, bytes, mostSpaceBytes);
  return {};
}

/// A session holds inputs and outputs of every replica; several may share one place.
Result<void> Verifier::checkPortBytes(const fb::Program &program) const {
  const uint64_t most = mostSpaceBytes / executable.replicas();
  uint64_t bytes = 0;
  for (const auto *ports : {program.inputs(), program.outputs()})
    if (ports && executable.replicas() > 1)
      for (const fb::Tensor *tensor : *ports) // each is within its space
        if ((bytes += replicaStride(tensor->buffer()->bytes())) > most)
          return error("corrupt: inputs and outputs of program '{}' take more than {} bytes for "
                       "{} replicas",
                       viewOf(program.name()), mostSpaceBytes, executable.replicas());
  return {};
}

Result<uint64_t> Verifier::bytesOfTensor(const flatbuffers::Vector<int64_t> *shape, fb::DType dtype,
                                         std::string_view name) const {
  if (static_cast<unsigned>(dtype) > static_cast<unsigned>(fb::DType::MAX))
    return error("corrupt: '{}' has the unknown type {}", name, static_cast<unsigned>(dtype));
  unsigned __int128 bytes = static_cast<unsigned>(bytesOf(static_cast<DType>(dtype)));
  if (shape && !isAligned(*shape))
    return error("corrupt: the shape of '{}' is misaligned in the file", name);
  if (shape && shape->size() > mostRank)
    return error("corrupt: '{}' has {} dimensions, more than the limit of {}", name, shape->size(),
                 mostRank);
  if (shape)
    for (int64_t extent : *shape) {
      if (extent < 1)
        return error("corrupt: '{}' has an extent of {}", name, extent);
      bytes *= static_cast<uint64_t>(extent);
      if (bytes > mostSpaceBytes)
        return error("corrupt: '{}' would take more than {} bytes", name, mostSpaceBytes);
    }
  return static_cast<uint64_t>(bytes);
}

Result<void> Verifier::checkParameters() const {
  std::unordered_set<std::string_view> names;
  struct Range {
    uint64_t begin, end;
    std::string_view name;
  };
  std::vector<Range> ranges;
  std::vector<const fb::Parameter *> all;
  for (const auto *table : {executable.parameters(), executable.states()})
    if (table)
      all.insert(all.end(), table->begin(), table->end());
  for (const fb::Parameter *parameter : all) {
    std::string_view name = viewOf(parameter->name());
    if (!isSoundName(name))
      return error("corrupt: a parameter has no sound name");
    if (!names.insert(name).second)
      return error("corrupt: two parameters are named '{}'", name);
    Result<uint64_t> bytes = bytesOfTensor(parameter->shape(), parameter->dtype(), name);
    if (!bytes)
      return bytes.error();
    uint64_t offset = parameter->offset(), space = executable.parameter_bytes();
    if (offset > space || *bytes > space - offset)
      return error("corrupt: parameter '{}' (offset {}, {} bytes) leaves the parameters' {} bytes",
                   name, offset, *bytes, space);
    if (offset % 64)
      return error("corrupt: parameter '{}' is misaligned at offset {}", name, offset);
    ranges.push_back({offset, offset + *bytes, name});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[i - 1].end)
      return error("corrupt: parameters '{}' and '{}' overlap", ranges[i - 1].name, ranges[i].name);
  return {};
}

Result<void> Verifier::checkBuffer(const fb::BufferRef &buffer, const std::string &what) const {
  if (static_cast<unsigned>(buffer.space()) > static_cast<unsigned>(fb::Space::MAX))
    return error("corrupt: {} is in the unknown space {}", what,
                 static_cast<unsigned>(buffer.space()));
  uint64_t space = spaceBytes(buffer.space());
  if (buffer.offset() > space || buffer.bytes() > space - buffer.offset())
    return error("corrupt: {} (offset {}, {} bytes) leaves the {} bytes of space {}", what,
                 buffer.offset(), buffer.bytes(), space, fb::EnumNameSpace(buffer.space()));
  return {};
}

Result<void>
Verifier::checkTensors(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *tensors,
                       std::string_view program, std::string_view kind) const {
  if (!tensors)
    return {};
  std::unordered_set<std::string_view> names;
  for (const fb::Tensor *tensor : *tensors) {
    std::string_view name = viewOf(tensor->name());
    if (!isSoundName(name))
      return error("corrupt: an {} of program '{}' has no sound name", kind, program);
    if (!names.insert(name).second)
      return error("corrupt: program '{}' has two {}s named '{}'", program, kind, name);
    std::string what = fmt::format("{} '{}' of program '{}'", kind, name, program);
    if (!tensor->buffer())
      return error("corrupt: {} has no place in memory", what);
    if (Result<void> done = checkBuffer(*tensor->buffer(), what); !done)
      return done;
    Result<uint64_t> bytes = bytesOfTensor(tensor->shape(), tensor->dtype(), name);
    if (!bytes)
      return bytes.error();
    if (*bytes != tensor->buffer()->bytes())
      return error("corrupt: {} needs {} bytes, but its place has {}", what, *bytes,
                   tensor->buffer()->bytes());
    if (tensor->buffer()->offset() %
        static_cast<uint64_t>(bytesOf(static_cast<DType>(tensor->dtype()))))
      return error("corrupt: {} is misaligned at offset {}", what, tensor->buffer()->offset());
    if (tensor->ids_below() < 0 || (tensor->ids_below() && tensor->dtype() != fb::DType::I32))
      return error("corrupt: {} has ids below {}", what, tensor->ids_below());
  }
  return {};
}

} // namespace hybrid::rt::verifier
