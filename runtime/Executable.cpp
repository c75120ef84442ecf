//===- Executable.cpp - a verified .hyx in memory ----------------------------===//
//
// Nothing of the file is believed: structure first (flatbuffers' verifier), then identity, then
// every number against the sizes it must fit.
//
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"
#include "codegen/Executable_generated.h"
#include "runtime/CpuFeatures.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>
#include <xxhash.h>

namespace hybrid::rt {

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

int64_t TensorInfo::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string TensorInfo::shapeText() const { return fmt::format("[{}]", fmt::join(shape, ", ")); }

namespace {

constexpr uint64_t largestSpace = uint64_t(1) << 40;
constexpr uint32_t supportedMajor = 1;

/// Finds the first fault, in words.
class Verification {
public:
  explicit Verification(const fb::Executable &executable) : executable(executable) {}

  /// Empty when all is well.
  std::string run() {
    if (executable.version_major() != supportedMajor)
      return fmt::format("format version {}, but this program reads version {}: compile the model "
                         "again with the matching hybridc",
                         executable.version_major(), supportedMajor);
    const auto *code = executable.code();
    if (!code || code->size() == 0)
      return "it holds no code";
    if (XXH3_64bits(code->data(), code->size()) != executable.code_hash())
      return "its code is damaged (the hash does not match): compile or copy it again";
    if (std::string fault = checkTarget(); !fault.empty())
      return fault;
    for (auto [name, bytes] : {std::pair("the arena", executable.arena_bytes()),
                               std::pair("the parameters", executable.parameter_bytes()),
                               std::pair("the constants", executable.constants_bytes())})
      if (bytes > largestSpace)
        return fmt::format("{} would take {} bytes, which is beyond any sense", name, bytes);
    if (executable.constants() && executable.constants()->size() > executable.constants_bytes())
      return "its constants do not fit the space declared for them";
    if (std::string fault = checkParameters(); !fault.empty())
      return fault;
    return checkPrograms();
  }

private:
  std::string checkTarget() {
    const fb::Target *target = executable.target();
    if (target->device()->string_view() != "cpu")
      return fmt::format("it is for device '{}', which this program cannot run",
                         target->device()->string_view());
    std::vector<std::string> missing;
    if (target->features())
      for (const auto *feature : *target->features())
        if (!feature || !hasCpuFeature(feature->string_view()))
          missing.push_back(feature ? feature->str() : "?");
    if (!missing.empty())
      return fmt::format("it needs CPU features that this machine lacks: {}; compile it here, or "
                         "with --target=cpu:x86-64-v3 or cpu:x86-64-v2",
                         fmt::join(missing, ", "));
    return "";
  }

  /// Bytes of a tensor, or nothing when its shape or type is senseless.
  static std::optional<uint64_t> sizeOf(const flatbuffers::Vector<int64_t> *shape,
                                        fb::DType dtype) {
    if (dtype > fb::DType::BF16)
      return std::nullopt;
    uint64_t bytes = static_cast<uint64_t>(bytesOf(static_cast<DType>(dtype)));
    if (shape) {
      if (shape->size() > 16)
        return std::nullopt;
      for (int64_t size : *shape)
        if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) ||
            bytes > largestSpace)
          return std::nullopt;
    }
    return bytes;
  }

