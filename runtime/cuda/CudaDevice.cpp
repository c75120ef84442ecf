//===- CudaDevice.cpp - programs on an NVIDIA GPU ----------------------------===//
//
// One context, one stream. The first run of a sequence of programs makes its calls one by one,
// during which the libraries load what they need; the second is captured as a graph, and from then
// on the sequence is one launch.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cuda/Attention.h"
#include "runtime/cuda/CodeModule.h"
#include "runtime/cuda/Plan.h"
#include "runtime/cuda/Product.h"
#include "runtime/cuda/Staging.h"
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <map>

namespace hybrid::rt::cuda {
namespace {

using Programs = std::vector<size_t>;

struct PreparedProgram {
  PreparedProgram(const Gpu &gpu, const fb::Program &source)
      : source(&source), staging(gpu, source) {}
  const fb::Program *source;
  Staging staging;
  std::optional<Plan> plan;
  size_t lastInputs = 0;             // the set of its last run
  std::optional<size_t> lastOutputs; // the set of the last run that has been waited for
};

/// What a sequence of programs has become.
struct Sequence {
  int runs = 0;
  GraphExec graph = nullptr;
};

/// A run on its way.
struct Started {
  Programs programs;
  size_t set = 0; // of the outputs
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
  Result<void> allocate(fb::Space space) override;
  bool has(fb::Space space) const override { return bool(spaces[static_cast<size_t>(space)]); }
  Result<void> zero(fb::Space space) override;
  Result<void> zeroTiles() override;
  Result<std::span<const std::byte>> read(const fb::BufferRef &place) override;
  Result<void> write(const fb::BufferRef &place, std::span<const std::byte> bytes) override;
  Result<std::span<std::byte>> input(size_t program, const fb::Tensor &tensor) override;
  Result<std::span<const std::byte>> output(size_t program, const fb::Tensor &tensor) override;
  Result<void> run(size_t program, std::vector<double> *seconds) override;
  bool isAsynchronous() const override { return true; }
  Result<void> start(std::span<const size_t> programs) override;
  Result<void> finish() override;
  Result<void> measure(std::span<const size_t> programs, size_t runs,
                       std::vector<double> &seconds) override;
  Result<bool> restoreInputs(size_t program) override;
  Result<void> walk(size_t program, const Around &around) override;

private:
  const fb::Executable &format() const { return executable->format(); }
  DeviceAddress address(const fb::BufferRef &place) const;
  Staging::AddressOf addresses() const {
    return [this](const fb::BufferRef &place) { return address(place); };
  }
  Error outOfMemory(uint64_t wanted, std::string_view purpose, const Error &error) const;
  Result<Blas *> openBlas();
  Result<Cudnn *> openAttention();
  Result<void> preparePlan(PreparedProgram &program);
  Result<void> issue(PreparedProgram &program, bool waiting);
  Result<void> issueAll(const Programs &sequence);
  Result<void> capture(const Programs &sequence, Sequence &state);
  Result<void> submit(const Programs &sequence);
  Result<void> profile(PreparedProgram &program, std::vector<double> &seconds);
  Error culpritOf(const Programs &sequence, const Error &error);

