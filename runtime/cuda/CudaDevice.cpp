//===- CudaDevice.cpp - programs on an NVIDIA GPU ----------------------------===//
//
// One context, one stream. Programs run in bursts (Bursts.h), alone, or step by step. Replicas lie
// behind one another in every space, and a launch is of all of them.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CudaDevice.h"
#include "executable/SessionMemory.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cuda/Attention.h"
#include "runtime/cuda/Bursts.h"
#include "runtime/cuda/CodeModule.h"
#include "runtime/cuda/GpuRanks.h"
#include "runtime/cuda/Product.h"
#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt::cuda {
namespace {

class CudaDevice final : public Device {
public:
  CudaDevice(std::shared_ptr<const Executable> executable, bool training,
             std::shared_ptr<Communicator> others)
      : executable(std::move(executable)), training(training), others(std::move(others)) {}
  ~CudaDevice() override;
  Result<void> prepare();

  int threads() const override { return 1; }
  uint64_t allocatedBytes() const override;
  Result<void> setActive(int64_t replica, bool active) override;
  bool isActive(int64_t replica) const override {
    return resting->isActive(static_cast<size_t>(replica));
  }
  Result<void> allocate(fb::Space space) override;
  bool has(fb::Space space) const override { return bool(spaces[static_cast<size_t>(space)]); }
  Result<void> zero(fb::Space space, int64_t replica) override;
  Result<void> zeroTiles() override;
  Result<std::span<const std::byte>> read(const fb::BufferRef &place, int64_t replica) override;
  Result<void> write(const fb::BufferRef &place, std::span<const std::byte> bytes,
                     int64_t replica) override;
  Result<std::span<std::byte>> input(size_t program, const fb::Tensor &tensor, int64_t replica,
                                     int64_t step) override;
  Result<std::span<const std::byte>> output(size_t program, const fb::Tensor &tensor,
                                            int64_t replica, int64_t step) override;
  Result<void> run(size_t program, std::vector<double> *seconds) override;
  bool isAsynchronous() const override { return true; }
  Result<int64_t> reserveSteps(std::span<const size_t> numbers, int64_t most) override {
    return bursts->reserveSteps(numbers, most);
  }
  Result<bool> holdExamples(const Examples &sets) override { return bursts->holdExamples(sets); }
  Result<void> takeExamples(int64_t replica, int64_t step, uint64_t first) override {
    return bursts->takeExamples(static_cast<size_t>(replica), static_cast<size_t>(step), first);
  }
  Result<void> start(std::span<const size_t> numbers, int64_t steps) override {
    return bursts->start(numbers, steps);
  }
  Result<void> finish() override { return bursts->finish(); }
  Result<void> measure(std::span<const size_t> numbers, int64_t steps, size_t runs,
                       std::vector<double> &seconds) override {
    return bursts->measure(numbers, steps, runs, seconds);
  }
  Result<bool> restoreInputs(size_t program, int64_t replica) override;
  Result<void> walk(size_t program, const Around &around, int64_t replica) override;

private:
  const fb::Executable &format() const { return executable->format(); }
  size_t replicas() const { return static_cast<size_t>(executable->replicas()); }
  /// Bytes from one replica to the next.
  uint64_t strideOf(fb::Space space) const {
    return replicas() > 1 ? replicaStrideOf(format(), space) : 0;
  }
  uint64_t bytesOfAll(fb::Space space) const {
    return strideOf(space) ? strideOf(space) * replicas() : spaceBytes(format(), space);
  }
  DeviceAddress address(const fb::BufferRef &place) const;
  /// Where it is now of a replica.
  DeviceAddress addressNow(const fb::BufferRef &place, int64_t replica) const;
  /// What a program of so many replicas is made with.
  PlanParts partsFor(size_t count) {
    return {*gpu,
            *code,
            [this] { return openBlas(); },
            [this] { return openAttention(); },
            [this] { return openTransforms(); },
            ranks.get(),
            {[this](const fb::BufferRef &place) { return address(place); },
             [this](fb::Space space) { return strideOf(space); }, count}};
  }
  Error outOfMemory(uint64_t wanted, std::string_view purpose, const Error &error) const;
  Result<void> openGpu();
  Result<Blas *> openBlas();
  Result<Cudnn *> openAttention();
  Result<Cufft *> openTransforms();
  Result<void> findGather();
  Result<void> profile(PreparedProgram &program, std::vector<double> &seconds);

