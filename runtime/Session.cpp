//===- Session.cpp - an executable with its memory, ready to run --------------===//
#include "runtime/Session.h"
#include "codegen/Executable_generated.h"
#include "runtime/ExecutableVerifier.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CodeObject.h"
#include "runtime/cpu/Matmul.h"
#include "runtime/cpu/Parallel.h"
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

/// A step with its code found and its buffers described, ready for any base addresses.
struct PreparedStep {
  const fb::Step *source = nullptr;
  KernelFunction kernel = nullptr;
  int64_t grid = 0;
  std::vector<fb::BufferRef> buffers; // of a launch; of a product a, b, c, bias or offsets
  std::unique_ptr<Matmul> product;
};

struct PreparedProgram {
  const fb::Program *source = nullptr;
  std::vector<PreparedStep> steps;
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
  Arena scratch;
  uint64_t scratchBytes = 0; // a thread
  int threads = 1;
  bool training = true;
  std::map<std::string, PreparedProgram, std::less<>> programs;

  Result<void> prepare();
  Result<void> prepareStep(PreparedProgram &program, const fb::Step &step);
  Result<void> ensureSpace(size_t space);
  void *address(const fb::BufferRef &buffer) const {
    return buffer.bytes() ? spaces[static_cast<size_t>(buffer.space())].data() + buffer.offset()
                          : nullptr;
  }
  Result<void> runStep(PreparedStep &step);
  Result<void> ensureSpaces(const PreparedProgram &program);
  void keepInputs(PreparedProgram &program);
  void restoreInputs(const PreparedProgram &program);
  std::string nonFiniteParameter();
  Result<void> execute(std::string_view program, std::vector<StepTime> *times);
  const fb::Tensor *port(std::string_view program, std::string_view name, bool input) const;
};

Result<void> Session::State::prepareStep(PreparedProgram &program, const fb::Step &step) {
  PreparedStep prepared;
  prepared.source = &step;
  if (const auto *launch = step.operation_as_KernelLaunch()) {
    prepared.kernel = code->find(launch->symbol()->c_str());
    if (!prepared.kernel)
      return Error{fmt::format("{}: its code has no kernel '{}'", executable->name(),
                               launch->symbol()->string_view())};
    prepared.grid = launch->grid();
    if (launch->buffers())
      for (const fb::BufferRef *buffer : *launch->buffers())
        prepared.buffers.push_back(*buffer);
    scratchBytes = std::max<uint64_t>(scratchBytes, (launch->scratch_bytes() + 63) / 64 * 64);
  } else {
    const auto *product = step.operation_as_Matmul();
    MatmulShape shape{product->m(),
                      product->n(),
                      product->k(),
                      product->lda(),
                      product->ldb(),
                      product->ldc(),
                      product->transpose_a(),
                      product->transpose_b(),
                      product->accumulate(),
                      product->bias() != nullptr,
                      static_cast<DType>(product->dtype()),
                      product->batch(),
                      product->batch_stride_a(),
                      product->batch_stride_b(),
                      product->batch_stride_c(),
                      product->offsets() != nullptr};
    auto created = Matmul::create(shape);
    if (!created)
      return Error{fmt::format("{}: {}", executable->name(), created.error().message)};
    prepared.product = std::move(*created);
    prepared.buffers = {*product->a(), *product->b(), *product->c()};
    for (const fb::BufferRef *extra : {product->bias(), product->offsets()})
      if (extra)
        prepared.buffers.push_back(*extra);
  }
  for (const fb::BufferRef &buffer : prepared.buffers)
    if (buffer.bytes())
      program.touches[static_cast<size_t>(buffer.space())] = true;
  program.steps.push_back(std::move(prepared));
  return {};
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
  auto allocated =
      Arena::allocate(std::max<uint64_t>(64, scratchBytes * static_cast<uint64_t>(threads)),
                      "the kernels' scratch memory");
  if (!allocated)
    return allocated.error();
  scratch = std::move(*allocated);
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

Result<void> Session::State::runStep(PreparedStep &step) {
  if (step.product)
    return step.product->run(address(step.buffers[0]), address(step.buffers[1]),
                             address(step.buffers[2]),
                             step.buffers.size() > 3 ? address(step.buffers[3]) : nullptr);
  std::array<void *, mostLaunchBuffers> pointers;
  for (size_t i = 0; i < step.buffers.size(); ++i)
    pointers[i] = address(step.buffers[i]);
  parallelFor(step.grid, threads, [&](int64_t lo, int64_t hi, int thread) {
    step.kernel(lo, hi, pointers.data(),
                scratch.data() + static_cast<uint64_t>(thread) * scratchBytes);
  });
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
  for (PreparedStep &step : program.steps) {
    auto start = times ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    if (auto done = runStep(step); !done)
      return Error{
          fmt::format("{}: program '{}': {}", executable->name(), name, done.error().message)};
    if (!times)
      continue;
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    times->push_back({step.source->op() ? step.source->op()->str() : "",
                      step.source->location() ? step.source->location()->str() : "",
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
  uint64_t bytes = state->scratch.size();
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
  for (PreparedStep &step : program.steps) {
    std::array<bool, mostLaunchBuffers> finite{};
    auto isFinite = [&](size_t i) {
      const fb::BufferRef &buffer = step.buffers[i];
      return !buffer.bytes() ||
             allFinite(static_cast<std::byte *>(state->address(buffer)), buffer.bytes(), wide);
    };
    for (size_t i = 0; i < step.buffers.size(); ++i)
      finite[i] = isFinite(i); // ids such as -100 are no numbers when read as floats
    if (!state->runStep(step))
      return "";
    for (size_t i = 0; i < step.buffers.size(); ++i)
      if (finite[i] && !isFinite(i)) {
        std::string op = step.source->op() ? step.source->op()->str() : "unknown op";
        std::string at = step.source->location() ? step.source->location()->str() : "";
        return at.empty() ? op : op + " at " + at;
      }
  }
  return "";
}

} // namespace hybrid::rt
