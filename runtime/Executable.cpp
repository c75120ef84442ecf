//===- Executable.cpp - a verified .hyx in memory ----------------------------===//
//
// Nothing of the file is believed: structure first (flatbuffers' verifier), then identity, then
// every number against the sizes it must fit.
//
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"
#include "executable/Executable_generated.h"
#include "runtime/ExecutableVerifier.h"
#include "runtime/Trust.h"
#include "runtime/files/ElementCount.h"
#include "runtime/files/File.h"
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <xxhash.h>

namespace hybrid::rt {

template <typename T> static T loaded(std::span<const std::byte> data, size_t index) {
  T value;
  std::memcpy(&value, data.data() + index * sizeof(T), sizeof(T));
  return value;
}

double numberAt(DType type, std::span<const std::byte> data, size_t index) {
  switch (type) {
  case DType::F32:
    return loaded<float>(data, index);
  case DType::F64:
    return loaded<double>(data, index);
  case DType::I32:
    return loaded<int32_t>(data, index);
  case DType::BF16:
    return std::bit_cast<float>(uint32_t{loaded<uint16_t>(data, index)} << 16);
  }
  return 0;
}

int64_t bytesOf(DType type) {
  switch (type) {
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::F64:
    return 8;
  case DType::BF16:
    return 2;
  }
  return 0;
}

std::string_view nameOf(DType type) {
  switch (type) {
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  case DType::I32:
    return "i32";
  case DType::BF16:
    return "bf16";
  }
  return "unknown";
}

int64_t TensorInfo::elements() const { return elementCount(shape); }

std::string TensorInfo::shapeText() const { return fmt::format("[{}]", fmt::join(shape, ", ")); }

namespace {

// Flatbuffers counts with 31 bits, and its verifier asserts that it is given no more.
constexpr uint64_t mostFileBytes = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

template <typename Info, typename Table> Info describe(const Table &table) {
  Info info;
  info.name = table.name()->str();
  if (table.shape())
    info.shape.assign(table.shape()->begin(), table.shape()->end());
  info.dtype = static_cast<DType>(table.dtype());
  return info;
}

std::vector<TensorInfo>
describePorts(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *ports) {
  std::vector<TensorInfo> infos;
  if (ports)
    for (const fb::Tensor *tensor : *ports) {
      infos.push_back(describe<TensorInfo>(*tensor));
      infos.back().differentiable = tensor->differentiable();
    }
  return infos;
}

} // namespace

Executable::~Executable() = default;

Result<std::shared_ptr<const Executable>> Executable::load(const std::string &path, Trust trust) {
  auto bytes = readFile(path, mostFileBytes);
  if (!bytes)
    return bytes.error();
  if (auto fault = notExecutable(*bytes); !fault.empty())
    return Error{path + ": " + fault};
  std::string fault;
  auto seal = checkSeal(*bytes, fault);
  if (!seal)
    return Error{path + ": " + fault};
  bytes->resize(bytes->size() - sealBytes);
  auto loaded = parse(std::move(*bytes), path);
  if (!loaded)
    return loaded.error();
  Executable &executable = **loaded;
  executable.fileSeal = *seal;
  std::string keyFault;
  if (trust == Trust::ByKey && !isTrusted(*seal, keyFault))
    executable.distrust = keyFault.empty() ? "this user's hybridc did not make it" : keyFault;
  return std::shared_ptr<const Executable>(*loaded);
}

Result<void> Executable::checkTrusted() const {
  if (distrust.empty())
    return {};
  return Error{fmt::format("{}: its machine code is not run: {}; compile the model here, or say "
                           "--trust once if you trust who made this file",
                           fileName, distrust)};
}

/// What these bytes are when they are no executable at all; otherwise empty.
std::string Executable::notExecutable(std::span<const std::byte> bytes) {
  if (bytes.size() < 16)
    return fmt::format("truncated: {} bytes are too few for an executable", bytes.size());
  if (!fb::ExecutableBufferHasIdentifier(bytes.data()))
    return "not a compiled model: the mark of a .hyx file is missing at byte 4";
  return "";
}

Result<std::shared_ptr<const Executable>> Executable::fromBytes(std::vector<std::byte> bytes,
                                                                const std::string &name) {
  auto parsed = parse(std::move(bytes), name);
  if (!parsed)
    return parsed.error();
  return std::shared_ptr<const Executable>(*parsed);
}

Result<std::shared_ptr<Executable>> Executable::parse(std::vector<std::byte> bytes,
                                                      const std::string &name) {
  auto refuse = [&](const std::string &why) { return Error{name + ": " + why}; };
  if (bytes.size() > mostFileBytes)
    return refuse("too large for an executable");
  if (std::string fault = notExecutable(bytes); !fault.empty())
    return refuse(fault);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(),
                                 /*max_depth=*/16, /*max_tables=*/4'000'000);
  if (!fb::VerifyExecutableBuffer(verifier))
    return refuse(fmt::format("truncated or corrupt: its structure does not fit its {} bytes; copy "
                              "it or compile the model again",
                              bytes.size()));
  std::shared_ptr<Executable> executable(new Executable());
  executable->fileName = name;
  executable->bytes = std::move(bytes);
  executable->root = fb::GetExecutable(executable->bytes.data());
  if (auto sound = verifyExecutable(*executable->root); !sound)
    return refuse(sound.error().message);
  for (auto [table, list] : {std::pair(executable->root->parameters(), &executable->parameterTable),
                             std::pair(executable->root->states(), &executable->stateTable)})
    for (flatbuffers::uoffset_t i = 0; table && i < table->size(); ++i) {
      const fb::Parameter *parameter = table->Get(i);
      auto info = describe<ParameterInfo>(*parameter);
      info.offset = parameter->offset();
      info.trainable = parameter->trainable();
      info.decay = parameter->decay();
      info.lrScale = parameter->lr_scale();
      list->push_back(std::move(info));
    }
  for (const fb::Program *program : *executable->root->programs())
    executable->programTable.push_back({program->name()->str(), describePorts(program->inputs()),
                                        describePorts(program->outputs()), program->pause() > 0});
  return executable;
}

int64_t Executable::replicas() const { return root->replicas(); }

static const TensorInfo *find(const std::vector<TensorInfo> &tensors, std::string_view name) {
  for (const TensorInfo &tensor : tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

const TensorInfo *ProgramInfo::findInput(std::string_view name) const { return find(inputs, name); }
const TensorInfo *ProgramInfo::findOutput(std::string_view name) const {
  return find(outputs, name);
}

Result<void> Executable::checkDevice(std::string_view device) const {
  const std::string_view has = root->target()->device()->string_view();
  if (!device.empty() && has != device)
    return Error{fmt::format("{} was compiled for the device '{}', but '{}' is asked for: compile "
                             "it with --target={}",
                             fileName, has, device, device)};
  return {};
}

bool isBehindPause(std::string_view port) {
  return port.starts_with("cotangent.") || port.starts_with("grad.");
}

const ProgramInfo *Executable::findProgram(std::string_view name) const {
  for (const ProgramInfo &program : programTable)
    if (program.name == name)
      return &program;
  return nullptr;
}

uint64_t Executable::fingerprint() const {
  return root->fingerprint() ? root->fingerprint() : XXH3_64bits(bytes.data(), bytes.size());
}

} // namespace hybrid::rt
