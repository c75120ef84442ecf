//===- ExecutableVerifier.cpp - nothing in a .hyx is trusted before this ----===//
#include "runtime/ExecutableVerifier.h"
#include "executable/Executable_generated.h"
#include "executable/Limits.h"
#include "executable/ReplicaStride.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Executable.h"
#include "runtime/KernelShapes.h"
#include "runtime/cuda/Architecture.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_set>
#include <xxhash.h>

namespace hybrid::rt {

namespace {

template <typename... Args> Error error(fmt::format_string<Args...> text, Args &&...args) {
  return Error{fmt::format(text, std::forward<Args>(args)...)};
}

/// Names go into messages, terminals and file names: no control characters, no folders, not
/// endless.
bool isSoundName(std::string_view name) {
  return !name.empty() && name.size() <= mostNameBytes &&
         std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/';
         });
}

std::string_view viewOf(const flatbuffers::String *text) {
  return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

/// Flatbuffers checks where a vector begins, but not that its 8-byte elements are aligned.
template <typename T> bool isAligned(const flatbuffers::Vector<T> &vector) {
  // An empty vector (the shape of a scalar) has no elements to align.
  return vector.size() == 0 || reinterpret_cast<uintptr_t>(vector.Data()) % 8 == 0;
}

class Verifier {
public:
  explicit Verifier(const fb::Executable &executable) : executable(executable) {}
  Result<void> run();

private:
  Result<void> checkTarget();
  Result<void> checkCpuCode() const;
  Result<void> checkImages() const;
  Result<void> checkSpaces() const;
  Result<void> checkReplicas() const;
  Result<void> checkParameters() const;
  Result<void> checkExamples() const;
  Result<void> checkProgram(const fb::Program &program);
  Result<void> checkTensors(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *tensors,
                            std::string_view program, std::string_view kind) const;
  Result<void> checkReservedProgram(const fb::Program &program) const;
  Result<void> checkPortBytes(const fb::Program &program) const;
  Result<void> checkStep(const fb::Step &step, const std::string &where);
  Result<void> checkKernel(const fb::KernelLaunch &kernel, const std::string &where);
  Result<void> checkKernelShape(const fb::KernelLaunch &kernel, const std::string &where) const;
  bool mayWrite(fb::Space space) const;
  Result<void> checkMatmul(const fb::Matmul &matmul, const std::string &where) const;
  Result<void> checkAttention(const fb::Attention &attention, const std::string &where);
  Result<void> checkLoop(const fb::TileLoop &tiles, const std::string &where);
  Result<void> checkBuffer(const fb::BufferRef &buffer, const std::string &what) const;
  Result<uint64_t> bytesOfTensor(const flatbuffers::Vector<int64_t> *shape, fb::DType dtype,
                                 std::string_view name) const;
  uint64_t spaceBytes(fb::Space space) const;

  const fb::Executable &executable;
  KernelShapes kernels;
  std::string_view programName;       // that is being checked
  bool onCuda = false;                // compiled for a GPU
  uint64_t arenaBytes = 0;            // of the program that is being checked
  const fb::TileLoop *loop = nullptr; // that is being checked
  uint64_t buffersSeen = 0;
  int64_t tileSteps = 0;
};

} // namespace

uint64_t Verifier::spaceBytes(fb::Space space) const {
  switch (space) {
  case fb::Space::Arena:
    return arenaBytes;
  case fb::Space::Constants:
    return executable.constants_bytes();
  case fb::Space::Tile:
    return loop ? loop->tile_bytes() : 0;
  case fb::Space::Parameters:
  case fb::Space::Gradients:
  case fb::Space::Moment1:
  case fb::Space::Moment2:
    break;
  }
  return executable.parameter_bytes();
}

Result<void> Verifier::run() {
  if (executable.version_major() < 1 || executable.version_major() > formatMajor)
    return error(
        "format version {}.{}, but this hybrid-run reads versions up to {}; compile the model "
        "again with the hybridc of this release",
        executable.version_major(), executable.version_minor(), formatMajor);
  if (Result<void> done = checkTarget(); !done)
    return done;
  if (Result<void> done = checkSpaces(); !done)
    return done;
  if (Result<void> done = checkReplicas(); !done)
    return done;
  if (Result<void> done = checkParameters(); !done)
    return done;
  if (executable.settings())
    for (const fb::Setting *setting : *executable.settings())
      if (!isSoundName(viewOf(setting->name())))
        return error("corrupt: a setting has no sound name");
  if (Result<void> done = kernels.read(executable); !done)
    return done;
  std::unordered_set<std::string_view> names;
  if (!executable.programs() || executable.programs()->size() == 0)
    return error("corrupt: it holds no program");
  for (const fb::Program *program : *executable.programs()) {
    if (!isSoundName(viewOf(program->name())))
      return error("corrupt: a program has no sound name");
    if (!names.insert(viewOf(program->name())).second)
      return error("corrupt: two programs are named '{}'", viewOf(program->name()));
    if (Result<void> done = checkProgram(*program); !done)
      return done;
  }
  return checkExamples();
}

