//===- Backend.h - what differs between devices when programs are made ------===//
#pragma once
#include "codegen/kernels/Transforms.h"
#include "codegen/program/KernelConstants.h"
#include "dialect/HybridOps.h"
#include "dialect/schedule/LaunchConfiguration.h"
#include "dialect/schedule/Layout.h"
#include <string>

namespace hybrid {

class ProgramBuilder;

enum class Device { Cpu, Cuda };

/// Who computes attention whose operands may be rounded: our kernels; the library wherever it can;
/// the library where it is expected to be faster.
enum class AttentionBy { Own, Cudnn, Auto };

/// Who multiplies matrices that are not rounded: the library but for what is too small for one, or
/// always the library.
enum class ProductsBy { Auto, Cublaslt };

/// What lowerings may ask of the device that a program is for.
struct DeviceTraits {
  Device kind = Device::Cpu;
  // On CUDA
  int64_t sharedBytes = 0; // of a block at most, on every device asked for
  /// On any device: activations may be bf16 in memory, and what matrix units inside kernels
  /// multiply.
  bool rounds = false;
  AttentionBy attention = AttentionBy::Own;
  int64_t widestHead = 0; // up to which the attention library computes on all of those devices
  TransformsBy transforms = TransformsBy::Own;
  ProductsBy products = ProductsBy::Auto;

  /// As people know it.
  llvm::StringRef name() const { return kind == Device::Cpu ? "CPU" : "CUDA"; }
};

/// A view of a buffer as a step uses it; null where an optional one is absent.
using BufferUse = mlir::Value;

/// A kernel as a launch names it.
struct KernelName {
  std::string name;
  llvm::SmallVector<int64_t> constants; // of kernels that take them as data
};

/// Where a kernel's result goes, row by row: its last buffer. `stride` is the distance of rows in
/// elements where the kernel stores elements itself; on other devices it calls a `functor` (its
/// type), in whose place a pass may compute what follows.
struct Store {
  llvm::SmallVector<BufferUse> buffers;
  int64_t stride = 0;
  std::string functor;
};

class Backend {
public:
  explicit Backend(const DeviceTraits &device) : device(device) {}
  virtual ~Backend() = default;

  const DeviceTraits device;

  /// The kernel `name` ("rmsnorm_forward") of the library for tensors of `element`, which calls
  /// `functions`.
  virtual KernelName kernel(llvm::StringRef name, mlir::Type element,
                            const KernelConstants &constants,
                            llvm::ArrayRef<std::string> functions) const = 0;
  /// About how many work items a sum over rows is cut into: many enough for all cores, few enough
  /// that their partial rows stay small.
  virtual int64_t itemsOfSums() const = 0;
  /// Whether a sum over this many rows is worth parts at all, rather than one pass over columns.
  virtual bool sumsInParts(int64_t rows) const = 0;

  /// The type of what a kernel calls with each element of its result, to store it in a row of
  /// `place`; empty where kernels store elements themselves.
  virtual std::string storeFunctor(const View &place) const = 0;
};

} // namespace hybrid
