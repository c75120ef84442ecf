//===- CInterface.cpp - hybrid.h over sessions --------------------------------===//
#include "executable/Executable_generated.h"
#include "runtime/Decoder.h"
#include "runtime/InputIds.h"
#include "runtime/Optimizer.h"
#include "runtime/Session.h"
#include "runtime/cuda/Gpu.h"
#include "runtime/hybrid.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace hybrid::rt;

static_assert(HYBRID_F32 == static_cast<int>(DType::F32) &&
              HYBRID_F64 == static_cast<int>(DType::F64) &&
              HYBRID_I32 == static_cast<int>(DType::I32) &&
              HYBRID_BF16 == static_cast<int>(DType::BF16));

static_assert(HYBRID_PARAMETER == static_cast<int>(Session::Slot::Parameter) &&
              HYBRID_GRADIENT == static_cast<int>(Session::Slot::Gradient) &&
              HYBRID_MOMENT1 == static_cast<int>(Session::Slot::Moment1) &&
              HYBRID_MOMENT2 == static_cast<int>(Session::Slot::Moment2));

struct hybrid_executable {
  std::shared_ptr<const Executable> executable;
};
struct hybrid_device {
  std::string kind;
  int threads = 0;
};
struct hybrid_session {
  std::unique_ptr<Session> session;
};
struct hybrid_decoder {
  Decoder decoder;
};