/// The programs have been checked.
Result<void> Verifier::checkExamples() const {
  const fb::ExampleGather *gather = executable.examples();
  if (!gather)
    return {};
  if (!onCuda)
    return error("corrupt: it is for the device 'cpu', but gathers batches on a GPU");
  const std::string_view names[] = {viewOf(gather->symbol()), viewOf(gather->program()),
                                    viewOf(gather->inputs()), viewOf(gather->targets())};
  for (std::string_view name : names)
    if (!isSoundName(name))
      return error("corrupt: what gathers batches has no sound name");
  constexpr int64_t mostGathering = int64_t(1) << 20; // a step; a burst has at most some hundred
  if (gather->grid() < 1 || gather->grid() > mostGathering || gather->threads() < 32 ||
      gather->threads() > 1024 || gather->threads() % 32)
    return error("corrupt: batches are gathered by {} blocks of {} threads", gather->grid(),
                 gather->threads());
  int64_t rows = 0;
  int found = 0;
  for (const fb::Program *program : *executable.programs()) {
    if (viewOf(program->name()) != names[1] || !program->inputs() || names[2] == names[3])
      continue;
    for (const fb::Tensor *tensor : *program->inputs()) {
      const std::string_view name = viewOf(tensor->name());
      const auto *shape = tensor->shape();
      const bool named = name == names[2] || name == names[3];
      const bool isBatch = shape && shape->size() > 0 && shape->Get(0) > 0 &&
                           bytesOf(static_cast<DType>(tensor->dtype())) == 4 &&
                           tensor->buffer()->bytes() > 0 && tensor->buffer()->offset() % 16 == 0 &&
                           (rows == 0 || rows == shape->Get(0));
      if (!named || !isBatch)
        return error("corrupt: input '{}' of program '{}' is no batch of examples", name, names[1]);
      rows = shape->Get(0);
      ++found;
    }
  }
  if (found != 2)
    return error(
        "corrupt: batches are gathered for program '{}', which has no inputs '{}' and '{}'",
        names[1], names[2], names[3]);
  return {};
}

Result<void> Verifier::checkTarget() {
  std::string_view device = viewOf(executable.target()->device());
  onCuda = device == "cuda";
  if (!onCuda && device != "cpu")
    return error("compiled for the device '{}', but this hybrid-run runs 'cpu' and 'cuda'",
                 device.substr(0, 64));
  return onCuda ? checkImages() : checkCpuCode();
}

Result<void> Verifier::checkCpuCode() const {
  const fb::Target &target = *executable.target();
  std::string missing;
  if (target.features())
    for (const flatbuffers::String *feature : *target.features()) {
      std::string_view name = viewOf(feature);
      if (!isSoundName(name) || name.size() > 64)
        return error("corrupt: a required CPU feature has no sound name");
      if (!hasCpuFeature(name) && missing.size() < 512)
        missing.append(missing.empty() ? "" : ", ").append(name);
    }
  if (!missing.empty())
    return error(
        "compiled for '{}', which needs CPU features that this one ({}) lacks: {}; compile "
        "it on this machine, or with --target=cpu:x86-64-v3 for any recent one",
        viewOf(target.cpu()).substr(0, 64), cpuModelName(), missing);
  if (!executable.code() || executable.code()->size() == 0)
    return error("corrupt: it holds no code");
  uint64_t hash = XXH3_64bits(executable.code()->data(), executable.code()->size());
  if (hash != executable.code_hash())
    return error("corrupt: the code's hash is {:016x}, but {:016x} was recorded; compile the model "
                 "again",
                 hash, executable.code_hash());
  return {};
}