  std::string checkParameters() {
    if (!executable.parameters())
      return "";
    std::unordered_set<std::string_view> names;
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const fb::Parameter *parameter : *executable.parameters()) {
      std::string_view name = parameter->name()->string_view();
      if (!names.insert(name).second)
        return fmt::format("parameter '{}' appears twice", name);
      auto bytes = sizeOf(parameter->shape(), parameter->dtype());
      if (!bytes)
        return fmt::format("parameter '{}' has a senseless shape or type", name);
      uint64_t end = 0;
      if (parameter->offset() % 64 || __builtin_add_overflow(parameter->offset(), *bytes, &end) ||
          end > executable.parameter_bytes())
        return fmt::format("parameter '{}' lies outside of the parameter space", name);
      ranges.push_back({parameter->offset(), end});
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i)
      if (ranges[i].first < ranges[i - 1].second)
        return "two parameters overlap";
    return "";
  }

  uint64_t spaceBytes(fb::Space space, const fb::Program &program) const {
    switch (space) {
    case fb::Space::Arena:
      return program.arena_bytes();
    case fb::Space::Constants:
      return executable.constants_bytes();
    default:
      return executable.parameter_bytes();
    }
  }

  bool inside(const fb::BufferRef *buffer, const fb::Program &program) const {
    if (!buffer || buffer->space() > fb::Space::Constants)
      return false;
    uint64_t end = 0;
    return buffer->offset() % 4 == 0 &&
           !__builtin_add_overflow(buffer->offset(), buffer->bytes(), &end) &&
           end <= spaceBytes(buffer->space(), program);
  }

  std::string checkPorts(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *ports,
                         const fb::Program &program, const char *what) {
    if (!ports)
      return "";
    std::unordered_set<std::string_view> names;
    for (const fb::Tensor *tensor : *ports) {
      std::string_view name = tensor->name()->string_view();
      if (!names.insert(name).second)
        return fmt::format("{} '{}' appears twice", what, name);
      auto bytes = sizeOf(tensor->shape(), tensor->dtype());
      if (!bytes || !inside(tensor->buffer(), program) || tensor->buffer()->bytes() != *bytes)
        return fmt::format("{} '{}' has a senseless shape or lies outside of its space", what,
                           name);
    }
    return "";
  }

  /// Whether a matrix of rows x columns with this leading dimension fits in a buffer.
  static bool fits(const fb::BufferRef *buffer, int64_t rows, int64_t columns, int64_t leading,
                   int64_t batch, int64_t batchStride, uint64_t element) {
    constexpr int64_t limit = int64_t(1) << 40;
    if (rows < 1 || columns < 1 || leading < columns || batch < 1 || rows > limit ||
        leading > limit || batch > limit || batchStride < 0 || batchStride > limit)
      return false;
    __int128 last = static_cast<__int128>(batch - 1) * batchStride +
                    static_cast<__int128>(rows - 1) * leading + columns;
    return last * element <= buffer->bytes();
  }

  std::string checkStep(const fb::Step &step, const fb::Program &program) {
    if (const auto *launch = step.operation_as_KernelLaunch()) {
      if (launch->grid() < 1 || launch->grid() > (int64_t(1) << 48))
        return "a launch has no work items";
      if (launch->scratch_bytes() > largestSpace)
        return "a launch asks for senseless scratch memory";
      if (launch->buffers()) {
        if (launch->buffers()->size() > 256)
          return "a launch has too many buffers";
        for (const fb::BufferRef *buffer : *launch->buffers())
          if (!inside(buffer, program))
            return fmt::format("a buffer of '{}' lies outside of its space",
                               launch->symbol()->string_view());
      }
      return "";
    }
    const auto *product = step.operation_as_Matmul();
    if (!product)
      return "a step is of an unknown kind";
    if (product->dtype() != fb::DType::F32 && product->dtype() != fb::DType::F64)
      return "a matrix product has an unsupported element type";
    for (const fb::BufferRef *buffer : {product->a(), product->b(), product->c()})
      if (!inside(buffer, program))
        return "an operand of a matrix product lies outside of its space";
    uint64_t element = static_cast<uint64_t>(bytesOf(static_cast<DType>(product->dtype())));
    int64_t m = product->m(), n = product->n(), k = product->k();
    bool operands =
        fits(product->a(), product->transpose_a() ? k : m, product->transpose_a() ? m : k,
             product->lda(), product->batch(), product->batch_stride_a(), element) &&
        fits(product->b(), product->transpose_b() ? n : k, product->transpose_b() ? k : n,
             product->ldb(), product->batch(), product->batch_stride_b(), element) &&
        fits(product->c(), m, n, product->ldc(), product->batch(), product->batch_stride_c(),
             element);
    if (!operands)
      return "a matrix product reaches outside of its operands";
    if (product->bias() &&
        (!inside(product->bias(), program) || !fits(product->bias(), 1, n, n, 1, 0, element)))
      return "the bias of a matrix product lies outside of its space";
    return "";
  }

  std::string checkPrograms() {
    if (!executable.programs() || executable.programs()->size() == 0)
      return "it holds no programs";
    std::string_view previous;
    for (const fb::Program *program : *executable.programs()) {
      std::string_view name = program->name()->string_view();
      if (!previous.empty() && name <= previous)
        return fmt::format("programs are not in order at '{}'", name);
      previous = name;
      if (program->arena_bytes() > executable.arena_bytes())
        return fmt::format("program '{}' needs a larger arena than is declared", name);
      std::string fault = checkPorts(program->inputs(), *program, "input");
      if (fault.empty())
        fault = checkPorts(program->outputs(), *program, "output");
      if (fault.empty() && program->steps())
        for (const fb::Step *step : *program->steps())
          if (fault = checkStep(*step, *program); !fault.empty())
            break;
      if (!fault.empty())
        return fmt::format("program '{}': {}", name, fault);
    }
    return "";
  }

  const fb::Executable &executable;
};

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