namespace {

char *told(const std::string &message) { return strdup(message.c_str()); }
char *told(const Result<void> &result) { return result ? nullptr : told(result.error().message); }

char *describe(const TensorInfo &tensor, hybrid_tensor_info *info) {
  *info = {tensor.name.c_str(), static_cast<hybrid_type>(tensor.dtype), tensor.shape.size(),
           tensor.shape.data(), static_cast<size_t>(tensor.elements() * bytesOf(tensor.dtype))};
  return nullptr;
}

using Ports = std::vector<TensorInfo> ProgramInfo::*;

size_t portCount(const hybrid_executable *executable, const char *name, Ports ports) {
  const ProgramInfo *program = executable->executable->findProgram(name);
  return program ? (program->*ports).size() : 0;
}

char *portInfo(const hybrid_executable *handle, const char *name, size_t index, Ports ports,
               hybrid_tensor_info *info) {
  const Executable &executable = *handle->executable;
  const ProgramInfo *program = executable.findProgram(name);
  if (!program)
    return told(fmt::format("{} has no program '{}'", executable.name(), name));
  if (index >= (program->*ports).size())
    return told(fmt::format("program '{}' of {} has {} {}, and none of index {}", name,
                            executable.name(), (program->*ports).size(),
                            ports == &ProgramInfo::inputs ? "inputs" : "outputs", index));
  return describe((program->*ports)[index], info);
}

Result<void> checkSize(const char *what, const char *name, size_t given, size_t wanted) {
  if (given != wanted)
    return Error{fmt::format("{} '{}' has {} bytes, but {} are given", what, name, wanted, given)};
  return {};
}

/// Whether a port is of the part of a program that runs.
bool isIn(Part part, std::string_view port) {
  return part == Part::Whole || isBehindPause(port) == (part == Part::AfterPause);
}

const char *nameOf(Part part) {
  return part == Part::Whole         ? ""
         : part == Part::BeforePause ? " before its pause"
                                     : " behind its pause";
}

/// That each tensor given is a port of the program's part, once, and has its size.
Result<void> checkPorts(const ProgramInfo &program, Ports ports, const char *what,
                        std::span<const hybrid_tensor> given, Part part = Part::Whole) {
  for (size_t i = 0; i < given.size(); ++i) {
    const TensorInfo *port = nullptr;
    for (const TensorInfo &candidate : program.*ports)
      if (candidate.name == given[i].name && isIn(part, candidate.name))
        port = &candidate;
    if (!port)
      return Error{fmt::format("program '{}' has no {} '{}'{}", program.name, what, given[i].name,
                               nameOf(part))};
    for (size_t j = 0; j < i; ++j)
      if (port->name == given[j].name)
        return Error{fmt::format("{} '{}' is given twice", what, port->name)};
    if (auto done = checkSize(what, given[i].name, given[i].bytes,
                              static_cast<size_t>(port->elements() * bytesOf(port->dtype)));
        !done)
      return done;
  }
  return {};
}

/// The program's inputs of this part, as they are given: all of them, sound.
Result<std::vector<const hybrid_tensor *>> soundInputs(Session &session, const ProgramInfo &program,
                                                       std::span<const hybrid_tensor> inputs,
                                                       Part part = Part::Whole) {
  if (auto done = checkPorts(program, &ProgramInfo::inputs, "input", inputs, part); !done)
    return done.error();
  std::vector<const hybrid_tensor *> found;
  for (const TensorInfo &input : program.inputs) {
    if (!isIn(part, input.name))
      continue;
    const hybrid_tensor *given = nullptr;
    for (const hybrid_tensor &tensor : inputs)
      if (input.name == tensor.name)
        given = &tensor;
    if (!given)
      return Error{fmt::format("input '{}' {} of program '{}' is not given", input.name,
                               input.shapeText(), program.name)};
    const std::span data(static_cast<const std::byte *>(given->data), given->bytes);
    if (auto sound = checkIds(session.executable(), program.name, input.name, data, input.shape);
        !sound)
      return sound.error();
    found.push_back(given);
  }
  return found;
}

std::span<std::byte> memoryOf(const hybrid_tensor &tensor) {
  return {static_cast<std::byte *>(tensor.data), tensor.bytes};
}

Result<void> fillInput(Session &session, const ProgramInfo &program, const hybrid_tensor &given) {
  std::span<std::byte> memory = session.input(program.name, given.name);
  if (memory.size() != given.bytes)
    return Error{fmt::format("no memory for the input '{}'", given.name)};
  std::memcpy(memory.data(), given.data, given.bytes);
  return {};
}

/// Copies inputs to where they stay behind the run.
Result<void> fillInputs(Session &session, const ProgramInfo &program,
                        std::span<const hybrid_tensor> inputs) {
  auto given = soundInputs(session, program, inputs);
  if (!given)
    return given.error();
  for (const hybrid_tensor *input : *given)
    if (auto done = fillInput(session, program, *input); !done)
      return done;
  return {};
}

/// Runs a program, or a part of one, on the caller's memory where it can.
Result<void> run(Session &session, std::string_view name, std::span<const hybrid_tensor> inputs,
                 std::span<const hybrid_tensor> outputs, Part part = Part::Whole) {
  const ProgramInfo *program = session.executable().findProgram(name);
  if (!program)
    return Error{fmt::format("{} has no program '{}'", session.executable().name(), name)};
  if (auto done = checkPorts(*program, &ProgramInfo::outputs, "output", outputs, part); !done)
    return done;
  auto given = soundInputs(session, *program, inputs, part);
  if (!given)
    return given.error();
  for (const hybrid_tensor *input : *given)
    if (!session.lendInput(name, input->name, memoryOf(*input)))
      if (auto done = fillInput(session, *program, *input); !done)
        return done;
  std::vector<const hybrid_tensor *> copied;
  for (const hybrid_tensor &output : outputs)
    if (!session.lendOutput(name, output.name, memoryOf(output)))
      copied.push_back(&output);
  if (auto done = session.runPart(name, part); !done)
    return done;
  for (const hybrid_tensor *each : copied) {
    const hybrid_tensor &output = *each;
    std::span<const std::byte> memory = session.output(name, output.name);
    if (memory.size() != output.bytes)
      return Error{fmt::format("the output '{}' could not be read", output.name)};
    std::memcpy(output.data, memory.data(), memory.size());
  }
  return {};
}

Result<double> trainStep(Session &session, std::span<const hybrid_tensor> inputs,
                         const hybrid_hyper &hyper) {
  if (auto done = checkUpdateProgram(session); !done)
    return done.error();
  const ProgramInfo *train = session.executable().findProgram("train");
  if (!train)
    return Error{fmt::format("{} has no program 'train'", session.executable().name())};
  // Inputs are copied: where a loss is not finite, the step is walked once more.
  if (auto done = fillInputs(session, *train, inputs); !done)
    return done.error();
  if (auto done = session.run("train"); !done)
    return done.error();
  const TensorInfo *loss = train->findOutput("loss");
  if (!loss)
    return Error{
        fmt::format("{}: program 'train' has no output 'loss'", session.executable().name())};
  const double value = numberAt(loss->dtype, session.output("train", "loss"), 0);
  if (!std::isfinite(value)) {
    // Inputs do not stay.
    auto filled = fillInputs(session, *train, inputs);
    const std::string source = filled ? session.findNonFinite("train") : "";
    return Error{fmt::format("the loss is {}{}", value,
                             source.empty() ? "" : "; first not finite in " + source)};
  }
  auto norm = updateParameters(session, {hyper.learning_rate, hyper.weight_decay, hyper.beta1,
                                         hyper.beta2, hyper.epsilon, hyper.clip, hyper.step});
  if (!norm)
    return norm.error();
  return value;
}

/// The bytes of a parameter, or of what is kept beside it; an error for an index or a slot that is
/// none, and for another size.
Result<std::span<const std::byte>> parameterOf(Session &session, hybrid_slot slot, size_t index,
                                               size_t bytes) {
  const auto &parameters = session.executable().parameters();
  if (index >= parameters.size())
    return Error{fmt::format("{} has {} parameters, and none of index {}",
                             session.executable().name(), parameters.size(), index)};
  if (slot < HYBRID_PARAMETER || slot > HYBRID_MOMENT2)
    return Error{fmt::format("{} is no slot of a parameter: expected {} to {}",
                             static_cast<int>(slot), static_cast<int>(HYBRID_PARAMETER),
                             static_cast<int>(HYBRID_MOMENT2))};
  std::span<const std::byte> memory = session.parameter(index, static_cast<Session::Slot>(slot));
  if (auto done = checkSize("parameter", parameters[index].name.c_str(), bytes, memory.size());
      !done)
    return done.error();
  return memory;
}

/// That none of several is refused, before any is written.
char *checkSlots(Session &session, hybrid_slot slot, const void *const *data, const size_t *bytes,
                 size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (data[i])
      if (auto memory = parameterOf(session, slot, i, bytes[i]); !memory)
        return told(memory.error().message);
  return nullptr;
}

} // namespace