Result<void> Verifier::checkImages() const {
  if (executable.code() && executable.code()->size())
    return error("corrupt: it is for the device 'cuda', but holds {} bytes of code for a CPU",
                 executable.code()->size());
  if (!executable.images() || executable.images()->size() == 0)
    return error("corrupt: it holds no code");
  std::unordered_set<std::string_view> architectures;
  for (const fb::CodeImage *image : *executable.images()) {
    std::string_view name = viewOf(image->architecture());
    if (!isSoundName(name) || !cuda::Architecture::parse(name))
      return error("corrupt: a code image is for '{}', which is no architecture",
                   isSoundName(name) ? name.substr(0, 64) : "?");
    if (!architectures.insert(name).second)
      return error("corrupt: two code images are for '{}'", name);
    if (image->bytes()->size() == 0)
      return error("corrupt: the code image for '{}' is empty", name);
    uint64_t hash = XXH3_64bits(image->bytes()->data(), image->bytes()->size());
    if (hash != image->hash())
      return error("corrupt: the hash of the code for '{}' is {:016x}, but {:016x} was recorded; "
                   "compile the model again",
                   name, hash, image->hash());
  }
  return {};
}

Result<void> Verifier::checkSpaces() const {
  const std::pair<std::string_view, uint64_t> spaces[] = {
      {"arena", executable.arena_bytes()},
      {"parameters", executable.parameter_bytes()},
      {"constants", executable.constants_bytes()}};
  for (auto [name, bytes] : spaces)
    if (bytes > mostSpaceBytes)
      return error("corrupt: the {} would take {} bytes, more than the limit of {}", name, bytes,
                   mostSpaceBytes);
  uint64_t initial = executable.constants() ? executable.constants()->size() : 0;
  if (initial > executable.constants_bytes())
    return error("corrupt: {} bytes of constants do not fit their space of {}", initial,
                 executable.constants_bytes());
  return {};
}

/// All replicas of a space together are bounded as a space is.
Result<void> Verifier::checkReplicas() const {
  const uint64_t replicas = executable.replicas();
  if (replicas < 1 || replicas > uint64_t(mostReplicas))
    return error("corrupt: it is for {} replicas, expected 1 to {}", replicas, mostReplicas);
  if (replicas == 1)
    return {};
  uint64_t tileBytes = 0;
  if (executable.programs())
    for (const fb::Program *program : *executable.programs())
      if (program->steps())
        for (const fb::Step *step : *program->steps())
          if (const auto *tiles = step->operation_as_TileLoop())
            tileBytes = std::max(tileBytes, tiles->tile_bytes());
  const std::pair<std::string_view, uint64_t> spaces[] = {
      {"arena", executable.arena_bytes()},
      {"parameters", executable.parameter_bytes()},
      {"tiles", tileBytes}};
  for (auto [name, bytes] : spaces)
    if (bytes > mostSpaceBytes || replicaStride(bytes) > mostSpaceBytes / replicas)
      return error("corrupt: the {} of {} replicas would take {} bytes each, more than the limit "
                   "of {} together",
                   name, replicas, bytes, mostSpaceBytes);
  return {};
}

/// A session holds inputs and outputs of every replica; several may share one place.
Result<void> Verifier::checkPortBytes(const fb::Program &program) const {
  const uint64_t most = mostSpaceBytes / executable.replicas();
  uint64_t bytes = 0;
  for (const auto *ports : {program.inputs(), program.outputs()})
    if (ports && executable.replicas() > 1)
      for (const fb::Tensor *tensor : *ports) // each is within its space
        if ((bytes += replicaStride(tensor->buffer()->bytes())) > most)
          return error("corrupt: inputs and outputs of program '{}' take more than {} bytes for "
                       "{} replicas",
                       viewOf(program.name()), mostSpaceBytes, executable.replicas());
  return {};
}

Result<uint64_t> Verifier::bytesOfTensor(const flatbuffers::Vector<int64_t> *shape, fb::DType dtype,
                                         std::string_view name) const {
  if (static_cast<unsigned>(dtype) > static_cast<unsigned>(fb::DType::MAX))
    return error("corrupt: '{}' has the unknown type {}", name, static_cast<unsigned>(dtype));
  unsigned __int128 bytes = static_cast<unsigned>(bytesOf(static_cast<DType>(dtype)));
  if (shape && !isAligned(*shape))
    return error("corrupt: the shape of '{}' is misaligned in the file", name);
  if (shape && shape->size() > mostRank)
    return error("corrupt: '{}' has {} dimensions, more than the limit of {}", name, shape->size(),
                 mostRank);
  if (shape)
    for (int64_t extent : *shape) {
      if (extent < 1)
        return error("corrupt: '{}' has an extent of {}", name, extent);
      bytes *= static_cast<uint64_t>(extent);
      if (bytes > mostSpaceBytes)
        return error("corrupt: '{}' would take more than {} bytes", name, mostSpaceBytes);
    }
  return static_cast<uint64_t>(bytes);
}

