//===- CpuDevice.cpp - programs on the cores of this machine ----------------===//
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CodeObject.h"
#include "runtime/cpu/Parallel.h"
#include "runtime/cpu/ProgramStep.h"
#include <chrono>
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

constexpr uint64_t mostKeptInputs = uint64_t(64) << 20;

struct PreparedProgram {
  const fb::Program *source = nullptr;
  std::vector<ProgramStep> steps;
  // What the inputs were when it last ran: the arena reuses their memory, and walk() needs them
  // again. Only kept while they are small, as token ids are.
  std::vector<std::byte> lastInputs;
};

class CpuDevice final : public Device {
public:
  CpuDevice(std::shared_ptr<const Executable> executable, int threads)
      : executable(std::move(executable)), threadCount(threads) {}
  Result<void> prepare();

  int threads() const override { return threadCount; }
  uint64_t allocatedBytes() const override;
  Result<void> allocate(fb::Space space) override;
  bool has(fb::Space space) const override { return bool(spaceOf(space)); }
  Result<void> zero(fb::Space space) override;
  Result<void> zeroTiles() override;
  Result<std::span<const std::byte>> read(const fb::BufferRef &place) override;
  Result<void> write(const fb::BufferRef &place, std::span<const std::byte> bytes) override;
  Result<std::span<std::byte>> input(size_t program, const fb::Tensor &tensor) override;
  Result<std::span<const std::byte>> output(size_t program, const fb::Tensor &tensor) override;
  Result<void> run(size_t program, std::vector<double> *seconds) override;
  Result<bool> restoreInputs(size_t program) override;
  Result<void> walk(size_t program, const Around &around) override;

private:
  Result<void> prepareSteps(PreparedProgram &program);
  ProgramMemory memory() const;
  std::byte *address(const fb::BufferRef &buffer) const { return memory().address(buffer); }
  const Arena &spaceOf(fb::Space space) const { return spaces[static_cast<size_t>(space)]; }
  void keepInputs(PreparedProgram &program);

  std::shared_ptr<const Executable> executable;
  std::optional<CodeObject> code;
  std::array<Arena, spaceCount> spaces;
  Arena scratch, tiles;
  uint64_t scratchBytes = 0; // a thread
  uint64_t tileBytes = 0;    // of all threads
  int threadCount = 1;
  std::vector<PreparedProgram> programs;
};

Result<void> CpuDevice::prepareSteps(PreparedProgram &program) {
  if (!program.source->steps())
    return {};
  for (const fb::Step *step : *program.source->steps()) {
    auto prepared = ProgramStep::prepare(*step, *code, threadCount, executable->name());
    if (!prepared)
      return prepared.error();
    scratchBytes = std::max(scratchBytes, prepared->scratchBytes());
    tileBytes = std::max(tileBytes, prepared->tileBytes(threadCount));
    program.steps.push_back(std::move(*prepared));
  }
  return {};
}

Result<void> CpuDevice::prepare() {
  setThreads(threadCount);
  const fb::Executable &format = executable->format();
  auto loaded =
      CodeObject::load({format.code()->data(), format.code()->size()}, executable->name());
  if (!loaded)
    return loaded.error();
  code.emplace(std::move(*loaded));
  for (const fb::Program *source : *format.programs()) {
    programs.emplace_back().source = source;
    if (auto done = prepareSteps(programs.back()); !done)
      return done;
  }
  struct Space {
    Arena &memory;
    uint64_t bytes;
    const char *purpose;
  };
  for (Space each : {Space{scratch, scratchBytes * static_cast<uint64_t>(threadCount),
                           "the kernels' scratch memory"},
                     Space{tiles, tileBytes, "the tiles"}}) {
    auto allocated = Arena::allocate(std::max<uint64_t>(64, each.bytes), each.purpose);
    if (!allocated)
      return allocated.error();
    each.memory = std::move(*allocated);
  }
  return {};
}

ProgramMemory CpuDevice::memory() const {
  ProgramMemory result;
  for (size_t space = 0; space < spaceCount; ++space)
    result.spaces[space] = spaces[space].data();
  result.scratch = scratch.data(), result.scratchBytes = scratchBytes;
  result.tiles = tiles.data();
  result.threads = threadCount;
  return result;
}

