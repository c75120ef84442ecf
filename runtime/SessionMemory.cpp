//===- SessionMemory.cpp - what a session will allocate -----------------------===//
#include "runtime/SessionMemory.h"
#include "executable/Executable_generated.h"
#include "executable/ReplicaStride.h"
#include "runtime/Device.h"
#include "runtime/cpu/ProgramPorts.h"
#include "runtime/cuda/AttentionMemory.h"
#include <algorithm>

namespace hybrid::rt {
namespace {

constexpr uint64_t leastBytes = 64;                   // of one allocation: Arena.cpp
constexpr uint64_t libraryBytes = uint64_t(32) << 20; // cuda::Blas::workspaceBytes

void addBuffer(SessionMemory &memory, const fb::BufferRef *buffer) {
  if (!buffer || buffer->bytes() == 0)
    return;
  if (buffer->space() == fb::Space::Gradients)
    memory.gradients = memory.parameters;
  if (buffer->space() == fb::Space::Moment1 || buffer->space() == fb::Space::Moment2)
    memory.moments = 2 * memory.parameters;
}

uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

void addStep(SessionMemory &memory, const fb::Step &step, bool trains) {
  const bool onCuda = memory.device == SessionMemory::Device::Cuda;
  if (const auto *loop = step.operation_as_TileLoop()) {
    uint64_t &tiles = loop->sequential() || onCuda ? memory.tilesShared : memory.tilesPerThread;
    tiles = std::max(tiles, aligned(loop->tile_bytes()));
    if (loop->steps())
      for (const fb::Step *inner : *loop->steps())
        addStep(memory, *inner, trains);
  }
  if (onCuda && step.operation_as_Matmul())
    memory.library = libraryBytes;
  if (const auto *call = step.operation_as_Attention()) {
    auto size = [](int64_t number) { return static_cast<uint64_t>(number); };
    const bool sharesKeys = call->kv_heads() < call->heads();
    auto workspace = [&](uint64_t heads) {
      return cuda::attentionWorkspace(call->backward(), heads, size(call->length()),
                                      size(call->key_length()), size(call->head_size()),
                                      sharesKeys);
    };
    const uint64_t least = size(call->heads() / call->kv_heads()),
                   all = workspace(size(call->batch()) * size(call->heads()));
    memory.attention = std::max(
        memory.attention, std::min(all, std::max(cuda::attentionWorkspaceGoal, workspace(least))));
  }
  const auto *launch = step.operation_as_KernelLaunch();
  if (launch && !onCuda) // there a block's scratch is memory of its multiprocessor
    memory.scratchPerThread = std::max(memory.scratchPerThread, aligned(launch->scratch_bytes()));
  if (!trains)
    return;
  if (launch && launch->buffers())
    for (const fb::BufferRef *buffer : *launch->buffers())
      addBuffer(memory, buffer);
  if (const auto *product = step.operation_as_Matmul())
    for (const fb::BufferRef *buffer : {product->a(), product->b(), product->c(), product->bias(),
                                        product->offsets(), product->addend()})
      addBuffer(memory, buffer);
  if (const auto *call = step.operation_as_Attention())
    for (const fb::BufferRef *buffer : *call->buffers())
      addBuffer(memory, buffer);
}

} // namespace

uint64_t SessionMemory::tiles(int threads) const {
  if (device == Device::Cuda)
    return tilesShared;
  return std::max({leastBytes, tilesPerThread * static_cast<uint64_t>(threads), tilesShared});
}

uint64_t SessionMemory::total(int threads) const {
  if (device == Device::Cuda)
    return parameters + constants + arena + gradients + moments + library + attention + tilesShared;
  uint64_t scratch = std::max(leastBytes, scratchPerThread * static_cast<uint64_t>(threads));
  return parameters + constants + arena + gradients + moments + ports + scratch + tiles(threads);
}

SessionMemory memoryOf(const Executable &executable) {
  const fb::Executable &format = executable.format();
  SessionMemory memory;
  if (format.target()->device()->string_view() == "cuda")
    memory.device = SessionMemory::Device::Cuda;
  const auto replicas = static_cast<uint64_t>(executable.replicas());
  const bool onCuda = memory.device == SessionMemory::Device::Cuda;
  auto bytesOfAll = [&](fb::Space space) {
    uint64_t bytes =
        replicas > 1 ? replicas * replicaStrideOf(format, space) : bytesOf(format, space);
    return std::max(leastBytes, bytes);
  };
  memory.parameters = bytesOfAll(fb::Space::Parameters);
  memory.constants = std::max<uint64_t>(leastBytes, format.constants_bytes());
  // Replicas follow one another on a CPU.
  memory.arena =
      onCuda ? bytesOfAll(fb::Space::Arena) : std::max<uint64_t>(leastBytes, format.arena_bytes());
  // A model with a loss of its own is trained through its vjp.
  std::string_view gradient = executable.findProgram("train") ? "train" : "vjp";
  for (const fb::Program *program : *format.programs()) {
    std::string_view name = program->name()->string_view();
    bool trains = name == gradient || name == "update";
    if (replicas > 1 && !onCuda && (trains || name == "init"))
      memory.ports += ProgramPorts::bytesFor(*program, executable.replicas());
    if (!program->steps())
      continue;
    for (const fb::Step *step : *program->steps())
      addStep(memory, *step, trains);
  }
  if (onCuda && replicas > 1)
    memory.tilesShared = replicas * replicaStride(memory.tilesShared);
  return memory;
}

} // namespace hybrid::rt