Result<void> Verifier::checkParameters() const {
  if (!executable.parameters())
    return {};
  std::unordered_set<std::string_view> names;
  struct Range {
    uint64_t begin, end;
    std::string_view name;
  };
  std::vector<Range> ranges;
  for (const fb::Parameter *parameter : *executable.parameters()) {
    std::string_view name = viewOf(parameter->name());
    if (!isSoundName(name))
      return error("corrupt: a parameter has no sound name");
    if (!names.insert(name).second)
      return error("corrupt: two parameters are named '{}'", name);
    Result<uint64_t> bytes = bytesOfTensor(parameter->shape(), parameter->dtype(), name);
    if (!bytes)
      return bytes.error();
    uint64_t offset = parameter->offset(), space = executable.parameter_bytes();
    if (offset > space || *bytes > space - offset)
      return error("corrupt: parameter '{}' (offset {}, {} bytes) leaves the parameters' {} bytes",
                   name, offset, *bytes, space);
    if (offset % 64)
      return error("corrupt: parameter '{}' is misaligned at offset {}", name, offset);
    ranges.push_back({offset, offset + *bytes, name});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[i - 1].end)
      return error("corrupt: parameters '{}' and '{}' overlap", ranges[i - 1].name, ranges[i].name);
  return {};
}

Result<void> Verifier::checkBuffer(const fb::BufferRef &buffer, const std::string &what) const {
  if (static_cast<unsigned>(buffer.space()) > static_cast<unsigned>(fb::Space::MAX))
    return error("corrupt: {} is in the unknown space {}", what,
                 static_cast<unsigned>(buffer.space()));
  uint64_t space = spaceBytes(buffer.space());
  if (buffer.offset() > space || buffer.bytes() > space - buffer.offset())
    return error("corrupt: {} (offset {}, {} bytes) leaves the {} bytes of space {}", what,
                 buffer.offset(), buffer.bytes(), space, fb::EnumNameSpace(buffer.space()));
  return {};
}

Result<void>
Verifier::checkTensors(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *tensors,
                       std::string_view program, std::string_view kind) const {
  if (!tensors)
    return {};
  std::unordered_set<std::string_view> names;
  for (const fb::Tensor *tensor : *tensors) {
    std::string_view name = viewOf(tensor->name());
    if (!isSoundName(name))
      return error("corrupt: an {} of program '{}' has no sound name", kind, program);
    if (!names.insert(name).second)
      return error("corrupt: program '{}' has two {}s named '{}'", program, kind, name);
    std::string what = fmt::format("{} '{}' of program '{}'", kind, name, program);
    if (!tensor->buffer())
      return error("corrupt: {} has no place in memory", what);
    if (Result<void> done = checkBuffer(*tensor->buffer(), what); !done)
      return done;
    Result<uint64_t> bytes = bytesOfTensor(tensor->shape(), tensor->dtype(), name);
    if (!bytes)
      return bytes.error();
    if (*bytes != tensor->buffer()->bytes())
      return error("corrupt: {} needs {} bytes, but its place has {}", what, *bytes,
                   tensor->buffer()->bytes());
    if (tensor->buffer()->offset() %
        static_cast<uint64_t>(bytesOf(static_cast<DType>(tensor->dtype()))))
      return error("corrupt: {} is misaligned at offset {}", what, tensor->buffer()->offset());
  }
  return {};
}

/// The runtime itself writes the inputs of `init` and `update`, so their form is fixed.
Result<void> Verifier::checkReservedProgram(const fb::Program &program) const {
  std::string_view name = viewOf(program.name());
  bool isInit = name == "init";
  if (!isInit && name != "update")
    return {};
  std::string_view wanted = isInit ? "seed" : "hyper";
  uint64_t bytes = isInit ? 8 : 64;
  fb::DType dtype = isInit ? fb::DType::I32 : fb::DType::F64;
  if (program.inputs())
    for (const fb::Tensor *tensor : *program.inputs())
      if (viewOf(tensor->name()) == wanted && tensor->dtype() == dtype &&
          tensor->buffer()->bytes() == bytes)
        return {};
  return error("corrupt: program '{}' has no input '{}' of {}", name, wanted,
               isInit ? "i32[2]" : "f64[8]");
}