Result<std::vector<std::byte>> readWhole(const std::string &path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Error{fmt::format("cannot read '{}': {}", path, std::strerror(errno))};
  struct stat status{};
  std::vector<std::byte> bytes;
  std::string fault;
  if (fstat(descriptor, &status) != 0)
    fault = std::strerror(errno);
  else if (!S_ISREG(status.st_mode))
    fault = "not a regular file";
  else if (status.st_size > (int64_t(1) << 31))
    fault = "larger than 2 GiB, which no executable is";
  if (fault.empty()) {
    bytes.resize(static_cast<size_t>(status.st_size));
    size_t done = 0;
    while (done < bytes.size()) {
      ssize_t count = read(descriptor, bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0) {
        fault = count < 0 ? std::strerror(errno) : "it became shorter while it was read";
        break;
      }
      done += static_cast<size_t>(count);
    }
  }
  close(descriptor);
  if (!fault.empty())
    return Error{fmt::format("cannot read '{}': {}", path, fault)};
  return bytes;
}

} // namespace

Executable::~Executable() = default;

Result<std::shared_ptr<const Executable>> Executable::load(const std::string &path) {
  auto bytes = readWhole(path);
  if (!bytes)
    return bytes.error();
  return fromBytes(std::move(*bytes), path);
}

Result<std::shared_ptr<const Executable>> Executable::fromBytes(std::vector<std::byte> bytes,
                                                                const std::string &name) {
  auto refuse = [&](std::string_view fault) {
    return Error{fmt::format("{}: not a usable executable: {}", name, fault)};
  };
  if (bytes.size() < 16)
    return refuse(fmt::format("only {} bytes long", bytes.size()));
  if (!fb::ExecutableBufferHasIdentifier(bytes.data()))
    return refuse("it does not start with the mark of a .hyx file");
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), 16,
                                 4'000'000);
  if (!fb::VerifyExecutableBuffer(verifier))
    return refuse("truncated or damaged (its structure does not hold)");
  std::shared_ptr<Executable> executable(new Executable());
  executable->fileName = name;
  executable->bytes = std::move(bytes);
  executable->root = fb::GetExecutable(executable->bytes.data());
  if (std::string fault = Verification(*executable->root).run(); !fault.empty())
    return refuse(fault);
  if (executable->root->parameters())
    for (const fb::Parameter *parameter : *executable->root->parameters()) {
      auto info = describe<ParameterInfo>(*parameter);
      info.offset = parameter->offset();
      info.trainable = parameter->trainable();
      info.decay = parameter->decay();
      info.lrScale = parameter->lr_scale();
      executable->parameterTable.push_back(std::move(info));
    }
  for (const fb::Program *program : *executable->root->programs())
    executable->programTable.push_back({program->name()->str(), describePorts(program->inputs()),
                                        describePorts(program->outputs())});
  return std::shared_ptr<const Executable>(executable);
}

const ProgramInfo *Executable::findProgram(std::string_view name) const {
  for (const ProgramInfo &program : programTable)
    if (program.name == name)
      return &program;
  return nullptr;
}

uint64_t Executable::fingerprint() const {
  // The flatbuffer is canonical for what it says; the whole of it stands for source, settings and
  // code.
  return XXH3_64bits(bytes.data(), bytes.size());
}

} // namespace hybrid::rt
