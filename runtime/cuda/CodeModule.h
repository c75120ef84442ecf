//===- CodeModule.h - the kernels of an executable on a device --------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/cuda/Gpu.h"
#include <map>
#include <string>

namespace hybrid::rt::cuda {

class CodeModule {
public:
  /// Loads the best image of `executable` for the device, of those that its driver is new enough
  /// for. The error says what the file has, or which driver it needs.
  static Result<CodeModule> load(const Gpu &gpu, const fb::Executable &executable);
  CodeModule(CodeModule &&other) noexcept;
  CodeModule &operator=(CodeModule &&) = delete;
  ~CodeModule();

  /// A kernel, allowed to use so much dynamic shared memory.
  Result<Function> find(const std::string &symbol, uint64_t sharedBytes);
  const std::string &architecture() const { return chosen; }
  /// Whether kernels wait by themselves for the launch before (HYBRID_KERNEL in
  /// codegen/kernels/cuda/Device.cuh), and the driver makes them ready earlier, in graphs too.
  bool overlapsLaunches() const { return overlaps; }

private:
  explicit CodeModule(const Gpu &gpu) : gpu(&gpu) {}
  struct Kernel {
    Function function = nullptr;
    uint64_t sharedBytes = 48 << 10; // what every kernel may use unasked
  };
  const Gpu *gpu;
  Module module = nullptr;
  std::string chosen;
  bool overlaps = false;
  std::map<std::string, Kernel, std::less<>> kernels;
};

} // namespace hybrid::rt::cuda
