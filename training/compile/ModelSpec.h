//===- ModelSpec.h - a model given as .hyx or .hyb ---------------------------===//
#pragma once
#include "runtime/Executable.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::rt {

/// MODEL and what it is compiled with when it is a .hyb. For a .hyx the compile options must be
/// absent.
struct ModelSpec {
  std::string path;
  std::optional<int64_t> batch, length;
  int64_t replicas = 1; // trainings that run as one program
  std::optional<std::string> precision, target, attention, transforms, smallProducts, model, memory;
  bool chunked = false;                // a source: with a program that takes a sequence in chunks
  bool decode = false;                 // a source: programs that decode, and none that train
  std::string device;                  // cpu or cuda; empty: what it was compiled for, or the CPU
  std::vector<std::string> settings;   // NAME=VALUE
  std::vector<std::string> optimizers; // [PATTERN=]LAYER, as hybridc takes them
  bool trust = false;    // a .hyx: its machine code may run whoever made it, now and from now on
  bool quiet = false;    // the compiler's remarks only when it fails
  std::string reduction; // f32 or bf16: how gradients are reduced over ranks; empty: they are not
  int64_t sequenceRanks = 1; // that have parts of every sequence
  std::string shards;        // state or parameters: what ranks have shares of; empty: of nothing

  bool isSource() const;
  /// Loads it, and fails when it is for another device than `device`. Compiles first when it is a
  /// source (the result is cached by content).
  Result<std::shared_ptr<const Executable>> load() const;
};

/// Another of our programs, which is beside this one; empty when it is not there.
std::string findProgram(const std::string &name);
/// Where hybridc is: beside this program. Empty when it is not there.
std::string findCompiler();
/// The first line of its --version; empty when it does not run.
std::string compilerVersion(const std::string &compiler);

/// The CUDA toolkit that a hybridc compiles with; versions as in executable/CudaVersion.h.
struct Toolkit {
  uint32_t version = 0;
  uint32_t leastDriver = 0; // of those that load its machine code
  std::string file;
  std::string missing; // not empty: there is none
};
Toolkit toolkitOf(const std::string &compiler);

} // namespace hybrid::rt