  std::shared_ptr<const Executable> executable;
  const bool training;
  const std::shared_ptr<Communicator> others;
  std::unique_ptr<Gpu> gpu;
  std::unique_ptr<GpuRanks> ranks; // null: this process is alone
  std::optional<CodeModule> code;
  std::unique_ptr<Blas> blas;
  std::unique_ptr<Cudnn> cudnn;
  std::unique_ptr<Cufft> cufft;
  std::array<GpuMemory, spaceCount> spaces;
  std::array<Arena, spaceCount> mirrors; // what read() shows of them
  PinnedMemory shown;                    // what it shows of arena and tiles
  GpuMemory tiles;
  std::vector<std::unique_ptr<PreparedProgram>> programs;
  std::optional<RestingReplicas> resting;
  std::optional<HeldExamples> examples;
  std::optional<Bursts> bursts; // last: what is above outlives it
};

//===-- memory -----------------------------------------------------------------===//

CudaDevice::~CudaDevice() {
  if (gpu && gpu->enter())
    (void)gpu->synchronize();
}

Result<void> CudaDevice::setActive(int64_t replica, bool active) {
  if (auto done = gpu->enter(); !done)
    return done;
  return resting->setActive(static_cast<size_t>(replica), active);
}

Result<void> CudaDevice::openGpu() {
  const bool areSeveral = others && others->size() > 1;
  auto number = areSeveral ? placeOnMachine(*others) : 0;
  if (!number)
    return number.error();
  auto opened = Gpu::open(*number);
  if (!opened)
    return opened.error();
  gpu = std::move(*opened);
  if (!areSeveral)
    return {};
  auto joined = GpuRanks::join(*gpu, *others);
  if (!joined)
    return joined.error();
  ranks = std::move(*joined);
  return {};
}

Result<void> CudaDevice::prepare() {
  if (auto done = openGpu(); !done)
    return Error{fmt::format("{}: {}", executable->name(), done.error().message)};
  auto loaded = CodeModule::load(*gpu, format());
  if (!loaded)
    return Error{fmt::format("{}: {}", executable->name(), loaded.error().message)};
  code.emplace(std::move(*loaded));
  for (const fb::Program *source : *format().programs()) {
    if (auto done = checkKernels(*source, *code); !done)
      return Error{fmt::format("{}: {}", executable->name(), done.error().message)};
    // The tables that `setup` fills are one for all replicas.
    const bool isShared = source->name()->string_view() == "setup";
    programs.push_back(
        std::make_unique<PreparedProgram>(*source, partsFor(isShared ? 1 : replicas())));
  }
  resting.emplace(*gpu, format(), [this](fb::Space space, size_t replica) {
    const DeviceAddress begin = spaces[static_cast<size_t>(space)].address();
    return begin ? begin + replica * strideOf(space) : 0;
  });
  if (auto done = findGather(); !done)
    return Error{fmt::format("{}: {}", executable->name(), done.error().message)};
  bursts.emplace(*gpu, format(), programs, *resting, examples ? &*examples : nullptr);
  const uint64_t bytes = memoryOf(format(), {}).tiles;
  if (bytes == 0)
    return {};
  auto memory = GpuMemory::allocate(*gpu, bytes);
  if (!memory)
    return outOfMemory(bytes, nameOf(fb::Space::Tile), memory.error());
  tiles = std::move(*memory);
  return {};
}

/// The kernel that puts batches together from examples on the device, where there is one.
Result<void> CudaDevice::findGather() {
  const fb::ExampleGather *gather = format().examples();
  if (!gather)
    return {};
  auto kernel = code->find(gather->symbol()->str(), 0);
  if (!kernel)
    return kernel.error();
  for (size_t number = 0; number < programs.size(); ++number)
    if (programs[number]->source->name()->string_view() == gather->program()->string_view())
      examples.emplace(*gpu, format(), *kernel, number, *programs[number]);
  return {};
}

uint64_t CudaDevice::allocatedBytes() const {
  uint64_t bytes = tiles.size() + (blas ? blas->allocatedBytes() : 0) +
                   (cudnn ? cudnn->allocatedBytes() : 0) + (cufft ? cufft->allocatedBytes() : 0) +
                   (resting ? resting->allocatedBytes() : 0) +
                   (examples ? examples->allocatedBytes() : 0);
  for (const GpuMemory &space : spaces)
    bytes += space.size();
  for (const auto &program : programs)
    bytes += program->staging.allocatedBytes();
  return bytes;
}

Error CudaDevice::outOfMemory(uint64_t wanted, std::string_view purpose, const Error &error) const {
  auto gigabytes = [](uint64_t bytes) {
    return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
  };
  std::string needs;
  for (size_t i = 0; i < spaceCount; ++i)
    needs += fmt::format("{}{} {}", i ? ", " : "", nameOf(static_cast<fb::Space>(i)),
                         gigabytes(bytesOfAll(static_cast<fb::Space>(i))));
  size_t free = 0, total = 0;
  std::string fits;
  if (gpu->driver().memoryInfo(&free, &total) == success) {
    // What this session has is its own to use again; the driver needs some.
    constexpr uint64_t reserve = uint64_t(64) << 20;
    uint64_t available = free + allocatedBytes();
    fits = fmt::format("; {} of the device's {} are free", gigabytes(free), gigabytes(total));
    if (available > reserve)
      fits += fmt::format("; compile with --memory {}MiB, or a smaller --batch or --length",
                          (available - reserve) >> 20);
  }
  return {fmt::format("{}: cannot allocate {} bytes ({}) on {} for {}: {}; training needs {}{}",
                      executable->name(), wanted, gigabytes(wanted), gpu->info().name, purpose,
                      error.message, needs, fits)};
}

Result<void> CudaDevice::allocate(fb::Space space) {
  if (has(space))
    return {};
  if (auto done = gpu->enter(); !done)
    return done;
  uint64_t bytes = bytesOfAll(space);
  auto memory = GpuMemory::allocate(*gpu, bytes);
  if (!memory)
    return outOfMemory(bytes, nameOf(space), memory.error());
  const GpuMemory &kept = spaces[static_cast<size_t>(space)] = std::move(*memory);
  return gpu->zero(kept.address(), kept.size());
}

DeviceAddress CudaDevice::address(const fb::BufferRef &place) const {
  if (!place.bytes())
    return 0;
  const GpuMemory &memory =
      place.space() == fb::Space::Tile ? tiles : spaces[static_cast<size_t>(place.space())];
  return memory.address() + place.offset();
}

DeviceAddress CudaDevice::addressNow(const fb::BufferRef &place, int64_t replica) const {
  const auto number = static_cast<size_t>(replica);
  if (place.space() == fb::Space::Tile || !has(place.space()))
    return address(place) + number * strideOf(place.space());
  return resting->addressOf(place.space(), number) + place.offset();
}

Result<void> CudaDevice::zero(fb::Space space, int64_t replica) {
  if (auto done = gpu->enter(); !done)
    return done;
  const uint64_t bytes = strideOf(space) ? spaceBytes(format(), space) : bytesOfAll(space);
  return gpu->zero(addressNow({0, bytes, space}, replica), bytes);
}

Result<void> CudaDevice::zeroTiles() {
  if (auto done = gpu->enter(); !done)
    return done;
  return gpu->zero(tiles.address(), tiles.size());
}

Result<std::span<const std::byte>> CudaDevice::read(const fb::BufferRef &place, int64_t replica) {
  if (!place.bytes())
    return std::span<const std::byte>();
  if (auto done = gpu->enter(); !done)
    return done.error();
  std::byte *target = nullptr;
  if (place.space() == fb::Space::Arena || place.space() == fb::Space::Tile) {
    if (shown.size() < place.bytes()) {
      auto memory = PinnedMemory::allocate(*gpu, place.bytes());
      if (!memory)
        return memory.error();
      shown = std::move(*memory);
    }
    target = shown.data();
  } else {
    Arena &mirror = mirrors[static_cast<size_t>(place.space())];
    if (!mirror) {
      auto memory = Arena::allocate(bytesOfAll(place.space()), nameOf(place.space()));
      if (!memory)
        return memory.error();
      mirror = std::move(*memory);
    }
    target =
        mirror.data() + static_cast<uint64_t>(replica) * strideOf(place.space()) + place.offset();
  }
  if (auto done = gpu->copyOut(target, addressNow(place, replica), place.bytes()); !done)
    return done.error();
  if (auto done = gpu->synchronize(); !done)
    return done.error();
  return std::span<const std::byte>(target, place.bytes());
}

Result<void> CudaDevice::write(const fb::BufferRef &place, std::span<const std::byte> bytes,
                               int64_t replica) {
  if (auto done = gpu->enter(); !done)
    return done;
  if (auto done = gpu->copyIn(addressNow(place, replica), bytes.data(), bytes.size()); !done)
    return done;
  return gpu->synchronize(); // the caller may change the bytes as soon as we return
}

//===-- inputs and outputs -------------------------------------------------------===//

Result<std::span<std::byte>> CudaDevice::input(size_t number, const fb::Tensor &tensor,
                                               int64_t replica, int64_t step) {
  if (auto done = gpu->enter(); !done)
    return done.error();
  PreparedProgram &program = *programs[number];
  return program.staging.input(
      tensor, std::min(static_cast<size_t>(replica), program.parts.places.replicas - 1),
      static_cast<size_t>(step));
}

Result<std::span<const std::byte>> CudaDevice::output(size_t number, const fb::Tensor &tensor,
                                                      int64_t replica, int64_t step) {
  PreparedProgram &program = *programs[number];
  const size_t steps = program.lastOutputs ? program.lastOutputs->steps : 1;
  if (step < 0 || static_cast<size_t>(step) >= steps)
    return Error{fmt::format("the last burst has no step {}", step)};
  if (program.lastOutputs)
    if (auto kept = program.staging.kept(tensor, program.lastOutputs->set,
                                         static_cast<size_t>(replica), static_cast<size_t>(step));
        !kept.empty())
      return kept;
  if (!bursts->hasOutputsOf(number) || static_cast<size_t>(step) + 1 != steps)
    return Error{"the output is gone: another program has run"};
  return read(*tensor.buffer(), replica);
}

Result<bool> CudaDevice::restoreInputs(size_t number, int64_t) {
  if (auto done = gpu->enter(); !done)
    return done.error();
  PreparedProgram &program = *programs[number];
  if (auto done = program.staging.placeFromHost(program.lastInputs, 0, program.parts.places); !done)
    return done.error();
  if (auto done = gpu->synchronize(); !done)
    return done.error();
  return true;
}

//===-- running ------------------------------------------------------------------===//

Result<Blas *> CudaDevice::openBlas() {
  if (!blas) {
    auto opened = Blas::open(*gpu, onesOf(format()));
    if (!opened)
      return opened.error();
    blas = std::move(*opened);
  }
  return blas.get();
}

Result<Cudnn *> CudaDevice::openAttention() {
  if (!cudnn) {
    auto opened = Cudnn::open(*gpu, attentionWorkspaceOf(format(), training));
    if (!opened)
      return opened.error();
    cudnn = std::move(*opened);
  }
  return cudnn.get();
}

Result<Cufft *> CudaDevice::openTransforms() {
  if (!cufft) {
    auto opened = Cufft::open(*gpu, transformWorkspaceOf(format(), training));
    if (!opened)
      return opened.error();
    cufft = std::move(*opened);
  }
  return cufft.get();
}

Result<void> CudaDevice::run(size_t number, std::vector<double> *seconds) {
  if (!seconds)
    return bursts->run(number);
  if (auto done = bursts->finishAll(); !done)
    return done;
  if (auto done = bursts->protectResting(std::span(&number, 1)); !done)
    return done;
  return profile(*programs[number], *seconds);
}

Result<void> CudaDevice::profile(PreparedProgram &program, std::vector<double> &seconds) {
  if (auto done = gpu->enter(); !done)
    return done;
  if (auto done = program.ensurePlan(); !done)
    return done;
  if (auto done = program.staging.prepare(false); !done)
    return done;
  program.lastInputs = program.staging.currentSet();
  if (auto done = program.staging.placeFromHost(program.lastInputs, 0, program.parts.places); !done)
    return done;
  const size_t steps = program.source->steps() ? program.source->steps()->size() : 0;
  const DriverApi &driver = gpu->driver();
  std::vector<Event> events(steps + 1);
  Result<void> outcome;
  auto note = [&](std::string_view call, Status status) {
    if (outcome)
      outcome = gpu->check(call, status);
  };
  for (Event &event : events)
    note("cuEventCreate", driver.eventCreate(&event, eventDefault));
  size_t next = 0;
  for (const Operation &operation : program.plan->operations()) {
    for (; outcome && next <= operation.stepNumber; ++next)
      note("cuEventRecord", driver.eventRecord(events[next], gpu->stream()));
    if (outcome)
      outcome = Plan::issue(*gpu, operation);
  }
  for (; outcome && next <= steps; ++next)
    note("cuEventRecord", driver.eventRecord(events[next], gpu->stream()));
  if (outcome)
    outcome = gpu->synchronize();
  for (size_t i = 0; outcome && i < steps; ++i) {
    float milliseconds = 0;
    note("cuEventElapsedTime", driver.eventElapsed(&milliseconds, events[i], events[i + 1]));
    seconds.push_back(milliseconds * 1e-3);
  }
  for (Event event : events)
    if (event)
      driver.eventDestroy(event);
  return outcome;
}

Result<void> CudaDevice::walk(size_t number, const Around &around, int64_t) {
  PreparedProgram &program = *programs[number];
  if (auto done = gpu->enter(); !done)
    return done;
  if (auto done = program.ensurePlan(); !done)
    return done;
  for (const Operation &operation : program.plan->operations()) {
    Result<void> outcome;
    bool more = around(*operation.step, buffersOf(*operation.step), [&] {
      outcome = Plan::issue(*gpu, operation);
      if (outcome)
        outcome = gpu->synchronize();
      return outcome;
    });
    if (!outcome || !more)
      return outcome;
  }
  return {};
}

} // namespace

Result<std::unique_ptr<Device>> makeCudaDevice(std::shared_ptr<const Executable> executable,
                                               bool training, std::shared_ptr<Communicator> ranks) {
  return prepared<CudaDevice>(std::move(executable), training, std::move(ranks));
}

} // namespace hybrid::rt::cuda