Result<void> Verifier::checkProgram(const fb::Program &program) {
  std::string_view name = viewOf(program.name());
  if (program.arena_bytes() > executable.arena_bytes())
    return error("corrupt: program '{}' wants an arena of {} bytes, but the executable has {}",
                 name, program.arena_bytes(), executable.arena_bytes());
  arenaBytes = program.arena_bytes();
  programName = name;
  if (Result<void> done = checkTensors(program.inputs(), name, "input"); !done)
    return done;
  if (Result<void> done = checkTensors(program.outputs(), name, "output"); !done)
    return done;
  if (Result<void> done = checkReservedProgram(program); !done)
    return done;
  if (Result<void> done = checkPortBytes(program); !done)
    return done;
  if (!program.steps())
    return {};
  for (unsigned i = 0; i < program.steps()->size(); ++i)
    if (Result<void> done =
            checkStep(*program.steps()->Get(i), fmt::format("step {} of program '{}'", i, name));
        !done)
      return done;
  return {};
}

Result<void> Verifier::checkStep(const fb::Step &step, const std::string &where) {
  if (const fb::KernelLaunch *kernel = step.operation_as_KernelLaunch())
    return checkKernel(*kernel, where);
  if (const fb::Matmul *matmul = step.operation_as_Matmul())
    return checkMatmul(*matmul, where);
  if (const fb::Attention *attention = step.operation_as_Attention())
    return checkAttention(*attention, where);
  const fb::TileLoop *tiles = step.operation_as_TileLoop();
  if (tiles && !loop)
    return checkLoop(*tiles, where);
  if (tiles)
    return error("corrupt: {} is a loop over tiles inside of another", where);
  return error("corrupt: {} is of the unknown kind {}", where,
               static_cast<unsigned>(step.operation_type()));
}

Result<void> Verifier::checkLoop(const fb::TileLoop &tiles, const std::string &where) {
  if (tiles.tile() < 1 || tiles.tile() > tiles.rows() || tiles.rows() > mostItems)
    return error("corrupt: {} has tiles of {} rows of {}", where, tiles.tile(), tiles.rows());
  if (tiles.tile_bytes() > mostSpaceBytes)
    return error("corrupt: {} wants {} bytes a tile, more than the limit of {}", where,
                 tiles.tile_bytes(), mostSpaceBytes);
  // On a GPU every step of every tile becomes a launch of its own.
  const int64_t count = (tiles.rows() - 1) / tiles.tile() + 1;
  const int64_t parts = tiles.steps() ? tiles.steps()->size() : 0;
  if (onCuda && (count > mostTileSteps || (tileSteps += count * parts) > mostTileSteps))
    return error("corrupt: {} and those before it have more than {} launches", where,
                 mostTileSteps);
  loop = &tiles;
  Result<void> outcome;
  for (unsigned i = 0; tiles.steps() && outcome && i < tiles.steps()->size(); ++i)
    outcome = checkStep(*tiles.steps()->Get(i), fmt::format("part {} of {}", i, where));
  loop = nullptr;
  return outcome;
}

