//===- CpuDevice.cpp - programs on the cores of this machine ----------------===//
#include "runtime/cpu/CpuDevice.h"
#include "executable/SessionMemory.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CodeObject.h"
#include "runtime/cpu/LentPorts.h"
#include "runtime/cpu/OwnedMemory.h"
#include "runtime/cpu/ProgramPorts.h"
#include "runtime/cpu/ProgramStep.h"
#include "runtime/cpu/Team.h"
#include <chrono>
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

struct PreparedProgram {
  PreparedProgram(const fb::Program &source, int64_t replicas)
      : source(&source), ports(source, replicas) {}
  const fb::Program *source;
  std::vector<ProgramStep> steps;
  ProgramPorts ports;
  LentPorts lent;
};

class CpuDevice final : public Device {
public:
  CpuDevice(std::shared_ptr<const Executable> executable, int threads,
            std::shared_ptr<Communicator> ranks)
      : executable(std::move(executable)), ranks(std::move(ranks)), threadCount(threads),
        active(static_cast<size_t>(this->executable->replicas()), true) {}
  Result<void> prepare();

  int threads() const override { return threadCount; }
  uint64_t allocatedBytes() const override;
  Result<void> setActive(int64_t replica, bool takesPart) override;
  bool isActive(int64_t replica) const override { return active[static_cast<size_t>(replica)]; }
  Result<void> allocate(fb::Space space) override;
  bool has(fb::Space space) const override { return bool(spaceOf(space)); }
  Result<void> zero(fb::Space space, int64_t replica) override;
  Result<void> zeroTiles() override;
  Result<std::span<const std::byte>> read(const fb::BufferRef &place, int64_t replica) override;
  Result<void> write(const fb::BufferRef &place, std::span<const std::byte> bytes,
                     int64_t replica) override;
  Result<std::span<std::byte>> input(size_t program, const fb::Tensor &tensor, int64_t replica,
                                     int64_t step) override;
  Result<std::span<const std::byte>> output(size_t program, const fb::Tensor &tensor,
                                            int64_t replica, int64_t step) override;
  Result<void> run(size_t program, std::vector<double> *seconds) override {
    return run(program, Part::Whole, seconds);
  }
  Result<void> runPart(size_t program, Part part) override { return run(program, part, nullptr); }
  bool lend(size_t program, const fb::Tensor &tensor, std::byte *memory) override;
  Result<void> collectShares() override;
  Result<void> gatherParameters() override;
  void releaseShares() override;
  Result<bool> restoreInputs(size_t program, int64_t replica) override;
  Result<void> walk(size_t program, const Around &around, int64_t replica) override;

private:
  Result<void> prepareSteps(PreparedProgram &program);
  int64_t replicas() const { return executable->replicas(); }
  /// Whether replicas have parts of their own: the arena is that of the one that runs.
  bool isReplicated(fb::Space space) const {
    return replicas() > 1 && space != fb::Space::Arena && space != fb::Space::Constants;
  }
  /// Where a replica's memory lies.
  ProgramMemory memory(int64_t replica) const;
  ProgramPorts::AddressOf addressesOf(int64_t replica) const {
    return [where = memory(replica)](const fb::BufferRef &buffer) { return where.address(buffer); };
  }
  std::byte *address(const fb::BufferRef &buffer, int64_t replica) const {
    return memory(replica).address(buffer);
  }
  /// Whether this rank only has a share of a space.
  bool hasShareOf(fb::Space space) const;
  /// The stretches that ranks share, in each of the spaces that are there.
  std::vector<fb::BufferRef> sharedBuffers() const;
  Result<void> run(size_t program, Part part, std::vector<double> *seconds);
  /// What was lent to a program that pauses and goes on no more is given back.
  void forgetPaused();
  Result<void> runOnce(const PreparedProgram &program, const ProgramMemory &where, Part part,
                       std::vector<double> *seconds) const;
  const Arena &spaceOf(fb::Space space) const { return spaces[static_cast<size_t>(space)]; }

