//===- Session.cpp - an executable with its memory, ready to run --------------===//
#include "runtime/Session.h"
#include "executable/Executable_generated.h"
#include "runtime/Device.h"
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cpu/Threads.h"
#include "runtime/cuda/CudaDevice.h"
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace hybrid::rt {
namespace {

struct ProgramEntry {
  size_t number = 0;
  const fb::Program *source = nullptr;
  std::array<bool, spaceCount> touches{};
};

constexpr int mostThreads = 1024;

fb::Space spaceOf(Session::Slot slot) {
  return static_cast<fb::Space>(static_cast<int>(slot) + 1); // spaces follow slots, after the arena
}

} // namespace

struct Session::State {
  std::shared_ptr<const Executable> executable;
  bool training = true;
  std::map<std::string, ProgramEntry, std::less<>> programs;
  std::unique_ptr<Device> device; // last: what is above outlives it

  Result<const ProgramEntry *> find(std::string_view program) const;
  Result<void> ensureSpace(fb::Space space);
  Result<void> ensureSpaces(const ProgramEntry &program);
  /// Of programs whose spaces are there then.
  Result<std::vector<size_t>> numbersOf(std::span<const std::string_view> names);
  std::string nonFiniteParameter(int64_t replica);
  bool hasReplica(int64_t replica) const {
    return replica >= 0 && replica < executable->replicas();
  }
  Result<void> checkReplica(int64_t replica) const {
    if (hasReplica(replica))
      return {};
    return Error{fmt::format("{} has no replica {}: it was compiled for {}", executable->name(),
                             replica, executable->replicas())};
  }
  const fb::Tensor *port(std::string_view program, std::string_view name, bool input) const;
  bool lend(std::string_view program, std::string_view name, bool isInput,
            std::span<std::byte> memory);
  Error inProgram(std::string_view program, const Error &error) const {
    return {fmt::format("{}: program '{}': {}", executable->name(), program, error.message)};
  }
};

Result<const ProgramEntry *> Session::State::find(std::string_view program) const {
  auto found = programs.find(program);
  if (found == programs.end())
    return Error{fmt::format("{} has no program '{}'", executable->name(), program)};
  return &found->second;
}

Result<void> Session::State::ensureSpace(fb::Space space) {
  if (device->has(space))
    return {};
  if (!training && space >= fb::Space::Gradients && space <= fb::Space::Moment2)
    return Error{fmt::format("{}: {} are needed, but this session was made without training",
                             executable->name(), nameOf(space))};
  return device->allocate(space);
}

Result<void> Session::State::ensureSpaces(const ProgramEntry &program) {
  for (size_t space = 0; space < spaceCount; ++space)
    if (program.touches[space])
      if (auto done = ensureSpace(static_cast<fb::Space>(space)); !done)
        return done;
  return {};
}

Result<std::vector<size_t>> Session::State::numbersOf(std::span<const std::string_view> names) {
  std::vector<size_t> numbers;
  for (std::string_view name : names) {
    auto program = find(name);
    if (!program)
      return program.error();
    if (auto done = ensureSpaces(**program); !done)
      return done.error();
    numbers.push_back((*program)->number);
  }
  return numbers;
}

const fb::Tensor *Session::State::port(std::string_view program, std::string_view name,
                                       bool input) const {
  auto found = programs.find(program);
  if (found == programs.end())
    return nullptr;
  const auto *ports = input ? found->second.source->inputs() : found->second.source->outputs();
  if (ports)
    for (const fb::Tensor *tensor : *ports)
      if (tensor->name()->string_view() == name)
        return tensor;
  return nullptr;
}

Session::Session(std::unique_ptr<State> state) : state(std::move(state)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const Executable> executable,
                                                 const SessionOptions &options) {
  if (options.threads < 0 || options.threads > mostThreads)
    return Error{fmt::format("{} threads were asked for, expected 1 to {}, or 0 for all cores",
                             options.threads, mostThreads)};
  if (auto trusted = executable->checkTrusted(); !trusted)
    return trusted.error();
  auto state = std::make_unique<State>();
  state->executable = executable;
  state->training = options.training;
  const fb::Executable &format = executable->format();
  for (const fb::Program *source : *format.programs()) {
    size_t number = state->programs.size();
    state->programs.emplace(source->name()->str(), ProgramEntry{number, source, spacesOf(*source)});
  }
  auto device =
      format.target()->device()->string_view() == "cuda"
          ? cuda::makeCudaDevice(executable, options.training, options.ranks)
          : makeCpuDevice(executable, options.threads > 0 ? options.threads : availableThreads(),
                          options.ranks);
  if (!device)
    return device.error();
  state->device = std::move(*device);
  for (fb::Space space : {fb::Space::Arena, fb::Space::Parameters, fb::Space::Constants})
    if (auto done = state->ensureSpace(space); !done)
      return done.error();
  if (format.constants()) {
    auto bytes = std::as_bytes(std::span(format.constants()->data(), format.constants()->size()));
    if (auto done = state->device->write({0, bytes.size(), fb::Space::Constants}, bytes, 0); !done)
      return done.error();
  }
  std::unique_ptr<Session> session(new Session(std::move(state)));
  if (executable->findProgram("setup"))
    if (auto done = session->run("setup"); !done)
      return done.error();
  return session;
}

const Executable &Session::executable() const { return *state->executable; }
int Session::threads() const { return state->device->threads(); }
bool Session::isAsynchronous() const { return state->device->isAsynchronous(); }
uint64_t Session::allocatedBytes() const { return state->device->allocatedBytes(); }

Result<void> Session::collectShares() { return state->device->collectShares(); }
Result<void> Session::gatherParameters() { return state->device->gatherParameters(); }
void Session::releaseShares() { state->device->releaseShares(); }

int64_t Session::replicas() const { return state->executable->replicas(); }

Result<void> Session::setActive(int64_t replica, bool active) {
  if (auto done = state->checkReplica(replica); !done)
    return done;
  return state->device->setActive(replica, active);
}

bool Session::isActive(int64_t replica) const {
  return state->hasReplica(replica) && state->device->isActive(replica);
}

Result<void> Session::keepFirstActive() {
  for (int64_t replica = 1; replica < replicas(); ++replica)
    if (auto done = setActive(replica, false); !done)
      return done;
  return {};
}

Result<void> Session::initialize(std::span<const uint64_t> seeds) {
  if (static_cast<int64_t>(seeds.size()) != replicas())
    return Error{fmt::format("{} is for {} replicas, but {} seeds are given", executable().name(),
                             replicas(), seeds.size())};
  for (int64_t replica = 0; replica < replicas(); ++replica) {
    if (!isActive(replica))
      continue;
    for (Slot slot : {Slot::Moment1, Slot::Moment2})
      if (state->device->has(spaceOf(slot)))
        if (auto done = state->device->zero(spaceOf(slot), replica); !done)
          return done;
    std::span<int32_t> words = inputAs<int32_t>("init", "seed", replica);
    if (words.size() != 2)
      continue;
    const uint64_t seed = seeds[static_cast<size_t>(replica)];
    words[0] = static_cast<int32_t>(static_cast<uint32_t>(seed));
    words[1] = static_cast<int32_t>(static_cast<uint32_t>(seed >> 32));
  }
  return executable().findProgram("init") ? run("init") : Result<void>();
}

Result<void> Session::initialize(uint64_t seed) {
  return initialize(std::vector<uint64_t>(static_cast<size_t>(replicas()), seed));
}

Result<void> Session::run(std::string_view name) {
  auto program = state->find(name);
  if (!program)
    return program.error();
  if (auto done = state->ensureSpaces(**program); !done)
    return done;
  if (auto done = state->device->run((*program)->number, nullptr); !done)
    return state->inProgram(name, done.error());
  return {};
}

Result<void> Session::runPart(std::string_view name, Part part) {
  if (part == Part::Whole)
    return run(name);
  auto program = state->find(name);
  if (!program)
    return program.error();
  if ((*program)->source->pause() == 0)
    return Error{fmt::format("{}: program '{}' does not pause", executable().name(), name)};
  if (auto done = state->ensureSpaces(**program); !done)
    return done;
  if (auto done = state->device->runPart((*program)->number, part); !done)
    return state->inProgram(name, done.error());
  return {};
}

bool Session::State::lend(std::string_view program, std::string_view name, bool isInput,
                          std::span<std::byte> memory) {
  auto found = find(program);
  if (!found || !ensureSpaces(**found)) // then the run fails, with nothing lent
    return false;
  const fb::Tensor *tensor = port(program, name, isInput);
  return tensor && tensor->buffer()->bytes() == memory.size() &&
         tensor->buffer()->space() == fb::Space::Arena && executable->replicas() == 1 &&
         device->lend((*found)->number, *tensor, memory.data());
}

bool Session::lendInput(std::string_view program, std::string_view name,
                        std::span<std::byte> memory) {
  return state->lend(program, name, true, memory);
}

bool Session::lendOutput(std::string_view program, std::string_view name,
                         std::span<std::byte> memory) {
  return state->lend(program, name, false, memory);
}

Result<std::vector<Session::StepTime>> Session::profile(std::string_view name) {
  auto program = state->find(name);
  if (!program)
    return program.error();
  if (auto done = state->ensureSpaces(**program); !done)
    return done.error();
  std::vector<double> seconds;
  if (auto done = state->device->run((*program)->number, &seconds); !done)
    return state->inProgram(name, done.error());
  std::vector<StepTime> times;
  for (size_t i = 0; i < seconds.size(); ++i) {
    const fb::Step &step = *(*program)->source->steps()->Get(static_cast<unsigned>(i));
    times.push_back({step.op() ? step.op()->str() : "",
                     step.location() ? step.location()->str() : "", seconds[i]});
  }
  return times;
}

Result<int64_t> Session::reserveSteps(std::span<const std::string_view> names, int64_t most) {
  auto numbers = state->numbersOf(names);
  if (!numbers)
    return numbers.error();
  auto steps = state->device->reserveSteps(*numbers, most);
  if (!steps)
    return state->inProgram(fmt::format("{}", fmt::join(names, "', '")), steps.error());
  return steps;
}

Result<bool> Session::holdExamples(const Examples &examples) {
  auto held = state->device->holdExamples(examples);
  if (!held)
    return Error{fmt::format("{}: {}", executable().name(), held.error().message)};
  return held;
}

Result<void> Session::takeExamples(int64_t replica, int64_t step, uint64_t first) {
  if (auto done = state->checkReplica(replica); !done)
    return done;
  if (auto done = state->device->takeExamples(replica, step, first); !done)
    return Error{fmt::format("{}: {}", executable().name(), done.error().message)};
  return {};
}

Result<void> Session::start(std::span<const std::string_view> names, int64_t steps) {
  auto numbers = state->numbersOf(names);
  if (!numbers)
    return numbers.error();
  if (auto done = state->device->start(*numbers, steps); !done)
    return state->inProgram(fmt::format("{}", fmt::join(names, "', '")), done.error());
  return {};
}

Result<std::vector<double>> Session::measure(std::span<const std::string_view> names, size_t runs,
                                             int64_t steps) {
  auto numbers = state->numbersOf(names);
  if (!numbers)
    return numbers.error();
  std::vector<double> seconds;
  if (auto done = state->device->measure(*numbers, steps, runs, seconds); !done)
    return state->inProgram(fmt::format("{}", fmt::join(names, "', '")), done.error());
  return seconds;
}

Result<void> Session::finish() {
  if (auto done = state->device->finish(); !done)
    return Error{fmt::format("{}: {}", executable().name(), done.error().message)};
  return {};
}

std::span<std::byte> Session::input(std::string_view program, std::string_view name,
                                    int64_t replica, int64_t step) {
  const fb::Tensor *tensor = state->port(program, name, true);
  if (!tensor || !state->hasReplica(replica) || !state->ensureSpace(tensor->buffer()->space()))
    return {};
  auto memory = state->device->input((*state->find(program))->number, *tensor, replica, step);
  return memory ? *memory : std::span<std::byte>();
}

std::span<const std::byte> Session::output(std::string_view program, std::string_view name,
                                           int64_t replica, int64_t step) {
  const fb::Tensor *tensor = state->port(program, name, false);
  if (!tensor || !state->hasReplica(replica) || !state->ensureSpace(tensor->buffer()->space()))
    return {};
  auto memory = state->device->output((*state->find(program))->number, *tensor, replica, step);
  return memory ? *memory : std::span<const std::byte>();
}

static fb::BufferRef placeOf(const ParameterInfo &info, fb::Space space) {
  return {info.offset, static_cast<uint64_t>(info.elements() * bytesOf(info.dtype)), space};
}

/// What is frozen has no gradient and no moments.
static bool has(const ParameterInfo &info, Session::Slot slot) {
  return slot == Session::Slot::Parameter || info.trainable;
}

std::span<const std::byte> Session::parameter(size_t index, Slot slot, int64_t replica) {
  if (index >= executable().parameters().size() || !state->hasReplica(replica) ||
      !has(executable().parameters()[index], slot) || !state->ensureSpace(spaceOf(slot)))
    return {};
  auto memory =
      state->device->read(placeOf(executable().parameters()[index], spaceOf(slot)), replica);
  return memory ? *memory : std::span<const std::byte>();
}

Result<void> Session::setParameter(size_t index, std::span<const std::byte> bytes, Slot slot,
                                   int64_t replica) {
  if (auto done = state->checkReplica(replica); !done)
    return done;
  if (index >= executable().parameters().size())
    return Error{fmt::format("{} has no parameter {}", executable().name(), index)};
  const ParameterInfo &info = executable().parameters()[index];
  if (!has(info, slot))
    return Error{
        fmt::format("parameter '{}' is not trained: it has no gradient and no moments", info.name)};
  fb::BufferRef place = placeOf(info, spaceOf(slot));
  if (bytes.size() != place.bytes())
    return Error{fmt::format("parameter '{}' takes {} bytes, {} are given", info.name,
                             place.bytes(), bytes.size())};
  if (auto done = state->ensureSpace(spaceOf(slot)); !done)
    return done;
  return state->device->write(place, bytes, replica);
}

/// Of a state; with a row, of that row of its first dimension. Nothing: it has no such row.
static std::optional<fb::BufferRef> placeOf(const ParameterInfo &state,
                                            std::optional<int64_t> row) {
  fb::BufferRef place = placeOf(state, fb::Space::Parameters);
  if (!row)
    return place;
  if (state.shape.empty() || *row < 0 || *row >= state.shape[0])
    return std::nullopt;
  const uint64_t bytes = place.bytes() / static_cast<uint64_t>(state.shape[0]);
  return fb::BufferRef(place.offset() + static_cast<uint64_t>(*row) * bytes, bytes, place.space());
}

std::span<const std::byte> Session::decodingState(size_t index, std::optional<int64_t> row) {
  if (index >= executable().states().size() || !state->ensureSpace(fb::Space::Parameters))
    return {};
  auto place = placeOf(executable().states()[index], row);
  auto memory = place ? state->device->read(*place, 0) : Error{"there is no such row"};
  return memory ? *memory : std::span<const std::byte>();
}

Result<void> Session::setDecodingState(size_t index, std::span<const std::byte> bytes,
                                       std::optional<int64_t> row) {
  if (index >= executable().states().size())
    return Error{fmt::format("{} has no state {}", executable().name(), index)};
  const ParameterInfo &info = executable().states()[index];
  const auto place = placeOf(info, row);
  if (!place)
    return Error{fmt::format("state '{}' has no row {}", info.name, *row)};
  if (bytes.size() != place->bytes())
    return Error{fmt::format("{}state '{}' takes {} bytes, {} are given", row ? "a row of " : "",
                             info.name, place->bytes(), bytes.size())};
  if (auto done = state->ensureSpace(fb::Space::Parameters); !done)
    return done;
  return state->device->write(*place, bytes, 0);
}

namespace {
template <typename T> bool allFinite(std::span<const std::byte> bytes) {
  const T *values = reinterpret_cast<const T *>(bytes.data());
  for (uint64_t i = 0; i < bytes.size() / sizeof(T); ++i)
    if (!std::isfinite(values[i]))
      return false;
  return true;
}

bool allFinite(Device &device, const fb::BufferRef &place, bool wide, int64_t replica) {
  if (!place.bytes())
    return true;
  auto bytes = device.read(place, replica);
  return !bytes || (wide ? allFinite<double>(*bytes) : allFinite<float>(*bytes));
}
} // namespace

std::string Session::State::nonFiniteParameter(int64_t replica) {
  for (fb::Space space : {fb::Space::Parameters, fb::Space::Gradients}) {
    if (!device->has(space))
      continue;
    for (const ParameterInfo &info : executable->parameters())
      if ((space == fb::Space::Parameters || info.trainable) &&
          !allFinite(*device, placeOf(info, space), info.dtype == DType::F64, replica))
        return fmt::format(
            "{} '{}'", space == fb::Space::Parameters ? "parameter" : "the gradient of", info.name);
  }
  return "";
}

std::string Session::findNonFinite(std::string_view name, int64_t replica) {
  auto found = state->find(name);
  if (!found || !state->hasReplica(replica) || !state->ensureSpaces(**found))
    return "";
  const ProgramEntry &program = **found;
  Device &device = *state->device;
  // A program that changes what it starts from cannot be run again: look at what it left.
  if (name == "update" || name == "init" || name == "setup")
    return state->nonFiniteParameter(replica);
  if (device.has(fb::Space::Gradients) && !device.zero(fb::Space::Gradients, replica))
    return "";
  if (std::string parameter = state->nonFiniteParameter(replica); !parameter.empty())
    return parameter;
  // From clean memory, whatever stops being finite does so in the step that wrote it. (Only when
  // the inputs were too large to keep is the arena left as it is: they may lie in it still.)
  auto kept = device.restoreInputs(program.number, replica);
  if (!kept)
    return "";
  if (*kept &&
      (!device.zero(fb::Space::Arena, replica) || !device.restoreInputs(program.number, replica)))
    return "";
  if (!device.zeroTiles())
    return "";
  bool wide =
      !executable().parameters().empty() && executable().parameters()[0].dtype == DType::F64;
  std::string culprit;
  auto around = [&](const fb::Step &step, std::span<const fb::BufferRef> buffers,
                    const std::function<Result<void>()> &run) {
    std::vector<bool> finite(buffers.size());
    for (size_t i = 0; i < buffers.size(); ++i)
      finite[i] = allFinite(device, buffers[i], wide, replica); // ids such as -100 are no floats
    if (!run())
      return false;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (finite[i] && !allFinite(device, buffers[i], wide, replica)) {
        culprit = step.op() ? step.op()->str() : "unknown op";
        if (step.location() && step.location()->size())
          culprit += " at " + step.location()->str();
        return false;
      }
    return true;
  };
  if (!device.walk(program.number, around, replica))
    return "";
  return culprit;
}

} // namespace hybrid::rt