Result<void> Verifier::checkKernel(const fb::KernelLaunch &kernel, const std::string &where) {
  if (!isSoundName(viewOf(kernel.symbol())))
    return error("corrupt: {} has no sound symbol", where);
  if (kernel.grid() < 1 || kernel.grid() > mostItems)
    return error("corrupt: {} ({}) has a grid of {}", where, viewOf(kernel.symbol()),
                 kernel.grid());
  if (onCuda && kernel.grid() > mostBlocks)
    return error("corrupt: {} ({}) has {} blocks, more than the limit of {}", where,
                 viewOf(kernel.symbol()), kernel.grid(), mostBlocks);
  if (kernel.scratch_bytes() > mostSpaceBytes)
    return error("corrupt: {} ({}) wants {} bytes of scratch, more than the limit of {}", where,
                 viewOf(kernel.symbol()), kernel.scratch_bytes(), mostSpaceBytes);
  if (onCuda &&
      (kernel.threads() < 32 || kernel.threads() > mostBlockThreads || kernel.threads() % 32))
    return error("corrupt: {} ({}) has blocks of {} threads", where, viewOf(kernel.symbol()),
                 kernel.threads());
  if (onCuda && kernel.scratch_bytes() > mostSharedBytes)
    return error("corrupt: {} ({}) wants {} bytes of shared memory, more than the limit of {}",
                 where, viewOf(kernel.symbol()), kernel.scratch_bytes(), mostSharedBytes);
  if (!loop && (kernel.items_per_tile() || (kernel.row_bytes() && kernel.row_bytes()->size())))
    return error("corrupt: {} ({}) is cut for tiles, but in no loop over tiles", where,
                 viewOf(kernel.symbol()));
  const auto *rowBytes = kernel.row_bytes();
  const unsigned buffers = kernel.buffers() ? kernel.buffers()->size() : 0;
  if (loop) {
    const int64_t tiles = (loop->rows() - 1) / loop->tile() + 1, items = kernel.items_per_tile();
    if (items < 1 || (kernel.grid() - 1) / items + 1 != tiles) // every tile has items
      return error("corrupt: {} ({}) has {} items for {} tiles of {} items", where,
                   viewOf(kernel.symbol()), kernel.grid(), tiles, items);
    if (rowBytes && rowBytes->size() != 0 && rowBytes->size() != buffers)
      return error("corrupt: {} ({}) has {} buffers, but row distances for {}", where,
                   viewOf(kernel.symbol()), buffers, rowBytes->size());
  }
  if (!kernel.buffers())
    return checkKernelShape(kernel, where);
  if (!isAligned(*kernel.buffers()))
    return error("corrupt: the buffers of {} are misaligned in the file", where);
  if (unsigned most = onCuda ? mostBlockBuffers : mostLaunchBuffers; buffers > most)
    return error("corrupt: {} ({}) has {} buffers, more than the limit of {}", where,
                 viewOf(kernel.symbol()), buffers, most);
  // Launches may share one vector of buffers, so the file's size does not bound their number.
  buffersSeen += kernel.buffers()->size();
  if (buffersSeen > mostBuffers)
    return error("corrupt: {} and those before it touch more than {} buffers", where, mostBuffers);
  for (const fb::BufferRef *buffer : *kernel.buffers()) {
    // The text is made only for a buffer that is refused: this loop sees every buffer of the file.
    bool known = static_cast<unsigned>(buffer->space()) <= static_cast<unsigned>(fb::Space::MAX);
    uint64_t space = known ? spaceBytes(buffer->space()) : 0;
    bool inside = known && buffer->offset() <= space && buffer->bytes() <= space - buffer->offset();
    bool inTile = buffer->space() == fb::Space::Tile && buffer->bytes();
    if (inTile && (!rowBytes || rowBytes->size() != buffers))
      return error("corrupt: {} ({}) has a buffer in a tile, but no distance of its rows", where,
                   viewOf(kernel.symbol()));
    if (inside && buffer->offset() % 4 == 0)
      continue;
    if (inside)
      return error("corrupt: a buffer of {} ({}) is misaligned at offset {}", where,
                   viewOf(kernel.symbol()), buffer->offset());
    return checkBuffer(*buffer, fmt::format("a buffer of {} ({})", where, viewOf(kernel.symbol())));
  }
  return checkKernelShape(kernel, where);
}

/// The buffers have been checked.
Result<void> Verifier::checkKernelShape(const fb::KernelLaunch &kernel,
                                        const std::string &where) const {
  auto shape = kernels.find(kernel, loop, where);
  if (!shape)
    return shape.error();
  for (unsigned i = 0; *shape && i < (*shape)->buffers()->size(); ++i) {
    const fb::BufferRef &buffer = *kernel.buffers()->Get(i);
    if (buffer.bytes() && (*shape)->buffers()->Get(i)->written() && !mayWrite(buffer.space()))
      return error("corrupt: {} ({}) writes to space {}, which only other programs change", where,
                   viewOf(kernel.symbol()), fb::EnumNameSpace(buffer.space()));
  }
  return {};
}

/// Whether steps of the program that is being checked may change what lies in a space.
bool Verifier::mayWrite(fb::Space space) const {
  switch (space) {
  case fb::Space::Constants:
    return programName == "setup";
  case fb::Space::Parameters:
    return programName == "init" || programName == "update";
  case fb::Space::Moment1:
  case fb::Space::Moment2:
    return programName == "update";
  case fb::Space::Arena:
  case fb::Space::Gradients:
  case fb::Space::Tile:
    break;
  }
  return true;
}