  std::shared_ptr<const Executable> executable;
  std::shared_ptr<Communicator> ranks;
  std::optional<CodeObject> code;
  std::array<Arena, spaceCount> spaces;
  Arena scratch, tiles;
  uint64_t scratchBytes = 0; // a thread
  int threadCount = 1;
  std::vector<bool> active; // by replica
  std::vector<PreparedProgram> programs;
  std::optional<size_t> paused; // the program whose first part was the last run
};

Result<void> CpuDevice::prepareSteps(PreparedProgram &program) {
  if (!program.source->steps())
    return {};
  for (const fb::Step *step : *program.source->steps()) {
    auto prepared =
        ProgramStep::prepare(*step, *code, threadCount, executable->name(), ranks.get());
    if (!prepared)
      return prepared.error();
    program.steps.push_back(std::move(*prepared));
  }
  program.lent = LentPorts(*program.source, program.steps);
  return {};
}

Result<void> CpuDevice::prepare() {
  const fb::Executable &format = executable->format();
  auto loaded =
      CodeObject::load({format.code()->data(), format.code()->size()}, executable->name());
  if (!loaded)
    return loaded.error();
  code.emplace(std::move(*loaded));
  for (const fb::Program *source : *format.programs()) {
    programs.emplace_back(*source, replicas());
    if (auto done = prepareSteps(programs.back()); !done)
      return done;
  }
  const SessionMemory needed =
      memoryOf(format, {.programs = {}, .threads = static_cast<uint64_t>(threadCount)});
  scratchBytes = needed.scratchPerThread;
  struct Space {
    Arena &memory;
    uint64_t bytes;
    const char *purpose;
  };
  for (Space each : {Space{scratch, needed.scratch, "the kernels' scratch memory"},
                     Space{tiles, needed.tiles, "the tiles"}}) {
    auto allocated = Arena::allocate(each.bytes, each.purpose);
    if (!allocated)
      return allocated.error();
    each.memory = std::move(*allocated);
  }
  return {};
}

ProgramMemory CpuDevice::memory(int64_t replica) const {
  ProgramMemory result;
  for (size_t i = 0; i < spaceCount; ++i) {
    auto space = static_cast<fb::Space>(i);
    result.spaces[i] = spaces[i].data();
    if (spaces[i] && isReplicated(space))
      result.spaces[i] +=
          static_cast<uint64_t>(replica) * replicaStrideOf(executable->format(), space);
  }
  result.scratch = scratch.data(), result.scratchBytes = scratchBytes;
  result.tiles = tiles.data();
  result.threads = threadCount;
  result.ranks = ranks.get();
  return result;
}

uint64_t CpuDevice::allocatedBytes() const {
  uint64_t bytes = scratch.size() + tiles.size();
  for (const Arena &space : spaces)
    bytes += space.size();
  for (const PreparedProgram &program : programs)
    bytes += program.ports.allocatedBytes();
  return bytes;
}

Result<void> CpuDevice::setActive(int64_t replica, bool takesPart) {
  active[static_cast<size_t>(replica)] = takesPart;
  return {};
}

Result<void> CpuDevice::allocate(fb::Space space) {
  if (has(space))
    return {};
  const fb::Executable &format = executable->format();
  uint64_t bytes = isReplicated(space)
                       ? replicaStrideOf(format, space) * static_cast<uint64_t>(replicas())
                       : spaceBytes(format, space);
  auto allocated = Arena::allocate(bytes, nameOf(space),
                                   hasShareOf(space) ? Arena::Pages::Small : Arena::Pages::Large);
  if (!allocated)
    return Error{fmt::format("{}: {}", executable->name(), allocated.error().message)};
  spaces[static_cast<size_t>(space)] = std::move(*allocated);
  return {};
}

Result<void> CpuDevice::zero(fb::Space space, int64_t replica) {
  if (hasShareOf(space)) {
    spaces[static_cast<size_t>(space)].clear();
    return {};
  }
  uint64_t bytes =
      isReplicated(space) ? replicaStrideOf(executable->format(), space) : spaceOf(space).size();
  std::memset(memory(replica).spaces[static_cast<size_t>(space)], 0, bytes);
  return {};
}

