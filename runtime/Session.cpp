//===- Session.cpp - an executable with its memory, ready to run --------------===//
#include "runtime/Session.h"
#include "codegen/Executable_generated.h"
#include "runtime/ExecutableVerifier.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CodeObject.h"
#include "runtime/cpu/Parallel.h"
#include "runtime/cpu/ProgramStep.h"
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace hybrid::rt {
namespace {

constexpr size_t spaceCount = 6;
constexpr std::string_view spaceNames[spaceCount] = {"the arena",          "the parameters",
                                                     "the gradients",      "the first moments",
                                                     "the second moments", "the constants"};

struct PreparedProgram {
  const fb::Program *source = nullptr;
  std::vector<ProgramStep> steps;
  std::array<bool, spaceCount> touches{};
  // What the inputs were when it last ran: the arena reuses their memory, and findNonFinite() needs
  // them again. Only kept while they are small, as token ids are.
  std::vector<std::byte> lastInputs;
};

constexpr uint64_t mostKeptInputs = uint64_t(64) << 20;
constexpr int mostThreads = 1024;

} // namespace

struct Session::State {
  std::shared_ptr<const Executable> executable;
  std::optional<CodeObject> code;
  std::array<Arena, spaceCount> spaces;
  std::array<uint64_t, spaceCount> spaceBytes{};
  Arena scratch, tiles;
  uint64_t scratchBytes = 0; // a thread
  uint64_t tileBytes = 0;    // of all threads
  int threads = 1;
  bool training = true;
  std::map<std::string, PreparedProgram, std::less<>> programs;

  Result<void> prepare();
  Result<void> prepareStep(PreparedProgram &program, const fb::Step &step);
  ProgramMemory memory() const;
  Result<void> ensureSpace(size_t space);
  std::byte *address(const fb::BufferRef &buffer) const { return memory().address(buffer); }
  Result<void> ensureSpaces(const PreparedProgram &program);
  void keepInputs(PreparedProgram &program);
  void restoreInputs(const PreparedProgram &program);
  std::string nonFiniteParameter();
  Result<void> execute(std::string_view program, std::vector<StepTime> *times);
  const fb::Tensor *port(std::string_view program, std::string_view name, bool input) const;
};

/// Notes the spaces that a step and those inside it touch.
static void noteSpaces(const ProgramStep &step, std::array<bool, spaceCount> &touches) {
  for (const fb::BufferRef &buffer : step.buffers())
    if (buffer.bytes() && buffer.space() != fb::Space::Tile)
      touches[static_cast<size_t>(buffer.space())] = true;
  for (const ProgramStep &inner : step.inner())
    noteSpaces(inner, touches);
}

Result<void> Session::State::prepareStep(PreparedProgram &program, const fb::Step &step) {
  auto prepared = ProgramStep::prepare(step, *code, threads, executable->name());
  if (!prepared)
    return prepared.error();
  scratchBytes = std::max(scratchBytes, prepared->scratchBytes());
  tileBytes = std::max(tileBytes, prepared->tileBytes(threads));
  noteSpaces(*prepared, program.touches);
  program.steps.push_back(std::move(*prepared));
  return {};
}

ProgramMemory Session::State::memory() const {
  ProgramMemory result;
  for (size_t space = 0; space < spaceCount; ++space)
    result.spaces[space] = spaces[space].data();
  result.scratch = scratch.data(), result.scratchBytes = scratchBytes;
  result.tiles = tiles.data();
  result.threads = threads;
  return result;
}

Result<void> Session::State::prepare() {
  for (const fb::Program *source : *executable->format().programs()) {
    PreparedProgram &program = programs[source->name()->str()];
    program.source = source;
    program.touches[static_cast<size_t>(fb::Space::Arena)] = true;
    for (const auto *ports : {source->inputs(), source->outputs()})
      if (ports)
        for (const fb::Tensor *tensor : *ports)
          program.touches[static_cast<size_t>(tensor->buffer()->space())] = true;
    if (source->steps())
      for (const fb::Step *step : *source->steps())
        if (auto done = prepareStep(program, *step); !done)
          return done;
  }
  struct Space {
    Arena &memory;
    uint64_t bytes;
    const char *purpose;
  };
  for (Space each : {Space{scratch, scratchBytes * static_cast<uint64_t>(threads),
                           "the kernels' scratch memory"},
                     Space{tiles, tileBytes, "the tiles"}}) {
    auto allocated = Arena::allocate(std::max<uint64_t>(64, each.bytes), each.purpose);
    if (!allocated)
      return allocated.error();
    each.memory = std::move(*allocated);
  }
  return {};
}

Result<void> Session::State::ensureSpace(size_t space) {
  if (spaces[space])
    return {};
  if (!training && space >= static_cast<size_t>(fb::Space::Gradients) &&
      space <= static_cast<size_t>(fb::Space::Moment2))
    return Error{fmt::format("{}: {} are needed, but this session was made without training",
                             executable->name(), spaceNames[space])};
  auto allocated = Arena::allocate(spaceBytes[space], spaceNames[space]);
  if (!allocated)
    return Error{fmt::format("{}: {}", executable->name(), allocated.error().message)};
  spaces[space] = std::move(*allocated);
  return {};
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
  auto state = std::make_unique<State>();
  state->executable = executable;
  state->training = options.training;
  state->threads = options.threads > 0 ? options.threads : availableThreads();
  setThreads(state->threads);
  const fb::Executable &format = executable->format();
  auto code = CodeObject::load({format.code()->data(), format.code()->size()}, executable->name());
  if (!code)
    return code.error();
  state->code.emplace(std::move(*code));
  state->spaceBytes = {format.arena_bytes(),     format.parameter_bytes(),
                       format.parameter_bytes(), format.parameter_bytes(),
                       format.parameter_bytes(), format.constants_bytes()};
  if (auto prepared = state->prepare(); !prepared)
    return prepared.error();
  for (fb::Space space : {fb::Space::Arena, fb::Space::Parameters, fb::Space::Constants})
    if (auto done = state->ensureSpace(static_cast<size_t>(space)); !done)
      return done.error();
  if (format.constants())
    std::memcpy(state->spaces[static_cast<size_t>(fb::Space::Constants)].data(),
                format.constants()->data(), format.constants()->size());
  std::unique_ptr<Session> session(new Session(std::move(state)));
  if (executable->findProgram("setup"))
    if (auto done = session->run("setup"); !done)
      return done.error();
  return session;
}

const Executable &Session::executable() const { return *state->executable; }
int Session::threads() const { return state->threads; }

Result<void> Session::initialize(uint64_t seed) {
  for (Slot slot : {Slot::Moment1, Slot::Moment2}) {
    Arena &space = state->spaces[static_cast<size_t>(slot) + 1];
    if (space)
      std::memset(space.data(), 0, space.size());
  }
  if (!executable().findProgram("init"))
    return {};
  if (std::span<int32_t> words = inputAs<int32_t>("init", "seed"); words.size() == 2) {
    words[0] = static_cast<int32_t>(static_cast<uint32_t>(seed));
    words[1] = static_cast<int32_t>(static_cast<uint32_t>(seed >> 32));
  }
  return run("init");
}

Result<void> Session::run(std::string_view name) { return state->execute(name, nullptr); }

Result<std::vector<Session::StepTime>> Session::profile(std::string_view name) {
  std::vector<StepTime> times;
  if (auto done = state->execute(name, &times); !done)
    return done.error();
  return times;
}

Result<void> Session::State::ensureSpaces(const PreparedProgram &program) {
  for (size_t space = 0; space < spaceCount; ++space)
    if (program.touches[space])
      if (auto done = ensureSpace(space); !done)
        return done;
  return {};
}

void Session::State::keepInputs(PreparedProgram &program) {
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

void Session::State::restoreInputs(const PreparedProgram &program) {
  const std::byte *kept = program.lastInputs.data();
  if (!program.lastInputs.empty())
    for (const fb::Tensor *tensor : *program.source->inputs()) {
      std::memcpy(address(*tensor->buffer()), kept, tensor->buffer()->bytes());
      kept += tensor->buffer()->bytes();
    }
}

Result<void> Session::State::execute(std::string_view name, std::vector<StepTime> *times) {
  auto found = programs.find(name);
  if (found == programs.end())
    return Error{fmt::format("{} has no program '{}'", executable->name(), name)};
  PreparedProgram &program = found->second;
  if (auto done = ensureSpaces(program); !done)
    return done;
  keepInputs(program);
  setThreads(threads); // a setting of the calling thread, which may not be the one that made us
  ProgramMemory where = memory();
  for (const ProgramStep &step : program.steps) {
    auto start = times ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    if (auto done = step.run(where); !done)
      return Error{
          fmt::format("{}: program '{}': {}", executable->name(), name, done.error().message)};
    if (!times)
      continue;
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    times->push_back({step.source().op() ? step.source().op()->str() : "",
                      step.source().location() ? step.source().location()->str() : "",
                      elapsed.count()});
  }
  return {};
}

std::span<std::byte> Session::input(std::string_view program, std::string_view name) {
  const fb::Tensor *tensor = state->port(program, name, true);
  if (!tensor || !state->ensureSpace(static_cast<size_t>(tensor->buffer()->space())))
    return {};
  return {static_cast<std::byte *>(state->address(*tensor->buffer())), tensor->buffer()->bytes()};
}

std::span<const std::byte> Session::output(std::string_view program, std::string_view name) {
  const fb::Tensor *tensor = state->port(program, name, false);
  if (!tensor || !state->ensureSpace(static_cast<size_t>(tensor->buffer()->space())))
    return {};
  return {static_cast<const std::byte *>(state->address(*tensor->buffer())),
          tensor->buffer()->bytes()};
}

std::span<std::byte> Session::parameter(size_t index, Slot slot) {
  size_t space = static_cast<size_t>(slot) + 1; // spaces follow slots, behind the arena
  if (index >= executable().parameters().size() || !state->ensureSpace(space))
    return {};
  const ParameterInfo &info = executable().parameters()[index];
  return {state->spaces[space].data() + info.offset,
          static_cast<size_t>(info.elements() * bytesOf(info.dtype))};
}

uint64_t Session::allocatedBytes() const {
  uint64_t bytes = state->scratch.size() + state->tiles.size();
  for (const Arena &space : state->spaces)
    bytes += space.size();
  return bytes;
}

namespace {
template <typename T> bool allFinite(const std::byte *data, uint64_t bytes) {
  const T *values = reinterpret_cast<const T *>(data);
  for (uint64_t i = 0; i < bytes / sizeof(T); ++i)
    if (!std::isfinite(values[i]))
      return false;
  return true;
}

bool allFinite(const std::byte *data, uint64_t bytes, bool wide) {
  return wide ? allFinite<double>(data, bytes) : allFinite<float>(data, bytes);
}
} // namespace

std::string Session::State::nonFiniteParameter() {
  for (fb::Space space : {fb::Space::Parameters, fb::Space::Gradients}) {
    const Arena &memory = spaces[static_cast<size_t>(space)];
    if (!memory)
      continue;
    for (const ParameterInfo &info : executable->parameters())
      if ((space == fb::Space::Parameters || info.trainable) &&
          !allFinite(memory.data() + info.offset,
                     static_cast<uint64_t>(info.elements() * bytesOf(info.dtype)),
                     info.dtype == DType::F64))
        return fmt::format(
            "{} '{}'", space == fb::Space::Parameters ? "parameter" : "the gradient of", info.name);
  }
  return "";
}

std::string Session::findNonFinite(std::string_view name) {
  auto found = state->programs.find(name);
  if (found == state->programs.end() || !state->ensureSpaces(found->second))
    return "";
  PreparedProgram &program = found->second;
  // A program that changes what it starts from cannot be run again: look at what it left.
  if (program.touches[static_cast<size_t>(fb::Space::Moment1)] || name == "init" || name == "setup")
    return state->nonFiniteParameter();
  Arena &gradients = state->spaces[static_cast<size_t>(fb::Space::Gradients)];
  if (gradients)
    std::memset(gradients.data(), 0, gradients.size());
  if (std::string parameter = state->nonFiniteParameter(); !parameter.empty())
    return parameter;
  // From clean memory, whatever stops being finite does so in the step that wrote it. (Only when
  // the inputs were too large to keep is the arena left as it is: they may lie in it still.)
  if (!program.lastInputs.empty() || !program.source->inputs())
    std::memset(state->spaces[0].data(), 0, state->spaces[0].size());
  state->restoreInputs(program);
  bool wide =
      !executable().parameters().empty() && executable().parameters()[0].dtype == DType::F64;
  ProgramMemory memory = state->memory();
  std::memset(memory.tiles, 0, state->tiles.size());
  std::string culprit;
  // Runs a step; false when it fails or makes the first value that is not finite.
  auto watch = [&](const ProgramStep &step, const std::function<Result<void>()> &run) {
    const std::vector<fb::BufferRef> &buffers = step.buffers();
    std::array<bool, mostLaunchBuffers> finite{};
    auto isFinite = [&](size_t i) {
      return !buffers[i].bytes() || allFinite(memory.address(buffers[i]), buffers[i].bytes(), wide);
    };
    for (size_t i = 0; i < buffers.size(); ++i)
      finite[i] = isFinite(i); // ids such as -100 are no numbers when read as floats
    if (!run())
      return false;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (finite[i] && !isFinite(i)) {
        culprit = step.source().op() ? step.source().op()->str() : "unknown op";
        if (step.source().location() && step.source().location()->size())
          culprit += " at " + step.source().location()->str();
        return false;
      }
    return true;
  };
  for (const ProgramStep &step : program.steps) {
    bool more = true;
    auto around = [&](const ProgramStep &inner, const std::function<Result<void>()> &run) {
      return more = watch(inner, run);
    };
    if (step.inner().empty())
      more = watch(step, [&] { return step.run(memory); });
    else if (!step.runTileByTile(memory, around))
      return "";
    if (!more)
      return culprit;
  }
  return "";
}

} // namespace hybrid::rt