  std::shared_ptr<const Executable> executable;
  std::unique_ptr<Gpu> gpu;
  std::optional<CodeModule> code;
  std::unique_ptr<Blas> blas;
  std::unique_ptr<Cudnn> cudnn;
  std::array<GpuMemory, spaceCount> spaces;
  std::array<Arena, spaceCount> mirrors; // what read() shows of them
  std::vector<std::byte> shown;          // what it shows of arena and tiles
  GpuMemory tiles;
  std::vector<std::unique_ptr<PreparedProgram>> programs;
  std::map<Programs, Sequence> sequences;
  std::deque<Started> started;
  std::vector<Event> freeEvents;
  size_t outputSet = 0;
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

//===-- memory -----------------------------------------------------------------===//

CudaDevice::~CudaDevice() {
  if (!gpu)
    return;
  if (gpu->enter())
    (void)gpu->synchronize();
  for (auto &[programs, sequence] : sequences)
    if (sequence.graph)
      gpu->driver().graphExecDestroy(sequence.graph);
  for (const Started &run : started)
    freeEvents.push_back(run.end);
  for (Event event : freeEvents)
    gpu->driver().eventDestroy(event);
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
    programs.push_back(std::make_unique<PreparedProgram>(*gpu, *source));
  }
  const char *each = std::getenv("HYBRID_CUDA_SYNC");
  waitsForEachStep = each && *each && std::string_view(each) != "0";
  uint64_t bytes = tileBytesOf(format());
  if (bytes == 0)
    return {};
  auto memory = GpuMemory::allocate(*gpu, bytes);
  if (!memory)
    return outOfMemory(bytes, nameOf(fb::Space::Tile), memory.error());
  tiles = std::move(*memory);
  return {};
}

uint64_t CudaDevice::allocatedBytes() const {
  uint64_t bytes =
      tiles.size() + (blas ? blas->allocatedBytes() : 0) + (cudnn ? cudnn->allocatedBytes() : 0);
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
                         gigabytes(bytesOf(format(), static_cast<fb::Space>(i))));
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
  uint64_t bytes = bytesOf(format(), space);
  auto memory = GpuMemory::allocate(*gpu, bytes);
  if (!memory)
    return outOfMemory(bytes, nameOf(space), memory.error());
  spaces[static_cast<size_t>(space)] = std::move(*memory);
  return zero(space);
}

DeviceAddress CudaDevice::address(const fb::BufferRef &place) const {
  if (!place.bytes())
    return 0;
  const GpuMemory &memory =
      place.space() == fb::Space::Tile ? tiles : spaces[static_cast<size_t>(place.space())];
  return memory.address() + place.offset();
}

Result<void> CudaDevice::zero(fb::Space space) {
  if (auto done = gpu->enter(); !done)
    return done;
  const GpuMemory &memory = spaces[static_cast<size_t>(space)];
  return gpu->zero(memory.address(), memory.size());
}

Result<void> CudaDevice::zeroTiles() {
  if (auto done = gpu->enter(); !done)
    return done;
  return gpu->zero(tiles.address(), tiles.size());
}

Result<std::span<const std::byte>> CudaDevice::read(const fb::BufferRef &place) {
  if (!place.bytes())
    return std::span<const std::byte>();
  if (auto done = gpu->enter(); !done)
    return done.error();
  std::byte *target = nullptr;
  if (place.space() == fb::Space::Arena || place.space() == fb::Space::Tile) {
    shown.resize(place.bytes());
    target = shown.data();
  } else {
    Arena &mirror = mirrors[static_cast<size_t>(place.space())];
    if (!mirror) {
      auto memory = Arena::allocate(bytesOf(format(), place.space()), nameOf(place.space()));
      if (!memory)
        return memory.error();
      mirror = std::move(*memory);
    }
    target = mirror.data() + place.offset();
  }
  if (auto done = gpu->copyOut(target, address(place), place.bytes()); !done)
    return done.error();
  if (auto done = gpu->synchronize(); !done)
    return done.error();
  return std::span<const std::byte>(target, place.bytes());
}

Result<void> CudaDevice::write(const fb::BufferRef &place, std::span<const std::byte> bytes) {
  if (auto done = gpu->enter(); !done)
    return done;
  if (auto done = gpu->copyIn(address(place), bytes.data(), bytes.size()); !done)
    return done;
  return gpu->synchronize(); // the caller may change the bytes as soon as we return
}

//===-- inputs and outputs -------------------------------------------------------===//

Result<std::span<std::byte>> CudaDevice::input(size_t program, const fb::Tensor &tensor) {
  if (auto done = gpu->enter(); !done)
    return done.error();
  return programs[program]->staging.input(tensor);
}

Result<std::span<const std::byte>> CudaDevice::output(size_t number, const fb::Tensor &tensor) {
  PreparedProgram &program = *programs[number];
  if (program.lastOutputs)
    if (auto kept = program.staging.kept(tensor, *program.lastOutputs); !kept.empty())
      return kept;
  if (!started.empty() || lastStarted != number)
    return Error{"the output is gone: another program has run"};
  return read(*tensor.buffer());
}

Result<bool> CudaDevice::restoreInputs(size_t number) {
  if (auto done = gpu->enter(); !done)
    return done.error();
  PreparedProgram &program = *programs[number];
  if (auto done = program.staging.upload(program.lastInputs, false, addresses()); !done)
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
  auto plan = Plan::create(*program.source, {*gpu, *code, [this] { return openBlas(); },
                                             [this] { return openAttention(); }, addresses()});
  if (!plan)
    return plan.error();
  program.plan.emplace(std::move(*plan));
  return {};
}

/// Appends a program's calls to the stream.
Result<void> CudaDevice::issue(PreparedProgram &program, bool waiting) {
  if (waiting)
    if (auto done = program.staging.place(addresses()); !done)
      return done;
  for (const Operation &operation : program.plan->operations()) {
    if (auto done = Plan::issue(*gpu, operation); !done)
      return done;
    if (!waitsForEachStep)
      continue;
    if (auto done = gpu->synchronize(); !done)
      return Error{fmt::format("{}: {}", describe(*operation.step), done.error().message)};
  }
  return program.staging.keepOutputs(addresses());
}

Result<void> CudaDevice::issueAll(const Programs &sequence) {
  for (size_t i = 0; i < sequence.size(); ++i)
    if (auto done = issue(*programs[sequence[i]], i > 0); !done)
      return done;
  return {};
}

Result<void> CudaDevice::capture(const Programs &sequence, Sequence &state) {
  const DriverApi &driver = gpu->driver();
  if (auto done = gpu->check("cuStreamBeginCapture",
                             driver.captureBegin(gpu->stream(), captureThreadLocal));
      !done)
    return done;
  auto issued = issueAll(sequence);
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

/// Appends inputs, programs and the way back of small outputs to the stream.
Result<void> CudaDevice::submit(const Programs &sequence) {
  if (auto done = gpu->enter(); !done)
    return done;
  for (size_t i = 0; i < sequence.size(); ++i) {
    PreparedProgram &program = *programs[sequence[i]];
    if (auto done = preparePlan(program); !done)
      return done;
    if (auto done = program.staging.prepare(i > 0); !done)
      return done;
    program.lastInputs = program.staging.currentSet();
    if (auto done = program.staging.upload(program.lastInputs, i > 0, addresses()); !done)
      return done;
  }
  Sequence &state = sequences[sequence];
  if (state.runs++ == 0 || waitsForEachStep) {
    if (auto done = issueAll(sequence); !done)
      return done;
  } else {
    if (!state.graph)
      if (auto done = capture(sequence, state); !done)
        return done;
    if (auto done =
            gpu->check("cuGraphLaunch", gpu->driver().graphLaunch(state.graph, gpu->stream()));
        !done)
      return done;
  }
  for (size_t number : sequence)
    if (auto done = programs[number]->staging.downloadOutputs(outputSet); !done)
      return done;
  lastStarted = sequence.back();
  return {};
}

/// An error that came up while the stream ran says nothing of where. The steps are run again one by
/// one; where the device is of no more use after the error, that finds nothing.
Error CudaDevice::culpritOf(const Programs &sequence, const Error &error) {
  for (size_t number : sequence) {
    if (!restoreInputs(number))
      break;
    for (const Operation &operation : programs[number]->plan->operations()) {
      auto done = Plan::issue(*gpu, operation);
      if (done)
        done = gpu->synchronize();
      if (!done)
        return {fmt::format("{}: {}", describe(*operation.step), done.error().message)};
    }
  }
  return {error.message + "; run it again with HYBRID_CUDA_SYNC=1 to see which step it was"};
}

Result<void> CudaDevice::run(size_t number, std::vector<double> *seconds) {
  while (!started.empty())
    if (auto done = finish(); !done)
      return done;
  PreparedProgram &program = *programs[number];
  if (seconds)
    return profile(program, *seconds);
  const Programs sequence{number};
  if (auto done = submit(sequence); !done)
    return done;
  if (auto done = gpu->synchronize(); !done)
    return waitsForEachStep ? done.error() : culpritOf(sequence, done.error());
  program.lastOutputs = outputSet;
  return {};
}

Result<void> CudaDevice::start(std::span<const size_t> numbers) {
  if (numbers.empty() || started.size() == mostStarted)
    return Error{fmt::format("{} runs are on their way already", started.size())};
  Programs sequence(numbers.begin(), numbers.end());
  for (size_t i = 1; i < sequence.size(); ++i)
    if (!programs[sequence[i]]->staging.canWait())
      return Error{fmt::format("the inputs of program '{}' are too large to wait on the device",
                               programs[sequence[i]]->source->name()->string_view())};
  Started run{sequence, outputSet, nullptr};
  if (auto done = submit(sequence); !done)
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
  for (size_t number : sequence)
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
    return waitsForEachStep ? done.error() : culpritOf(run.programs, done.error());
  for (size_t number : run.programs)
    programs[number]->lastOutputs = run.set;
  return {};
}

/// Inputs share memory with what is computed. They wait beside it and are put in their places again
/// before every run, outside of what is timed.
Result<void> CudaDevice::measure(std::span<const size_t> numbers, size_t runs,
                                 std::vector<double> &seconds) {
  while (!started.empty())
    if (auto done = finish(); !done)
      return done;
  if (numbers.empty())
    return Error{"no program to measure"};
  if (auto done = gpu->enter(); !done)
    return done;
  const Programs sequence(numbers.begin(), numbers.end());
  for (size_t number : sequence) {
    PreparedProgram &program = *programs[number];
    if (auto done = preparePlan(program); !done)
      return done;
    if (auto done = program.staging.prepare(true); !done)
      return done;
    program.lastInputs = program.staging.currentSet();
    program.lastOutputs.reset();
    if (auto done = program.staging.upload(program.lastInputs, true, addresses()); !done)
      return done;
  }
  lastStarted = sequence.back();
  Staging &first = programs[sequence.front()]->staging;
  Sequence &state = sequences[sequence];
  if (state.runs++ == 0) {
    auto done = first.place(addresses());
    if (done)
      done = issueAll(sequence);
    if (done)
      done = gpu->synchronize();
    if (!done)
      return done;
  }
  if (!state.graph)
    if (auto done = capture(sequence, state); !done)
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
    outcome = first.place(addresses());
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
  if (auto done = program.staging.upload(program.lastInputs, false, addresses()); !done)
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

Result<void> CudaDevice::walk(size_t number, const Around &around) {
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
