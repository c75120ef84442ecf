//===- RestingReplicas.cpp - the state of replicas that take no part --------===//
#include "runtime/cuda/RestingReplicas.h"
#include "executable/Spaces.h"

namespace hybrid::rt::cuda {

RestingReplicas::RestingReplicas(const Gpu &gpu, const fb::Executable &executable, PartOf partOf)
    : gpu(gpu), executable(executable), partOf(std::move(partOf)), replicas(executable.replicas()) {
}

Result<void> RestingReplicas::setActive(size_t number, bool active) {
  Replica &replica = replicas[number];
  replica.rests = !active;
  if (!active || !replica.isAside)
    return {};
  for (size_t i = 0; i < spaces.size(); ++i)
    if (replica.memory[i])
      if (auto done = gpu.copyOnDevice(partOf(spaces[i], number), replica.memory[i].address(),
                                       spaceBytes(executable, spaces[i]));
          !done)
        return done;
  replica.isAside = false;
  return {};
}

Result<void> RestingReplicas::putAside() {
  for (size_t number = 0; number < replicas.size(); ++number) {
    Replica &replica = replicas[number];
    if (!replica.rests || replica.isAside)
      continue;
    for (size_t i = 0; i < spaces.size(); ++i) {
      const DeviceAddress from = partOf(spaces[i], number);
      if (!from)
        continue;
      const uint64_t bytes = spaceBytes(executable, spaces[i]);
      if (!replica.memory[i]) {
        auto memory = GpuMemory::allocate(gpu, bytes);
        if (!memory)
          return memory.error();
        replica.memory[i] = std::move(*memory);
      }
      if (auto done = gpu.copyOnDevice(replica.memory[i].address(), from, bytes); !done)
        return done;
    }
    replica.isAside = true;
  }
  return {};
}

DeviceAddress RestingReplicas::addressOf(fb::Space space, size_t number) const {
  const Replica &replica = replicas[number];
  for (size_t i = 0; i < spaces.size(); ++i)
    if (replica.isAside && spaces[i] == space && replica.memory[i])
      return replica.memory[i].address();
  return partOf(space, number);
}

uint64_t RestingReplicas::allocatedBytes() const {
  uint64_t bytes = 0;
  for (const Replica &replica : replicas)
    for (const GpuMemory &memory : replica.memory)
      bytes += memory.size();
  return bytes;
}

} // namespace hybrid::rt::cuda