int hybrid_api_version(void) { return HYBRID_API_VERSION; }
void hybrid_error_free(char *error) { std::free(error); }

static char *load(const char *path, Trust trust, hybrid_executable **executable) {
  auto loaded = Executable::load(path, trust);
  if (!loaded)
    return told(loaded.error().message);
  *executable = new hybrid_executable{std::move(*loaded)};
  return nullptr;
}

char *hybrid_executable_load(const char *path, hybrid_executable **executable) {
  return load(path, Trust::ByKey, executable);
}

char *hybrid_executable_load_trusted(const char *path, hybrid_executable **executable) {
  return load(path, Trust::Given, executable);
}

void hybrid_executable_close(hybrid_executable *executable) { delete executable; }

const char *hybrid_executable_device(const hybrid_executable *executable) {
  return executable->executable->format().target()->device()->c_str();
}

size_t hybrid_parameter_count(const hybrid_executable *executable) {
  return executable->executable->parameters().size();
}

char *hybrid_parameter_info(const hybrid_executable *executable, size_t index,
                            hybrid_tensor_info *info) {
  const auto &parameters = executable->executable->parameters();
  if (index >= parameters.size())
    return told(fmt::format("{} has {} parameters, and none of index {}",
                            executable->executable->name(), parameters.size(), index));
  return describe(parameters[index], info);
}