Result<void> Verifier::checkMatmul(const fb::Matmul &matmul, const std::string &where) const {
  if (matmul.m() < 1 || matmul.n() < 1 || matmul.k() < 1 || matmul.batch() < 1)
    return error("corrupt: {} is a matrix product of m = {}, n = {}, k = {}, batch = {}", where,
                 matmul.m(), matmul.n(), matmul.k(), matmul.batch());
  const bool grouped = matmul.offsets() != nullptr;
  if (matmul.dtype() != fb::DType::F32 && matmul.dtype() != fb::DType::F64 &&
      (matmul.dtype() != fb::DType::BF16 || grouped))
    return error("corrupt: {} is a matrix product in type {}, but {} was expected", where,
                 static_cast<unsigned>(matmul.dtype()),
                 grouped ? "f32 or f64" : "f32, f64 or bf16");
  if (matmul.addend() && (!onCuda || loop || grouped || matmul.accumulate()))
    return error("corrupt: {} has an addend, which it cannot have here", where);
  if (!loop && (matmul.tile_rows() || matmul.tile_sum()))
    return error("corrupt: {} is cut for tiles, but in no loop over tiles", where);
  if (matmul.c() && !mayWrite(matmul.c()->space()))
    return error("corrupt: {} writes to space {}, which only other programs change", where,
                 fb::EnumNameSpace(matmul.c()->space()));
  if (loop) {
    bool cut = matmul.tile_rows() != matmul.tile_sum() && !grouped && matmul.batch() == 1;
    bool whole = matmul.tile_rows() ? matmul.m() == loop->rows() && !matmul.transpose_a()
                                    : matmul.k() == loop->rows() && matmul.transpose_a() &&
                                          !matmul.transpose_b() && loop->sequential();
    if (!cut || !whole)
      return error("corrupt: {} ({} x {} x {}) does not say how tiles of {} rows cut it", where,
                   matmul.m(), matmul.n(), matmul.k(), loop->rows());
  }
  struct Operand {
    std::string_view name;
    const fb::BufferRef *buffer;
    int64_t rows, columns, stride, batchStride;
    unsigned size; // bytes of an element
  };
  const auto factor = static_cast<unsigned>(bytesOf(static_cast<DType>(matmul.dtype())));
  const unsigned sum = std::max(factor, 4u); // products of bf16 are summed in f32
  const bool ta = matmul.transpose_a(), tb = matmul.transpose_b();
  const Operand operands[] = {
      {"a", matmul.a(), ta ? matmul.k() : matmul.m(), ta ? matmul.m() : matmul.k(), matmul.lda(),
       matmul.batch_stride_a(), factor},
      {"b", matmul.b(), tb ? matmul.n() : matmul.k(), tb ? matmul.k() : matmul.n(), matmul.ldb(),
       matmul.batch_stride_b(), factor},
      {"c", matmul.c(), matmul.m(), matmul.n(), matmul.ldc(), matmul.batch_stride_c(), sum},
      {"bias", matmul.bias(), 1, matmul.n(), matmul.n(), 0, sum},
      {"addend", matmul.addend(), matmul.m(), matmul.n(), matmul.ld_addend(),
       matmul.batch_stride_addend(), sum}};
  for (const Operand &operand : operands) {
    if (!operand.buffer && (operand.name == "bias" || operand.name == "addend"))
      continue;
    std::string what = fmt::format("operand {} of {}", operand.name, where);
    if (!operand.buffer)
      return error("corrupt: {} has no place in memory", what);
    if (Result<void> done = checkBuffer(*operand.buffer, what); !done)
      return done;
    if (operand.stride < operand.columns || operand.batchStride < 0)
      return error("corrupt: {} has {} columns, but a row stride of {} and a batch stride of {}",
                   what, operand.columns, operand.stride, operand.batchStride);
    // All factors are below 2^63 and only two are multiplied, so 128 bits cannot overflow before
    // the final factor; extents beyond any space are refused first to keep that true.
    using Wide = unsigned __int128;
    // In a tile lie only the rows that the loop cuts.
    const bool inTile = operand.buffer->space() == fb::Space::Tile;
    const bool cut = loop && (operand.name == "a" || operand.name == (ta ? "b" : "c"));
    if (inTile && !cut)
      return error("corrupt: {} is in a tile, but all of it is needed", what);
    Wide extent = Wide((inTile ? std::min(operand.rows, loop->tile()) : operand.rows) - 1) *
                      Wide(operand.stride) +
                  Wide(operand.columns);
    Wide batches = Wide(matmul.batch() - 1) * Wide(operand.batchStride);
    if (extent > mostSpaceBytes || batches > mostSpaceBytes ||
        (extent + batches) * operand.size > operand.buffer->bytes())
      return error("corrupt: {} ({} x {}, stride {}, {} of them) leaves its {} bytes", what,
                   operand.rows, operand.columns, operand.stride, matmul.batch(),
                   operand.buffer->bytes());
    if (operand.buffer->offset() % operand.size)
      return error("corrupt: {} is misaligned at offset {}", what, operand.buffer->offset());
  }
  if (grouped) {
    const fb::BufferRef *offsets = matmul.offsets();
    std::string what = fmt::format("the offsets of {}", where);
    if (Result<void> done = checkBuffer(*offsets, what); !done)
      return done;
    using Wide = unsigned __int128;
    if (offsets->offset() % 4 || (Wide(matmul.batch()) + 1) * 4 > offsets->bytes())
      return error("corrupt: {} have {} bytes at offset {}, but there are {} groups", what,
                   offsets->bytes(), offsets->offset(), matmul.batch());
    if (matmul.bias() || matmul.accumulate())
      return error("corrupt: {} has groups and a bias or accumulates", where);
    if (matmul.batch_stride_a() || (ta ? matmul.batch_stride_b() : matmul.batch_stride_c()))
      return error("corrupt: {} has groups of rows that are strided", where);
  }
  if (matmul.batch() > 1 && matmul.batch_stride_c() == 0 && (ta || !grouped))
    return error("corrupt: {} writes all its {} products to one place", where, matmul.batch());
  return {};
}

