//===- Executable.h - a verified .hyx in memory ----------------------------===//
//
// Reads the format of executable/Executable.fbs. After load() succeeds everything in it can be
// trusted: structure, version, hash, CPU features, every offset + size inside its space, names
// unique.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Seal.h"
#include "runtime/Result.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::fb {
struct Executable;
struct Program;
} // namespace hybrid::fb

namespace hybrid::rt {

enum class DType : uint8_t { F32 = 0, F64 = 1, I32 = 2, BF16 = 3 };
int64_t bytesOf(DType type);
std::string_view nameOf(DType type); // "f32", "f64", "i32", "bf16"
/// Element `index` of `data`.
double numberAt(DType type, std::span<const std::byte> data, size_t index);

/// Names and shapes of a program's inputs and outputs, and of parameters.
struct TensorInfo {
  std::string name;
  std::vector<int64_t> shape;
  DType dtype = DType::F32;
  bool differentiable = true;
  int64_t elements() const;
  std::string shapeText() const; // "[32, 128, 16]"
};

struct ParameterInfo : TensorInfo {
  uint64_t offset = 0; // bytes in the parameter space
  bool trainable = true, decay = true;
  double lrScale = 1.0;
};

struct ProgramInfo {
  std::string name;
  std::vector<TensorInfo> inputs, outputs;
  bool pauses = false; // it can run in two parts
  /// Null when there is none.
  const TensorInfo *findInput(std::string_view name) const;
  const TensorInfo *findOutput(std::string_view name) const;
};

/// What runs of a program. One that pauses makes all outputs before it needs what isBehindPause():
/// inputs "cotangent.y", of which it makes outputs "grad.x".
enum class Part { Whole, BeforePause, AfterPause };
bool isBehindPause(std::string_view port);

/// Whose machine code runs: what was made with a key of this user's or trusted before
/// (runtime/Trust.h), or any.
enum class Trust { ByKey, Given };

class Executable {
public:
  /// Loads and verifies; maps no code and runs none. The error names the file and the fault
  /// ("model.hyx: truncated: ..."). With Trust::Given its code may run, whoever made
  /// it.
  static Result<std::shared_ptr<const Executable>> load(const std::string &path,
                                                        Trust trust = Trust::ByKey);
  /// The same for what this process made, without a seal; `name` is used in messages. Takes
  /// ownership of the bytes.
  static Result<std::shared_ptr<const Executable>> fromBytes(std::vector<std::byte> bytes,
                                                             const std::string &name);
  ~Executable();

  const fb::Executable &format() const { return *root; }
  const std::string &name() const { return fileName; }
  const std::vector<ParameterInfo> &parameters() const { return parameterTable; }
  /// What programs that decode keep from run to run.
  const std::vector<ParameterInfo> &states() const { return stateTable; }
  const std::vector<ProgramInfo> &programs() const { return programTable; }
  /// Independent trainings it was compiled for. All else it tells is of one of them.
  int64_t replicas() const;
  /// Null when there is none.
  const ProgramInfo *findProgram(std::string_view name) const;
  /// Hash of source, settings and code, wherever the sources lay: what a checkpoint remembers of
  /// the executable that wrote it.
  uint64_t fingerprint() const;
  /// Fails when its code may not run: it is not signed with a key of this user's, nor trusted
  /// since.
  Result<void> checkTrusted() const;
  /// Of the file; zero for what came from memory.
  const Seal &seal() const { return fileSeal; }
  /// Whether it was compiled for a device, "cpu" or "cuda"; an empty one is any.
  Result<void> checkDevice(std::string_view device) const;

private:
  Executable() = default;
  static std::string notExecutable(std::span<const std::byte> bytes);
  static Result<std::shared_ptr<Executable>> parse(std::vector<std::byte> bytes,
                                                   const std::string &name);
  std::string fileName, distrust; // the latter: why its code may not run; empty: it may
  Seal fileSeal;
  std::vector<std::byte> bytes; // 64-byte aligned content is not assumed
  const fb::Executable *root = nullptr;
  std::vector<ParameterInfo> parameterTable, stateTable;
  std::vector<ProgramInfo> programTable;
};

} // namespace hybrid::rt