int hybrid_parameter_is_trained(const hybrid_executable *executable, size_t index) {
  const auto &parameters = executable->executable->parameters();
  return index < parameters.size() && parameters[index].trainable;
}

size_t hybrid_program_count(const hybrid_executable *executable) {
  return executable->executable->programs().size();
}

const char *hybrid_program_name(const hybrid_executable *executable, size_t index) {
  const auto &programs = executable->executable->programs();
  return index < programs.size() ? programs[index].name.c_str() : nullptr;
}

size_t hybrid_input_count(const hybrid_executable *executable, const char *program) {
  return portCount(executable, program, &ProgramInfo::inputs);
}

char *hybrid_input_info(const hybrid_executable *executable, const char *program, size_t index,
                        hybrid_tensor_info *info) {
  return portInfo(executable, program, index, &ProgramInfo::inputs, info);
}

size_t hybrid_output_count(const hybrid_executable *executable, const char *program) {
  return portCount(executable, program, &ProgramInfo::outputs);
}

char *hybrid_output_info(const hybrid_executable *executable, const char *program, size_t index,
                         hybrid_tensor_info *info) {
  return portInfo(executable, program, index, &ProgramInfo::outputs, info);
}

char *hybrid_device_open(const char *kind, int threads, hybrid_device **device) {
  const std::string_view name = kind;
  if (name == "cuda") {
    auto gpu = cuda::firstGpu();
    if (!gpu)
      return told(gpu.error().message);
  } else if (name != "cpu") {
    return told(fmt::format("'{}' is no device: expected cpu or cuda", name));
  }
  *device = new hybrid_device{kind, threads};
  return nullptr;
}

void hybrid_device_close(hybrid_device *device) { delete device; }

char *hybrid_session_create(const hybrid_executable *executable, const hybrid_device *device,
                            hybrid_session **session) {
  if (auto done = executable->executable->checkDevice(device->kind); !done)
    return told(done);
  if (executable->executable->replicas() != 1)
    return told(fmt::format("{} was compiled for {} replicas: compile it without --ensemble",
                            executable->executable->name(), executable->executable->replicas()));
  auto created = Session::create(executable->executable, {device->threads});
  if (!created)
    return told(created.error().message);
  *session = new hybrid_session{std::move(*created)};
  return nullptr;
}

void hybrid_session_close(hybrid_session *session) { delete session; }

char *hybrid_session_initialize(hybrid_session *session, uint64_t seed) {
  return told(session->session->initialize(seed));
}

char *hybrid_slot_get(hybrid_session *session, hybrid_slot slot, size_t index, void *data,
                      size_t bytes) {
  auto memory = parameterOf(*session->session, slot, index, bytes);
  if (!memory)
    return told(memory.error().message);
  std::memcpy(data, memory->data(), bytes);
  return nullptr;
}

char *hybrid_slot_set(hybrid_session *session, hybrid_slot slot, size_t index, const void *data,
                      size_t bytes) {
  if (auto memory = parameterOf(*session->session, slot, index, bytes); !memory)
    return told(memory.error().message);
  return told(session->session->setParameter(index, {static_cast<const std::byte *>(data), bytes},
                                             static_cast<Session::Slot>(slot)));
}

char *hybrid_slots_get(hybrid_session *session, hybrid_slot slot, void *const *data,
                       const size_t *bytes, size_t count) {
  if (char *error = checkSlots(*session->session, slot, data, bytes, count))
    return error;
  for (size_t i = 0; i < count; ++i)
    if (data[i])
      if (char *error = hybrid_slot_get(session, slot, i, data[i], bytes[i]))
        return error;
  return nullptr;
}

