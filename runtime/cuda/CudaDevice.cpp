//===- CudaDevice.cpp - programs on an NVIDIA GPU ----------------------------===//
//
// One context, one stream. What runs is a block: a number of times a sequence of programs. The
// first one makes its calls one by one, during which the libraries load what they need; the second
// of the same size is captured as a graph, and from then on such a block is one launch.
//
// Replicas lie behind one another in every space, and a launch is of all of them.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cuda/Attention.h"
#include "runtime/cuda/CodeModule.h"
#include "runtime/cuda/Plan.h"
#include "runtime/cuda/Product.h"
#include "runtime/cuda/RestingReplicas.h"
#include "runtime/cuda/Staging.h"
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <map>

namespace hybrid::rt::cuda {
namespace {

using Programs = std::vector<size_t>;

/// Programs one after another, a number of times.
struct Block {
  Programs programs;
  size_t steps = 1;
  auto operator<=>(const Block &) const = default;
};

/// Where the outputs of a block are.
struct Outputs {
  size_t set = 0, steps = 1;
};

struct PreparedProgram {
  PreparedProgram(const Gpu &gpu, const fb::Program &source, size_t replicas)
      : source(&source), replicas(replicas), staging(gpu, source, replicas) {}
  const fb::Program *source;
  size_t replicas;
  Staging staging;
  std::optional<Plan> plan;
  size_t lastInputs = 0;              // the set of its last run
  std::optional<Outputs> lastOutputs; // of the last run that has been waited for
  bool changesState = false;          // parameters and their like
};

/// What a block has become.
struct Launchable {
  int64_t runs = 0, lastRun = 0;
  GraphExec graph = nullptr;
};

/// A block on its way.
struct Started {
  Block block;
  std::vector<size_t> inputSets; // of its programs
  size_t outputSet = 0;
  Event end = nullptr;
};

class CudaDevice final : public Device {
public:
  explicit CudaDevice(std::shared_ptr<const Executable> executable)
      : executable(std::move(executable)) {}
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
  Result<int64_t> reserveSteps(std::span<const size_t> programs, int64_t most) override;
  Result<void> start(std::span<const size_t> programs, int64_t steps) override;
  Result<void> finish() override;
  Result<void> measure(std::span<const size_t> programs, int64_t steps, size_t runs,
                       std::vector<double> &seconds) override;
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
    return strideOf(space) ? strideOf(space) * replicas() : bytesOf(format(), space);
  }
  DeviceAddress address(const fb::BufferRef &place) const;
  /// Where it is now of a replica.
  DeviceAddress addressNow(const fb::BufferRef &place, int64_t replica) const;
  /// As the programs see it.
  DevicePlaces placesFor(const PreparedProgram &program) const {
    return {[this](const fb::BufferRef &place) { return address(place); },
            [this](fb::Space space) { return strideOf(space); }, program.replicas};
  }
  Error outOfMemory(uint64_t wanted, std::string_view purpose, const Error &error) const;
  Result<Blas *> openBlas();
  Result<Cudnn *> openAttention();
  Result<void> preparePlan(PreparedProgram &program);
  /// Whether the first program's inputs go straight to their places.
  bool goesStraight(const Block &block) const { return block.steps == 1 && replicas() == 1; }
  Result<void> issue(PreparedProgram &program, size_t step, bool fromTable);
  Result<void> issueAll(const Block &block);
  Result<void> capture(const Block &block, Launchable &state);
  void forgetGraphs(size_t most);
  Result<void> protectResting(const Programs &numbers);
  Result<void> submit(const Block &block);
  Result<void> finishAll();
  Result<void> profile(PreparedProgram &program, std::vector<double> &seconds);
  Error culpritOf(const Started &run, const Error &error);

