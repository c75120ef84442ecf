//===- Programs.cpp - steps touch what is theirs --------------------------===//
#include "executable/Limits.h"
#include "runtime/verifier/Verifier.h"

namespace hybrid::rt::verifier {

/// The runtime itself writes the inputs of `init` and `update`, so their form is fixed.
Result<void> Verifier::checkReservedProgram(const fb::Program &program) const {
  std::string_view name = viewOf(program.name());
  bool isInit = name == "init";
  if (!isInit && name != "update")
    return {};
  std::string_view wanted = isInit ? "seed" : "hyper";
  uint64_t bytes = isInit ? 8 : 64;
  fb::DType dtype = isInit ? fb::DType::I32 : fb::DType::F64;
  if (program.inputs())
    for (const fb::Tensor *tensor : *program.inputs())
      if (viewOf(tensor->name()) == wanted && tensor->dtype() == dtype &&
          tensor->buffer()->bytes() == bytes)
        return {};
  return error("corrupt: program '{}' has no input '{}' of {}", name, wanted,
               isInit ? "i32[2]" : "f64[8]");
}

Result<void> Verifier::checkProgram(const fb::Program &program) {
  std::string_view name = viewOf(program.name());
  if (program.arena_bytes() > executable.arena_bytes())
    return error("corrupt: program '{}' wants an arena of {} bytes, but the executable has {}",
                 name, program.arena_bytes(), executable.arena_bytes());
  arenaBytes = program.arena_bytes();
  programName = name;
  if (Result<void> done = checkTensors(program.inputs(), name, "input"); !done)
    return done;
  if (Result<void> done = checkTensors(program.outputs(), name, "output"); !done)
    return done;
  if (Result<void> done = checkReservedProgram(program); !done)
    return done;
  if (Result<void> done = checkPortBytes(program); !done)
    return done;
  const size_t steps = program.steps() ? program.steps()->size() : 0;
  if (program.pause() > steps)
    return error("corrupt: program '{}' pauses behind step {}, but has {}", name, program.pause(),
                 steps);
  if (!program.steps())
    return {};
  for (unsigned i = 0; i < program.steps()->size(); ++i)
    if (Result<void> done =
            checkStep(*program.steps()->Get(i), fmt::format("step {} of program '{}'", i, name));
        !done)
      return done;
  return checkBranches(program);
}

Result<void> Verifier::checkStep(const fb::Step &step, const std::string &where) {
  if (const fb::KernelLaunch *kernel = step.operation_as_KernelLaunch())
    return checkKernel(*kernel, where);
  if (const fb::Matmul *matmul = step.operation_as_Matmul())
    return checkMatmul(*matmul, where);
  if (const fb::Attention *attention = step.operation_as_Attention())
    return checkAttention(*attention, where);
  if (const fb::Transform *transform = step.operation_as_Transform())
    return checkTransform(*transform, where);
  if (const fb::AllReduce *reduction = step.operation_as_AllReduce())
    return checkAllReduce(*reduction, where);
  if (const fb::Exchange *exchange = step.operation_as_Exchange())
    return checkExchange(*exchange, where);
  if (const fb::Await *await = step.operation_as_Await())
    return checkAwait(*await, where);
  if (const fb::AllGather *gather = step.operation_as_AllGather())
    return checkShared(gather->buffers(), fb::Space::Parameters, where);
  if (const fb::Release *release = step.operation_as_Release())
    return checkShared(release->buffers(), fb::Space::Parameters, where);
  const fb::TileLoop *tiles = step.operation_as_TileLoop();
  if (tiles && !loop)
    return checkLoop(*tiles, where);
  if (tiles)
    return error("corrupt: {} is a loop over tiles inside of another", where);
  return error("corrupt: {} is of the unknown kind {}", where,
               static_cast<unsigned>(step.operation_type()));
}

Result<void> Verifier::checkLoop(const fb::TileLoop &tiles, const std::string &where) {
  if (tiles.tile() < 1 || tiles.tile() > tiles.rows() || tiles.rows() > mostItems)
    return error("corrupt: {} has tiles of {} rows of {}", where, tiles.tile(), tiles.rows());
  if (tiles.tile_bytes() > mostSpaceBytes)
    return error("corrupt: {} wants {} bytes a tile, more than the limit of {}", where,
                 tiles.tile_bytes(), mostSpaceBytes);
  // On a GPU every step of every tile becomes a launch of its own.
  const int64_t count = (tiles.rows() - 1) / tiles.tile() + 1;
  const int64_t parts = tiles.steps() ? tiles.steps()->size() : 0;
  if (onCuda && (count > mostTileSteps || (tileSteps += count * parts) > mostTileSteps))
    return error("corrupt: {} and those before it have more than {} launches", where,
                 mostTileSteps);
  loop = &tiles;
  Result<void> outcome;
  for (unsigned i = 0; tiles.steps() && outcome && i < tiles.steps()->size(); ++i)
    outcome = checkStep(*tiles.steps()->Get(i), fmt::format("part {} of {}", i, where));
  loop = nullptr;
  return outcome;
}

Result<void> Verifier::checkKernel(const fb::KernelLaunch &kernel, const std::string &where) {
  if (!isSoundName(viewOf(kernel.symbol())))
    return error("corrupt: {} has no sound symbol", where);
  if (kernel.grid() < 1 || kernel.grid() > mostItems)
    return error("corrupt: {} ({}) has a grid of {}", where, viewOf(kernel.symbol()),
                 kernel.grid());
  if (onCuda && kernel.grid() > mostBlocks)
    return error("corrupt: {} ({}) has {} blocks, more than the limit of {}", where,
                 viewOf(kernel.symbol()), kernel.grid(), mostBlocks);
  if (kernel.scratch_bytes() > mostSpaceBytes)
    return error("corrupt: {} ({}) wants {} bytes of scratch, more than the limit of {}", where,
                 viewOf(kernel.symbol()), kernel.scratch_bytes(), mostSpaceBytes);
  if (onCuda &&
      (kernel.threads() < 32 || kernel.threads() > mostBlockThreads || kernel.threads() % 32))
    return error("corrupt: {} ({}) has blocks of {} threads", where, viewOf(kernel.symbol()),
                 kernel.threads());
  if (onCuda && kernel.scratch_bytes() > mostSharedBytes)
    return error("corrupt: {} ({}) wants {} bytes of shared memory, more than the limit of {}",
                 where, viewOf(kernel.symbol()), kernel.scratch_bytes(), mostSharedBytes);
  if (!loop && (kernel.items_per_tile() || (kernel.row_bytes() && kernel.row_bytes()->size())))
    return error("corrupt: {} ({}) is cut for tiles, but in no loop over tiles", where,
                 viewOf(kernel.symbol()));
  const auto *rowBytes = kernel.row_bytes();
  const unsigned buffers = kernel.buffers() ? kernel.buffers()->size() : 0;
  if (loop) {
    const int64_t tiles = (loop->rows() - 1) / loop->tile() + 1, items = kernel.items_per_tile();
    if (items < 1 || (kernel.grid() - 1) / items + 1 != tiles) // every tile has items
      return error("corrupt: {} ({}) has {} items for {} tiles of {} items", where,
                   viewOf(kernel.symbol()), kernel.grid(), tiles, items);
    if (rowBytes && rowBytes->size() != 0 && rowBytes->size() != buffers)
      return error("corrupt: {} ({}) has {} buffers, but row distances for {}", where,
                   viewOf(kernel.symbol()), buffers, rowBytes->size());
  }
  if (auto done = checkSpans(kernel, where); !done)
    return done;
  if (!kernel.buffers())
    return checkKernelShape(kernel, where);
  if (!isAligned(*kernel.buffers()))
    return error("corrupt: the buffers of {} are misaligned in the file", where);
  if (unsigned most = onCuda ? mostBlockBuffers : mostLaunchBuffers; buffers > most)
    return error("corrupt: {} ({}) has {} buffers, more than the limit of {}", where,
                 viewOf(kernel.symbol()), buffers, most);
  // Launches may share one vector of buffers, so the file's size does not bound their number.
  buffersSeen += kernel.buffers()->size();
  if (buffersSeen > mostBuffers)
    return error("corrupt: {} and those before it touch more than {} buffers", where, mostBuffers);
  // A part of an activation in bf16 begins at any of its elements.
  constexpr uint64_t smallest = 2;
  for (const fb::BufferRef *buffer : *kernel.buffers()) {
    // The text is made only for a buffer that is refused: this loop sees every buffer of the file.
    bool known = static_cast<unsigned>(buffer->space()) <= static_cast<unsigned>(fb::Space::MAX);
    uint64_t space = known ? spaceBytes(buffer->space()) : 0;
    bool inside = known && buffer->offset() <= space && buffer->bytes() <= space - buffer->offset();
    bool inTile = buffer->space() == fb::Space::Tile && buffer->bytes();
    if (inTile && (!rowBytes || rowBytes->size() != buffers))
      return error("corrupt: {} ({}) has a buffer in a tile, but no distance of its rows", where,
                   viewOf(kernel.symbol()));
    if (inside && buffer->offset() % smallest == 0)
      continue;
    if (inside)
      return error("corrupt: a buffer of {} ({}) is misaligned at offset {}", where,
                   viewOf(kernel.symbol()), buffer->offset());
    return checkBuffer(*buffer, fmt::format("a buffer of {} ({})", where, viewOf(kernel.symbol())));
  }
  return checkKernelShape(kernel, where);
}

/// The buffers have been checked.
Result<void> Verifier::checkKernelShape(const fb::KernelLaunch &kernel,
                                        const std::string &where) const {
  auto shape = kernels.find(kernel, loop, where);
  if (!shape)
    return shape.error();
  for (unsigned i = 0; *shape && i < (*shape)->buffers()->size(); ++i) {
    const fb::BufferRef &buffer = *kernel.buffers()->Get(i);
    if (buffer.bytes() && (*shape)->buffers()->Get(i)->written() && !mayWrite(buffer))
      return error("corrupt: {} ({}) writes to space {}, which only other programs change", where,
                   viewOf(kernel.symbol()), fb::EnumNameSpace(buffer.space()));
  }
  return {};
}

/// Where the parameters end in their space; states lie behind.
uint64_t Verifier::parametersEnd() const {
  uint64_t end = 0;
  if (executable.parameters())
    for (const fb::Parameter *parameter : *executable.parameters())
      if (auto bytes = bytesOfTensor(parameter->shape(), parameter->dtype(), ""))
        end = std::max(end, parameter->offset() + *bytes);
  return end;
}

/// Whether steps of the program that is being checked may change what lies there.
bool Verifier::mayWrite(const fb::BufferRef &buffer) const {
  switch (buffer.space()) {
  case fb::Space::Constants:
    return programName == "setup";
  case fb::Space::Parameters:
    if (programName == "prepare" || programName.starts_with("prefill") || programName == "step")
      return buffer.offset() >= parametersEnd();
    return programName == "init" || programName == "update";
  case fb::Space::Moment1:
  case fb::Space::Moment2:
    return programName == "update";
  case fb::Space::Arena:
  case fb::Space::Gradients:
  case fb::Space::Tile:
    break;
  }
  return true;
}

} // namespace hybrid::rt::verifier
