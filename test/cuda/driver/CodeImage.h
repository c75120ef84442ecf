//===- CodeImage.h - kernels that the tests' driver can run -----------------===//
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::shim {

/// Bytes that a launch may reach through a parameter, as the runtime says it.
struct BufferExtent {
  uint64_t begin = 0, bytes = 0;
  uint64_t rowStride = 0; ///< from a row of the grid to the next
};

struct KernelLaunch {
  unsigned blocks = 1, rows = 1;
  int threads = 32;
  unsigned sharedBytes = 0;
  bool overlaps = false;             ///< the launch before may still run when it begins
  std::vector<uint64_t> values;      ///< of the parameters
  std::vector<BufferExtent> extents; ///< of as many; empty when nobody has said it
};

class Kernel {
public:
  virtual ~Kernel() = default;
  int threads = 0;       ///< of a block
  size_t parameters = 0; ///< of 8 bytes each
  /// What went wrong; empty when nothing did.
  virtual std::string run(const KernelLaunch &launch) const = 0;
};

class CodeImage {
public:
  virtual ~CodeImage() = default;
  /// Null when there is no such kernel, or with a complaint when it cannot be run.
  virtual std::unique_ptr<Kernel> find(const std::string &name, std::string &complaint) = 0;
};

/// Both give null and a complaint for what is no such image.

/// A shared object for this machine, made with shim/Shim.h.
std::unique_ptr<CodeImage> loadSharedObject(const void *image, std::string &complaint);
/// A text of PTX (test/cuda/ptx).
std::unique_ptr<CodeImage> loadPtx(const char *text, std::string &complaint);

/// The version of the device that HYBRID_SHIM_DEVICE says, as 90 for "9.0", which runs PTX; 0 when
/// it does not: the device runs shared objects.
int deviceVersion();

} // namespace hybrid::shim