Result<void> Verifier::checkAttention(const fb::Attention &attention, const std::string &where) {
  const int64_t batch = attention.batch(), length = attention.length(),
                keyLength = attention.key_length(), heads = attention.heads(),
                kvHeads = attention.kv_heads(), headSize = attention.head_size();
  if (!onCuda || loop)
    return error("corrupt: {} is attention by a library, but {}", where,
                 loop ? "in a loop over tiles" : "not for a GPU");
  for (int64_t size : {batch, length, keyLength, heads, kvHeads, headSize})
    if (size < 1 || size > mostAttentionSize)
      return error("corrupt: {} is attention with a size of {}", where, size);
  if (heads % kvHeads != 0 || (attention.causal() && length != keyLength) ||
      !std::isfinite(attention.scale()))
    return error("corrupt: {} is attention of {} heads over {}, {} queries over {} keys{}, scale "
                 "{}",
                 where, heads, kvHeads, length, keyLength, attention.causal() ? ", causal" : "",
                 attention.scale());
  const bool backward = attention.backward();
  const unsigned buffers = attention.buffers() ? attention.buffers()->size() : 0,
                 strides = attention.strides() ? attention.strides()->size() : 0;
  if (buffers != (backward ? 10 : 5) || strides != (backward ? 24 : 12))
    return error("corrupt: {} is attention with {} buffers and {} strides", where, buffers,
                 strides);
  if (!isAligned(*attention.buffers()))
    return error("corrupt: the buffers of {} are misaligned in the file", where);
  buffersSeen += buffers;
  if (buffersSeen > mostBuffers)
    return error("corrupt: {} and those before it touch more than {} buffers", where, mostBuffers);
  // Of queries and of keys, in the order of buffers; 's' for statistics.
  constexpr std::string_view kinds = "qkkqsqqkks";
  using Wide = unsigned __int128;
  unsigned stride = 0;
  for (unsigned i = 0; i < buffers; ++i) {
    const fb::BufferRef &buffer = *attention.buffers()->Get(i);
    const std::string what = fmt::format("buffer {} of {}", i, where);
    if (Result<void> done = checkBuffer(buffer, what); !done)
      return done;
    if (kinds[i] == 's') {
      if (buffer.offset() % 4 || Wide(batch) * Wide(heads) * Wide(length) * 4 > buffer.bytes())
        return error("corrupt: {} (statistics) has {} bytes at offset {}", what, buffer.bytes(),
                     buffer.offset());
      continue;
    }
    const bool isQuery = kinds[i] == 'q';
    const int64_t counts[] = {batch, isQuery ? length : keyLength, isQuery ? heads : kvHeads};
    Wide extent = Wide(headSize);
    bool aligned = buffer.offset() % 16 == 0;
    for (int64_t count : counts) {
      const int64_t distance = attention.strides()->Get(stride++);
      if (distance < 0 || static_cast<uint64_t>(distance) > mostSpaceBytes)
        return error("corrupt: {} has a stride of {}", what, distance);
      extent += Wide(count - 1) * Wide(distance);
      aligned = aligned && distance % 8 == 0;
    }
    if (extent * 2 > buffer.bytes())
      return error("corrupt: {} leaves its {} bytes", what, buffer.bytes());
    if (!aligned)
      return error("corrupt: {} has heads that do not begin at multiples of 16 bytes", what);
  }
  return {};
}

Result<void> verifyExecutable(const fb::Executable &executable) {
  return Verifier(executable).run();
}

} // namespace hybrid::rt