bool CpuDevice::hasShareOf(fb::Space space) const {
  const fb::Executable &format = executable->format();
  if (!ranks || !format.shared() || format.shared()->size() == 0)
    return false;
  return space == fb::Space::Moment1 || space == fb::Space::Moment2 ||
         (format.shares_parameters() &&
          (space == fb::Space::Parameters || space == fb::Space::Gradients));
}

std::vector<fb::BufferRef> CpuDevice::sharedBuffers() const {
  std::vector<fb::BufferRef> buffers;
  for (fb::Space space :
       {fb::Space::Parameters, fb::Space::Gradients, fb::Space::Moment1, fb::Space::Moment2})
    if (hasShareOf(space) && has(space))
      for (const fb::BufferRef *buffer : *executable->format().shared())
        buffers.emplace_back(buffer->offset(), buffer->bytes(), space);
  return buffers;
}

Result<void> CpuDevice::collectShares() {
  // What an update touches, so that it is the same on all ranks.
  std::array<bool, spaceCount> updated{};
  for (const PreparedProgram &program : programs)
    if (program.source->name()->string_view() == "update")
      updated = spacesOf(*program.source);
  for (fb::Space space : {fb::Space::Parameters, fb::Space::Moment1, fb::Space::Moment2})
    if (hasShareOf(space) && updated[static_cast<size_t>(space)])
      if (auto done = allocate(space); !done)
        return done;
  for (const fb::BufferRef &buffer : sharedBuffers()) {
    if (buffer.space() == fb::Space::Gradients || !updated[static_cast<size_t>(buffer.space())])
      continue;
    const OwnedValues owned = ownedValues({&buffer, 1}, ranks->size(), addressesOf(0));
    if (auto done =
            ranks->run([&](Transport &transport) { return gatherToFirst(transport, owned); });
        !done)
      return done;
  }
  return {};
}

Result<void> CpuDevice::gatherParameters() {
  std::vector<fb::BufferRef> buffers = sharedBuffers();
  std::erase_if(
      buffers, [](const fb::BufferRef &buffer) { return buffer.space() != fb::Space::Parameters; });
  if (buffers.empty())
    return {};
  const OwnedValues owned = ownedValues(buffers, ranks->size(), addressesOf(0));
  return ranks->run([&](Transport &transport) { return gatherFromOwners(transport, owned); });
}

void CpuDevice::releaseShares() {
  if (ranks)
    releaseOthers(sharedBuffers(), ranks->rank(), ranks->size(), addressesOf(0));
}

Result<void> CpuDevice::zeroTiles() {
  std::memset(tiles.data(), 0, tiles.size());
  return {};
}

Result<std::span<const std::byte>> CpuDevice::read(const fb::BufferRef &place, int64_t replica) {
  return std::span<const std::byte>(address(place, replica), place.bytes());
}

Result<void> CpuDevice::write(const fb::BufferRef &place, std::span<const std::byte> bytes,
                              int64_t replica) {
  if (!bytes.empty())
    std::memcpy(address(place, replica), bytes.data(), bytes.size());
  return {};
}

Result<std::span<std::byte>> CpuDevice::input(size_t program, const fb::Tensor &tensor,
                                              int64_t replica, int64_t step) {
  if (step != 0)
    return Error{"there are no bursts of steps"};
  programs[program].lent.takeBack(tensor);
  ProgramPorts &ports = programs[program].ports;
  if (auto done = ports.allocate(); !done)
    return done.error();
  if (std::span<std::byte> kept = ports.at(tensor, replica); !kept.empty())
    return kept;
  return std::span<std::byte>(address(*tensor.buffer(), replica), tensor.buffer()->bytes());
}

Result<std::span<const std::byte>> CpuDevice::output(size_t program, const fb::Tensor &tensor,
                                                     int64_t replica, int64_t) {
  ProgramPorts &ports = programs[program].ports;
  if (auto done = ports.allocate(); !done)
    return done.error();
  if (std::span<const std::byte> kept = ports.at(tensor, replica); !kept.empty())
    return kept;
  return read(*tensor.buffer(), replica);
}

Result<bool> CpuDevice::restoreInputs(size_t index, int64_t replica) {
  ProgramPorts &ports = programs[index].ports;
  if (!ports.keepsInputs())
    return false;
  if (auto done = ports.allocate(); !done)
    return done.error();
  ports.placeInputs(replica, addressesOf(replica));
  return true;
}