uint64_t CpuDevice::allocatedBytes() const {
  uint64_t bytes = scratch.size() + tiles.size();
  for (const Arena &space : spaces)
    bytes += space.size();
  return bytes;
}

Result<void> CpuDevice::allocate(fb::Space space) {
  if (has(space))
    return {};
  auto allocated = Arena::allocate(bytesOf(executable->format(), space), nameOf(space));
  if (!allocated)
    return Error{fmt::format("{}: {}", executable->name(), allocated.error().message)};
  spaces[static_cast<size_t>(space)] = std::move(*allocated);
  return {};
}

Result<void> CpuDevice::zero(fb::Space space) {
  std::memset(spaceOf(space).data(), 0, spaceOf(space).size());
  return {};
}

Result<void> CpuDevice::zeroTiles() {
  std::memset(tiles.data(), 0, tiles.size());
  return {};
}

Result<std::span<const std::byte>> CpuDevice::read(const fb::BufferRef &place) {
  return std::span<const std::byte>(address(place), place.bytes());
}

Result<void> CpuDevice::write(const fb::BufferRef &place, std::span<const std::byte> bytes) {
  if (!bytes.empty())
    std::memcpy(address(place), bytes.data(), bytes.size());
  return {};
}

Result<std::span<std::byte>> CpuDevice::input(size_t, const fb::Tensor &tensor) {
  return std::span<std::byte>(address(*tensor.buffer()), tensor.buffer()->bytes());
}

Result<std::span<const std::byte>> CpuDevice::output(size_t, const fb::Tensor &tensor) {
  return read(*tensor.buffer());
}

void CpuDevice::keepInputs(PreparedProgram &program) {
  program.lastInputs.clear();
  uint64_t bytes = 0;
  if (program.source->inputs())
    for (const fb::Tensor *tensor : *program.source->inputs())
      bytes += tensor->buffer()->bytes();
  if (bytes == 0 || bytes > mostKeptInputs)
    return;
  program.lastInputs.reserve(bytes);
  for (const fb::Tensor *tensor : *program.source->inputs()) {
    const auto *data = static_cast<const std::byte *>(address(*tensor->buffer()));
    program.lastInputs.insert(program.lastInputs.end(), data, data + tensor->buffer()->bytes());
  }
}

Result<bool> CpuDevice::restoreInputs(size_t index) {
  const PreparedProgram &program = programs[index];
  if (!program.source->inputs() || program.source->inputs()->size() == 0)
    return true;
  if (program.lastInputs.empty())
    return false;
  const std::byte *kept = program.lastInputs.data();
  for (const fb::Tensor *tensor : *program.source->inputs()) {
    std::memcpy(address(*tensor->buffer()), kept, tensor->buffer()->bytes());
    kept += tensor->buffer()->bytes();
  }
  return true;
}

Result<void> CpuDevice::run(size_t index, std::vector<double> *seconds) {
  PreparedProgram &program = programs[index];
  keepInputs(program);
  setThreads(threadCount); // a setting of the calling thread, which may not be the one that made us
  ProgramMemory where = memory();
  using Clock = std::chrono::steady_clock;
  for (const ProgramStep &step : program.steps) {
    auto start = seconds ? Clock::now() : Clock::time_point();
    if (auto done = step.run(where); !done)
      return done;
    if (seconds)
      seconds->push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return {};
}

Result<void> CpuDevice::walk(size_t program, const Around &around) {
  setThreads(threadCount);
  ProgramMemory where = memory();
  for (const ProgramStep &step : programs[program].steps) {
    bool more = true;
    if (step.inner().empty()) {
      more = around(step.source(), step.buffers(), [&] { return step.run(where); });
    } else {
      auto inner = [&](const ProgramStep &part, const std::function<Result<void>()> &run) {
        return more = around(part.source(), part.buffers(), run);
      };
      if (auto done = step.runTileByTile(where, inner); !done)
        return done;
    }
    if (!more)
      return {};
  }
  return {};
}

} // namespace

Result<std::unique_ptr<Device>> makeCpuDevice(std::shared_ptr<const Executable> executable,
                                              int threads) {
  auto device = std::make_unique<CpuDevice>(std::move(executable), threads);
  if (auto prepared = device->prepare(); !prepared)
    return prepared.error();
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace hybrid::rt
