//===- TestExecutable.h - small executables for the runtime's tests ----------===//
//
// A plain description of a .hyx that tests change before it is written, so that each test can break
// exactly one thing.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/Executable.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::rt::test {

struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  fb::DType dtype = fb::DType::F32;
  std::optional<fb::BufferRef> buffer = {};
  int64_t idsBelow = 0;
};

struct ParameterSpec {
  std::string name;
  std::vector<int64_t> shape;
  fb::DType dtype = fb::DType::F32;
  uint64_t offset = 0;
  bool trainable = true, decay = true;
  double lrScale = 1.0;
};

struct MatmulSpec {
  int64_t m = 1, n = 1, k = 1, lda = 1, ldb = 1, ldc = 1;
  bool transposeA = false, transposeB = false, accumulate = false;
  fb::DType dtype = fb::DType::F32;
  std::optional<fb::BufferRef> a = {}, b = {}, c = {}, bias = {}, offsets = {}, addend = {};
  int64_t ldAddend = 0, batchStrideAddend = 0;
  int64_t batch = 1, batchStrideA = 0, batchStrideB = 0, batchStrideC = 0;
  bool tileRows = false, tileSum = false, roundsResult = false;
};

struct AttentionSpec {
  int64_t batch = 1, length = 1, keyLength = 1, heads = 1, kvHeads = 1, headSize = 8;
  bool causal = false, backward = false;
  double scale = 1;
  std::vector<fb::BufferRef> buffers = {};
  std::vector<int64_t> strides = {};
};

struct TransformSpec {
  int64_t points = 6, signals = 2;
  bool inverse = false;
  fb::DType dtype = fb::DType::F32;
  std::optional<fb::BufferRef> real = {}, spectrum = {};
};

struct LoopSpec;

struct StepSpec {
  std::string symbol;
  int64_t grid = 1;
  std::vector<fb::BufferRef> buffers = {};
  uint64_t scratchBytes = 0;
  std::optional<MatmulSpec> matmul = {}; // then the fields above are not used
  std::string op = "test", location = "test.hyb:1:1";
  int64_t itemsPerTile = 0;
  std::vector<int64_t> rowBytes = {};
  std::shared_ptr<LoopSpec> loop = nullptr; // then nothing else is used; copies share it
  int threads = 0;
  std::optional<AttentionSpec> attention = {}; // as matmul
  std::optional<TransformSpec> transform = {}; // as matmul
  uint8_t branch = 0;
  std::vector<uint32_t> after = {};
};

struct LoopSpec {
  int64_t rows = 1, tile = 1;
  uint64_t tileBytes = 0;
  bool sequential = false;
  std::vector<StepSpec> steps = {};
};

struct ProgramSpec {
  std::string name;
  std::vector<TensorSpec> inputs, outputs;
  std::vector<StepSpec> steps;
  uint64_t arenaBytes = 0;
};

struct ImageSpec {
  std::string architecture;
  std::vector<uint8_t> bytes;
  std::optional<uint64_t> hash = {}; // absent: the right one
  uint32_t toolkit = 0, driver = 0;
};

struct GatherSpec {
  std::string symbol = "gather", program = "train", inputs = "tokens", targets = "targets";
  int64_t grid = 1;
  int threads = 128;
};

struct KernelSpec {
  std::string symbol;
  int64_t grid = 1, itemsPerTile = 0, tile = 0;
  uint64_t scratchBytes = 0;
  int threads = 0;
  std::vector<fb::KernelBuffer> buffers = {};
};

struct ExecutableSpec {
  uint32_t major = 1, minor = 0;
  std::string device = "cpu", cpu = "x86-64";
  std::vector<std::string> features;
  std::vector<uint8_t> code;
  std::optional<uint64_t> codeHash; // absent: the right one
  std::vector<ImageSpec> images;
  std::vector<ParameterSpec> parameters, states;
  uint64_t parameterBytes = 0;
  std::vector<uint8_t> constants;
  uint64_t constantsBytes = 0, arenaBytes = 0;
  std::vector<ProgramSpec> programs;
  uint32_t replicas = 1;
  std::optional<GatherSpec> examples = {};
  std::vector<KernelSpec> kernels = {}; // of major version 3
  uint64_t memoryBudget = 0;

  /// Makes it one of version 3, whose kernels are made for the launches that are there now. All
  /// buffers but the first of several are written.
  void describeKernels();
  ProgramSpec &program(const std::string &name);
  std::vector<std::byte> bytes() const;
};

inline fb::BufferRef at(fb::Space space, uint64_t offset, uint64_t bytes) {
  return fb::BufferRef(offset, bytes, space);
}

/// The shared object with the kernels of TestKernels.c.
std::vector<uint8_t> testCode();

/// A sound executable with programs setup, init, forward, product and update:
/// `forward` adds 1 to x [16] and looks up a table of Constants; `product` is c = a b + bias, 4
/// x 4.
ExecutableSpec soundExecutable();

/// The sound executable whose program `product` is a loop over tiles of 3 of its 4 rows: a tile of
/// x plus 1, times b.
ExecutableSpec tiledExecutable();

/// A program `attend` for CUDA: causal attention of 4 queries of 1 head of 8 channels, o of q, k
/// and v (bf16), lse of f32.
ProgramSpec attentionProgram();

/// A program `transform` for CUDA: the spectrum of x [6, 2] in f32.
ProgramSpec transformProgram();

/// The same programs for CUDA: launches of 32 threads a block, no code but an image for `shim`.
ExecutableSpec onCuda(ExecutableSpec spec, std::vector<uint8_t> image);

/// Loads, and fails the test when that does not work.
std::shared_ptr<const Executable> loaded(const ExecutableSpec &spec);

} // namespace hybrid::rt::test