char *hybrid_slots_set(hybrid_session *session, hybrid_slot slot, const void *const *data,
                       const size_t *bytes, size_t count) {
  if (char *error = checkSlots(*session->session, slot, data, bytes, count))
    return error;
  for (size_t i = 0; i < count; ++i)
    if (data[i])
      if (char *error = hybrid_slot_set(session, slot, i, data[i], bytes[i]))
        return error;
  return nullptr;
}

char *hybrid_parameter_get(hybrid_session *session, size_t index, void *data, size_t bytes) {
  return hybrid_slot_get(session, HYBRID_PARAMETER, index, data, bytes);
}

char *hybrid_parameter_set(hybrid_session *session, size_t index, const void *data, size_t bytes) {
  return hybrid_slot_set(session, HYBRID_PARAMETER, index, data, bytes);
}

char *hybrid_session_run(hybrid_session *session, const char *program, const hybrid_tensor *inputs,
                         size_t input_count, const hybrid_tensor *outputs, size_t output_count) {
  return told(run(*session->session, program, {inputs, input_count}, {outputs, output_count}));
}

int hybrid_program_pauses(const hybrid_executable *executable, const char *program) {
  const ProgramInfo *found = executable->executable->findProgram(program);
  return found && found->pauses &&
         executable->executable->format().target()->device()->string_view() == "cpu";
}

char *hybrid_session_run_to_pause(hybrid_session *session, const char *program,
                                  const hybrid_tensor *inputs, size_t input_count,
                                  const hybrid_tensor *outputs, size_t output_count) {
  return told(run(*session->session, program, {inputs, input_count}, {outputs, output_count},
                  Part::BeforePause));
}

char *hybrid_session_resume(hybrid_session *session, const char *program,
                            const hybrid_tensor *inputs, size_t input_count,
                            const hybrid_tensor *outputs, size_t output_count) {
  return told(run(*session->session, program, {inputs, input_count}, {outputs, output_count},
                  Part::AfterPause));
}

char *hybrid_session_train_step(hybrid_session *session, const hybrid_tensor *inputs,
                                size_t input_count, const hybrid_hyper *hyper, double *loss) {
  auto value = trainStep(*session->session, {inputs, input_count}, *hyper);
  if (!value)
    return told(value.error().message);
  if (loss)
    *loss = *value;
  return nullptr;
}

char *hybrid_decoder_create(hybrid_session *session, hybrid_decoder **decoder) {
  auto created = Decoder::create(*session->session);
  if (!created)
    return told(created.error().message);
  *decoder = new hybrid_decoder{std::move(*created)};
  return nullptr;
}

void hybrid_decoder_close(hybrid_decoder *decoder) { delete decoder; }

size_t hybrid_decoder_rows(const hybrid_decoder *decoder) {
  return static_cast<size_t>(decoder->decoder.rows());
}

size_t hybrid_decoder_vocabulary(const hybrid_decoder *decoder) {
  return static_cast<size_t>(decoder->decoder.vocabulary());
}

size_t hybrid_decoder_position(const hybrid_decoder *decoder) {
  return static_cast<size_t>(decoder->decoder.position());
}

char *hybrid_decoder_take(hybrid_decoder *decoder, const int32_t *tokens, size_t count) {
  return told(decoder->decoder.take({tokens, count * hybrid_decoder_rows(decoder)}));
}

char *hybrid_decoder_logits(hybrid_decoder *decoder, size_t row, double *logits) {
  return told(decoder->decoder.logits(static_cast<int64_t>(row),
                                      {logits, hybrid_decoder_vocabulary(decoder)}));
}

char *hybrid_decoder_restart(hybrid_decoder *decoder) { return told(decoder->decoder.restart()); }

char *hybrid_decoder_remember(hybrid_decoder *decoder, size_t count) {
  return told(decoder->decoder.remember(static_cast<int64_t>(count)));
}

char *hybrid_decoder_take_back(hybrid_decoder *decoder, size_t count) {
  return told(decoder->decoder.takeBack(static_cast<int64_t>(count)));
}