bool CpuDevice::lend(size_t index, const fb::Tensor &tensor, std::byte *memory) {
  if (paused && (*paused != index || !isBehindPause(tensor.name()->string_view())))
    forgetPaused(); // these are for another run
  programs[index].lent.lend(tensor, memory);
  return true;
}

void CpuDevice::forgetPaused() {
  if (paused)
    programs[*paused].lent.clear();
  paused.reset();
}

/// Adds to `seconds`, which has an entry a step. All threads go through all steps together.
Result<void> CpuDevice::runOnce(const PreparedProgram &program, const ProgramMemory &where,
                                Part part, std::vector<double> *seconds) const {
  const size_t pause = program.source->pause();
  const size_t begin = part == Part::AfterPause ? pause : 0;
  const size_t end = part == Part::BeforePause ? pause : program.steps.size();
  using Clock = std::chrono::steady_clock;
  Failure failure;
  parallelRegion(threadCount, [&](Member &member) {
    const bool timed = seconds && member.thread() == 0;
    for (size_t i = begin; i < end; ++i) {
      auto start = timed ? Clock::now() : Clock::time_point();
      if (!program.steps[i].run(where, member, failure))
        return;
      if (timed)
        (*seconds)[i] += std::chrono::duration<double>(Clock::now() - start).count();
    }
  });
  return failure.outcome();
}

/// Whether an input is read for the first time in the part.
static bool isIn(Part part, const fb::Tensor &input) {
  return part == Part::Whole ||
         isBehindPause(input.name()->string_view()) == (part == Part::AfterPause);
}

Result<void> CpuDevice::run(size_t index, Part part, std::vector<double> *seconds) {
  PreparedProgram &program = programs[index];
  if (part != Part::AfterPause && paused != index)
    forgetPaused();
  else if (part != Part::AfterPause) // it starts anew, and nothing was lent to its first part since
    program.lent.forgetFirstPart();
  const bool goesOn = std::exchange(paused, std::nullopt) == index;
  if (part == Part::AfterPause && !goesOn)
    return Error{"it does not wait at its pause: another run was there since"};
  if (seconds)
    seconds->assign(program.steps.size(), 0);
  if (program.source->name()->string_view() == "setup") // fills what replicas share
    return runOnce(program, memory(0), part, seconds);
  if (auto done = program.ports.allocate(); !done)
    return Error{fmt::format("{}: {}", executable->name(), done.error().message)};
  for (int64_t replica = 0; replica < replicas(); ++replica) {
    if (!active[static_cast<size_t>(replica)])
      continue;
    const ProgramPorts::AddressOf address = addressesOf(replica);
    program.ports.placeInputs(replica, address, [&](const fb::Tensor &tensor) {
      return !program.lent.has(tensor) && isIn(part, tensor);
    });
    ProgramMemory where = memory(replica);
    where.redirects = program.lent.redirects(part);
    program.lent.copyInputs(part, where);
    auto done = runOnce(program, where, part, seconds);
    if (done)
      program.lent.copyOutputs(part, where);
    if (done && part == Part::BeforePause)
      paused = index;
    else
      program.lent.clear();
    if (!done)
      return replicas() == 1 ? done
                             : Error{fmt::format("replica {}: {}", replica, done.error().message)};
    program.ports.keepOutputs(replica, address);
  }
  return {};
}

Result<void> CpuDevice::walk(size_t program, const Around &around, int64_t replica) {
  ProgramMemory where = memory(replica);
  where.ranks = nullptr; // the others do not walk along
  for (const ProgramStep &step : programs[program].steps) {
    bool more = true;
    if (step.inner().empty()) {
      more = around(step.source(), step.buffers(), [&] {
        Failure failure;
        parallelRegion(threadCount, [&](Member &member) { step.run(where, member, failure); });
        return failure.outcome();
      });
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
                                              int threads, std::shared_ptr<Communicator> ranks) {
  return prepared<CpuDevice>(std::move(executable), threads, std::move(ranks));
}

} // namespace hybrid::rt