  std::shared_ptr<const Executable> executable;
  std::unique_ptr<Gpu> gpu;
  std::optional<CodeModule> code;
  std::unique_ptr<Blas> blas;
  std::unique_ptr<Cudnn> cudnn;
  std::array<GpuMemory, spaceCount> spaces;
  std::array<Arena, spaceCount> mirrors; // what read() shows of them
  PinnedMemory shown;                    // what it shows of arena and tiles
  GpuMemory tiles;
  std::vector<std::unique_ptr<PreparedProgram>> programs;
  std::optional<RestingReplicas> resting;
  std::map<Block, Launchable> launchables;
  std::deque<Started> started;
  std::vector<Event> freeEvents;
  size_t outputSet = 0;
  int64_t runs = 0;
  std::optional<size_t> lastStarted; // the program whose outputs lie in the arena
  bool waitsForEachStep = false;
};

uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

uint64_t tileBytesOf(const fb::Executable &executable) {
  uint64_t bytes = 0;
  for (const fb::Program *program : *executable.programs())
    if (program->steps())
      for (const fb::Step *step : *program->steps())
        if (const auto *loop = step->operation_as_TileLoop())
          bytes = std::max(bytes, aligned(loop->tile_bytes()));
  return bytes;
}

bool isState(const fb::BufferRef &buffer) {
  return buffer.bytes() && buffer.space() >= fb::Space::Gradients &&
         buffer.space() <= fb::Space::Moment2;
}

/// Whether a program may change parameters or their like: one that touches gradients or moments, or
/// draws the parameters.
bool mayChangeState(const fb::Program &program) {
  if (program.name()->string_view() == "init")
    return true;
  if (program.outputs())
    for (const fb::Tensor *tensor : *program.outputs())
      if (isState(*tensor->buffer()))
        return true;
  std::function<bool(const fb::Step &)> touches = [&](const fb::Step &step) {
    if (const auto *loop = step.operation_as_TileLoop(); loop && loop->steps())
      return std::any_of(loop->steps()->begin(), loop->steps()->end(),
                         [&](const fb::Step *inner) { return touches(*inner); });
    const std::vector<fb::BufferRef> buffers = buffersOf(step);
    return std::any_of(buffers.begin(), buffers.end(), isState);
  };
  return program.steps() && std::any_of(program.steps()->begin(), program.steps()->end(),
                                        [&](const fb::Step *step) { return touches(*step); });
}

//===-- memory -----------------------------------------------------------------===//

CudaDevice::~CudaDevice() {
  if (!gpu)
    return;
  if (gpu->enter())
    (void)gpu->synchronize();
  forgetGraphs(0);
  for (const Started &run : started)
    freeEvents.push_back(run.end);
  for (Event event : freeEvents)
    gpu->driver().eventDestroy(event);
}

Result<void> CudaDevice::setActive(int64_t replica, bool active) {
  if (auto done = gpu->enter(); !done)
    return done;
  return resting->setActive(static_cast<size_t>(replica), active);
}

Result<void> CudaDevice::prepare() {
  auto opened = Gpu::open();
  if (!opened)
    return Error{fmt::format("{}: {}", executable->name(), opened.error().message)};
  gpu = std::move(*opened);
  auto loaded = CodeModule::load(*gpu, format());
  if (!loaded)
    return Error{fmt::format("{}: {}", executable->name(), loaded.error().message)};
  code.emplace(std::move(*loaded));
  for (const fb::Program *source : *format().programs()) {
    if (auto done = checkKernels(*source, *code); !done)
      return Error{fmt::format("{}: {}", executable->name(), done.error().message)};
    // The tables that `setup` fills are one for all replicas.
    const bool isShared = source->name()->string_view() == "setup";
    programs.push_back(std::make_unique<PreparedProgram>(*gpu, *source, isShared ? 1 : replicas()));
    programs.back()->changesState = mayChangeState(*source);
  }
  resting.emplace(*gpu, format(), [this](fb::Space space, size_t replica) {
    const DeviceAddress begin = spaces[static_cast<size_t>(space)].address();
    return begin ? begin + replica * strideOf(space) : 0;
  });
  const char *each = std::getenv("HYBRID_CUDA_SYNC");
  waitsForEachStep = each && *each && std::string_view(each) != "0";
  uint64_t bytes = tileBytesOf(format());
  if (bytes == 0)
    return {};
  if (replicas() > 1)
    bytes = bytesOfAll(fb::Space::Tile);
  auto memory = GpuMemory::allocate(*gpu, bytes);
  if (!memory)
    return outOfMemory(bytes, nameOf(fb::Space::Tile), memory.error());
  tiles = std::move(*memory);
  return {};
}

uint64_t CudaDevice::allocatedBytes() const {
  uint64_t bytes = tiles.size() + (blas ? blas->allocatedBytes() : 0) +
                   (cudnn ? cudnn->allocatedBytes() : 0) +
                   (resting ? resting->allocatedBytes() : 0);
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
    // What this session has is its own to use again; the matrix library and the driver need some.
    constexpr uint64_t reserve = Blas::workspaceBytes + (uint64_t(64) << 20);
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
  const uint64_t bytes = strideOf(space) ? bytesOf(format(), space) : bytesOfAll(space);
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
  return program.staging.input(tensor, std::min(static_cast<size_t>(replica), program.replicas - 1),
                               static_cast<size_t>(step));
}

Result<std::span<const std::byte>> CudaDevice::output(size_t number, const fb::Tensor &tensor,
                                                      int64_t replica, int64_t step) {
  PreparedProgram &program = *programs[number];
  const size_t steps = program.lastOutputs ? program.lastOutputs->steps : 1;
  if (step < 0 || static_cast<size_t>(step) >= steps)
    return Error{fmt::format("the last block has no step {}", step)};
  if (program.lastOutputs)
    if (auto kept = program.staging.kept(tensor, program.lastOutputs->set,
                                         static_cast<size_t>(replica), static_cast<size_t>(step));
        !kept.empty())
      return kept;
  if (!started.empty() || lastStarted != number || static_cast<size_t>(step) + 1 != steps)
    return Error{"the output is gone: another program has run"};
  return read(*tensor.buffer(), replica);
}

Result<bool> CudaDevice::restoreInputs(size_t number, int64_t) {
  if (auto done = gpu->enter(); !done)
    return done.error();
  PreparedProgram &program = *programs[number];
  if (auto done = program.staging.placeFromHost(program.lastInputs, 0, placesFor(program)); !done)
    return done.error();
  if (auto done = gpu->synchronize(); !done)
    return done.error();
  return true;
}

//===-- running ------------------------------------------------------------------===//

Result<Blas *> CudaDevice::openBlas() {
  if (!blas) {
    auto opened = Blas::open(*gpu);
    if (!opened)
      return opened.error();
    blas = std::move(*opened);
  }
  return blas.get();
}

Result<Cudnn *> CudaDevice::openAttention() {
  if (!cudnn) {
    auto opened = Cudnn::open(*gpu);
    if (!opened)
      return opened.error();
    cudnn = std::move(*opened);
  }
  return cudnn.get();
}

Result<void> CudaDevice::preparePlan(PreparedProgram &program) {
  if (program.plan)
    return {};
  auto plan =
      Plan::create(*program.source, {*gpu, *code, [this] { return openBlas(); },
                                     [this] { return openAttention(); }, placesFor(program)});
  if (!plan)
    return plan.error();
  program.plan.emplace(std::move(*plan));
  return {};
}

/// Appends a program's calls to the stream, for a step of a block.
Result<void> CudaDevice::issue(PreparedProgram &program, size_t step, bool fromTable) {
  if (fromTable)
    if (auto done = program.staging.place(step, placesFor(program)); !done)
      return done;
  for (const Operation &operation : program.plan->operations()) {
    if (auto done = Plan::issue(*gpu, operation); !done)
      return done;
    if (!waitsForEachStep)
      continue;
    if (auto done = gpu->synchronize(); !done)
      return Error{fmt::format("{}: {}", describe(*operation.step), done.error().message)};
  }
  return program.staging.keepOutputs(step, placesFor(program));
}

Result<void> CudaDevice::issueAll(const Block &block) {
  for (size_t step = 0; step < block.steps; ++step)
    for (size_t i = 0; i < block.programs.size(); ++i)
      if (auto done = issue(*programs[block.programs[i]], step, i > 0 || !goesStraight(block));
          !done)
        return done;
  return {};
}

Result<void> CudaDevice::capture(const Block &block, Launchable &state) {
  const DriverApi &driver = gpu->driver();
  if (auto done = gpu->check("cuStreamBeginCapture",
                             driver.captureBegin(gpu->stream(), captureThreadLocal));
      !done)
    return done;
  auto issued = issueAll(block);
  Graph graph = nullptr;
  auto ended = gpu->check("cuStreamEndCapture", driver.captureEnd(gpu->stream(), &graph));
  if (!issued || !ended) {
    if (graph)
      driver.graphDestroy(graph);
    return !issued ? issued : ended;
  }
  auto made = gpu->check("cuGraphInstantiate", driver.graphInstantiate(&state.graph, graph, 0));
  driver.graphDestroy(graph);
  if (!made)
    state.graph = nullptr;
  return made;
}

/// Keeps the graphs of those blocks of several steps that ran last.
void CudaDevice::forgetGraphs(size_t most) {
  std::vector<Launchable *> kept;
  for (auto &[block, state] : launchables)
    if (state.graph && (block.steps > 1 || most == 0))
      kept.push_back(&state);
  std::sort(kept.begin(), kept.end(),
            [](const Launchable *a, const Launchable *b) { return a->lastRun > b->lastRun; });
  for (size_t i = most; i < kept.size(); ++i) {
    gpu->driver().graphExecDestroy(kept[i]->graph);
    kept[i]->graph = nullptr;
  }
}

/// Before these programs run for all replicas.
Result<void> CudaDevice::protectResting(const Programs &numbers) {
  const bool changes = std::any_of(numbers.begin(), numbers.end(), [this](size_t number) {
    return programs[number]->changesState;
  });
  return changes ? resting->putAside() : Result<void>();
}

/// Appends inputs, programs and the way back of small outputs to the stream.
Result<void> CudaDevice::submit(const Block &block) {
  if (auto done = gpu->enter(); !done)
    return done;
  for (size_t i = 0; i < block.programs.size(); ++i) {
    PreparedProgram &program = *programs[block.programs[i]];
    if (auto done = preparePlan(program); !done)
      return done;
    const bool straight = i == 0 && goesStraight(block);
    if (auto done = program.staging.prepare(!straight); !done)
      return done;
    program.lastInputs = program.staging.currentSet();
    auto done = straight ? program.staging.placeFromHost(program.lastInputs, 0, placesFor(program))
                         : program.staging.upload(program.lastInputs, block.steps);
    if (!done)
      return done;
  }
  if (auto done = protectResting(block.programs); !done)
    return done;
  constexpr size_t mostGraphs = 8; // more than may be on their way
  Launchable &state = launchables[block];
  state.lastRun = ++runs;
  if (state.runs++ == 0 || waitsForEachStep) {
    if (auto done = issueAll(block); !done)
      return done;
  } else {
    if (!state.graph) {
      if (auto done = capture(block, state); !done)
        return done;
      forgetGraphs(mostGraphs);
    }
    if (auto done =
            gpu->check("cuGraphLaunch", gpu->driver().graphLaunch(state.graph, gpu->stream()));
        !done)
      return done;
  }
  for (size_t number : block.programs)
    if (auto done = programs[number]->staging.downloadOutputs(outputSet, block.steps); !done)
      return done;
  lastStarted = block.programs.back();
  return {};
}

/// An error that came up while the stream ran says nothing of where. The steps are run again one by
/// one; where the device is of no more use after the error, that finds nothing.
Error CudaDevice::culpritOf(const Started &run, const Error &error) {
  for (size_t step = 0; step < run.block.steps; ++step)
    for (size_t i = 0; i < run.block.programs.size(); ++i) {
      PreparedProgram &program = *programs[run.block.programs[i]];
      auto placed = program.staging.placeFromHost(run.inputSets[i], step, placesFor(program));
      if (!placed || !gpu->synchronize())
        return {error.message + "; run it again with HYBRID_CUDA_SYNC=1 to see which step it was"};
      for (const Operation &operation : program.plan->operations()) {
        auto done = Plan::issue(*gpu, operation);
        if (done)
          done = gpu->synchronize();
        if (!done)
          return {fmt::format("{}: {}", describe(*operation.step), done.error().message)};
      }
    }
  return {error.message + "; run it again with HYBRID_CUDA_SYNC=1 to see which step it was"};
}

Result<void> CudaDevice::finishAll() {
  while (!started.empty())
    if (auto done = finish(); !done)
      return done;
  return {};
}

Result<void> CudaDevice::run(size_t number, std::vector<double> *seconds) {
  if (auto done = finishAll(); !done)
    return done;
  PreparedProgram &program = *programs[number];
  const Block block{{number}, 1};
  if (seconds) {
    auto done = protectResting(block.programs);
    return done ? profile(program, *seconds) : done;
  }
  if (auto done = submit(block); !done)
    return done;
  if (auto done = gpu->synchronize(); !done)
    return waitsForEachStep ? done.error()
                            : culpritOf({block, {program.lastInputs}, outputSet}, done.error());
  program.lastOutputs = Outputs{outputSet, 1};
  return {};
}

/// A block is no larger than its tables and a graph may be: a graph's nodes take memory and time to
/// instantiate.
Result<int64_t> CudaDevice::reserveSteps(std::span<const size_t> numbers, int64_t most) {
  constexpr size_t mostNodes = 32768;
  if (auto done = finishAll(); !done)
    return done.error();
  if (auto done = gpu->enter(); !done)
    return done.error();
  if (auto done = gpu->synchronize(); !done)
    return done.error();
  auto steps = static_cast<size_t>(std::max<int64_t>(1, most));
  size_t nodes = 0;
  for (size_t number : numbers) {
    PreparedProgram &program = *programs[number];
    if (auto done = preparePlan(program); !done)
      return done.error();
    nodes += program.plan->operations().size() + program.staging.copies();
    steps = std::min(steps, std::max<size_t>(1, program.staging.mostSteps()));
  }
  steps = std::min(steps, std::max<size_t>(1, mostNodes / std::max<size_t>(1, nodes)));
  forgetGraphs(0); // they have the tables' addresses in them
  for (size_t number : numbers) {
    programs[number]->staging.reserve(steps);
    programs[number]->lastOutputs.reset();
  }
  return static_cast<int64_t>(steps);
}

Result<void> CudaDevice::start(std::span<const size_t> numbers, int64_t steps) {
  if (numbers.empty() || started.size() == mostStarted)
    return Error{fmt::format("{} runs are on their way already", started.size())};
  const Block block{{numbers.begin(), numbers.end()}, static_cast<size_t>(steps)};
  Started run{block, {}, outputSet, nullptr};
  for (size_t i = 0; i < block.programs.size(); ++i) {
    const Staging &staging = programs[block.programs[i]]->staging;
    const std::string_view name = programs[block.programs[i]]->source->name()->string_view();
    if (steps < 1 || block.steps > staging.steps())
      return Error{fmt::format("a block of {} steps of program '{}', which has room for {}", steps,
                               name, staging.steps())};
    if ((i > 0 || !goesStraight(block)) && block.steps > std::max<size_t>(1, staging.mostSteps()))
      return Error{
          fmt::format("the inputs of program '{}' are too large to wait on the device", name)};
    run.inputSets.push_back(staging.currentSet());
  }
  if (auto done = submit(block); !done)
    return done;
  if (freeEvents.empty()) {
    if (auto done =
            gpu->check("cuEventCreate", gpu->driver().eventCreate(&run.end, eventDisableTiming));
        !done)
      return done;
  } else {
    run.end = freeEvents.back();
    freeEvents.pop_back();
  }
  if (auto done = gpu->check("cuEventRecord", gpu->driver().eventRecord(run.end, gpu->stream()));
      !done)
    return done;
  started.push_back(run);
  for (size_t number : numbers)
    programs[number]->staging.nextSet();
  outputSet = (outputSet + 1) % Staging::setCount;
  return {};
}

Result<void> CudaDevice::finish() {
  if (started.empty())
    return Error{"no run was started"};
  if (auto done = gpu->enter(); !done)
    return done;
  Started run = started.front();
  started.pop_front();
  freeEvents.push_back(run.end);
  if (auto done = gpu->check("cuEventSynchronize", gpu->driver().eventSynchronize(run.end)); !done)
    return waitsForEachStep ? done.error() : culpritOf(run, done.error());
  for (size_t number : run.block.programs)
    programs[number]->lastOutputs = Outputs{run.outputSet, run.block.steps};
  return {};
}

/// Inputs share memory with what is computed. They wait beside it and are put in their places again
/// before every run, outside of what is timed.
Result<void> CudaDevice::measure(std::span<const size_t> numbers, int64_t steps, size_t runs,
                                 std::vector<double> &seconds) {
  if (auto done = finishAll(); !done)
    return done;
  if (numbers.empty())
    return Error{"no program to measure"};
  if (auto done = gpu->enter(); !done)
    return done;
  const Block block{{numbers.begin(), numbers.end()}, static_cast<size_t>(steps)};
  for (size_t number : block.programs) {
    PreparedProgram &program = *programs[number];
    if (steps < 1 || block.steps > program.staging.steps())
      return Error{fmt::format("no room was made for blocks of {} steps", steps)};
    if (auto done = preparePlan(program); !done)
      return done;
    if (auto done = program.staging.prepare(true); !done)
      return done;
    program.lastInputs = program.staging.currentSet();
    program.lastOutputs.reset();
    if (auto done = program.staging.upload(program.lastInputs, block.steps); !done)
      return done;
  }
  if (auto done = protectResting(block.programs); !done)
    return done;
  lastStarted = block.programs.back();
  PreparedProgram &first = *programs[block.programs.front()];
  auto placeFirst = [&]() -> Result<void> {
    return goesStraight(block) ? first.staging.place(0, placesFor(first)) : Result<void>();
  };
  Launchable &state = launchables[block];
  if (state.runs++ == 0) {
    auto done = placeFirst();
    if (done)
      done = issueAll(block);
    if (done)
      done = gpu->synchronize();
    if (!done)
      return done;
  }
  if (!state.graph)
    if (auto done = capture(block, state); !done)
      return done;

  const DriverApi &driver = gpu->driver();
  std::vector<Event> events(2 * runs);
  Result<void> outcome;
  auto note = [&](std::string_view call, Status status) {
    if (outcome)
      outcome = gpu->check(call, status);
  };
  for (Event &event : events)
    note("cuEventCreate", driver.eventCreate(&event, eventDefault));
  for (size_t i = 0; outcome && i < runs; ++i) {
    outcome = placeFirst();
    note("cuEventRecord", driver.eventRecord(events[2 * i], gpu->stream()));
    note("cuGraphLaunch", driver.graphLaunch(state.graph, gpu->stream()));
    note("cuEventRecord", driver.eventRecord(events[2 * i + 1], gpu->stream()));
  }
  if (outcome)
    outcome = gpu->synchronize();
  for (size_t i = 0; outcome && i < runs; ++i) {
    float milliseconds = 0;
    note("cuEventElapsedTime",
         driver.eventElapsed(&milliseconds, events[2 * i], events[2 * i + 1]));
    seconds.push_back(milliseconds * 1e-3);
  }
  for (Event event : events)
    if (event)
      driver.eventDestroy(event);
  return outcome;
}

Result<void> CudaDevice::profile(PreparedProgram &program, std::vector<double> &seconds) {
  if (auto done = gpu->enter(); !done)
    return done;
  if (auto done = preparePlan(program); !done)
    return done;
  if (auto done = program.staging.prepare(false); !done)
    return done;
  program.lastInputs = program.staging.currentSet();
  if (auto done = program.staging.placeFromHost(program.lastInputs, 0, placesFor(program)); !done)
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
  if (auto done = preparePlan(program); !done)
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

Result<std::unique_ptr<Device>> makeCudaDevice(std::shared_ptr<const Executable> executable) {
  auto device = std::make_unique<CudaDevice>(std::move(executable));
  if (auto done = device->prepare(); !done)
    return done.error();
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace hybrid::rt::cuda
