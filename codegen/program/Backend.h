//===- Backend.h - what differs between devices when programs are made ------===//
#pragma once
#include "codegen/program/KernelConstants.h"
#include "codegen/program/Layout.h"
#include "dialect/HybridOps.h"
#include <optional>
#include <string>
#include <vector>

namespace hybrid {

class ProgramBuilder;
struct Step;
struct ModuleTables;

enum class Device { Cpu, Cuda };

/// Who computes attention whose operands may be rounded: our kernels; the library wherever it can;
/// the library where it is expected to be faster.
enum class AttentionBy { Own, Cudnn, Auto };

/// What lowerings may ask of the device that a program is for.
struct DeviceTraits {
  Device kind = Device::Cpu;
  // On CUDA
  int64_t sharedBytes = 0; // of a block at most, on every device asked for
  bool rounds = false;     // kernels with matrix units inside may round their operands to bf16
  AttentionBy attention = AttentionBy::Own;
  int64_t widestHead = 0; // up to which the attention library computes on all of those devices

  /// As people know it.
  llvm::StringRef name() const { return kind == Device::Cpu ? "CPU" : "CUDA"; }
};

/// A memory range that becomes a BufferAttr once the arena is planned.
struct BufferUse {
  int64_t storage = -1; // -1: absent
  int64_t offsetBytes = 0, bytes = 0;
  int64_t rowBytes = 0; // of a tile's buffer: distance of its rows

  explicit operator bool() const { return storage >= 0; }
};

/// A kernel as a launch names it.
struct KernelName {
  std::string name;
  llvm::SmallVector<int64_t> constants; // of kernels that take them as data
};

/// How a work item runs: threads of its block (0 where a thread runs many items) and bytes of
/// memory of its own, on a CPU a thread's scratch memory, on a GPU a block's shared memory.
struct LaunchShape {
  int64_t threads = 0, scratchBytes = 0;
};

/// A generated kernel: symbol, number of work items and how each runs.
struct GeneratedKernel {
  std::string symbol;
  int64_t grid;
  LaunchShape shape = {};
  int64_t writes = 1; // of the buffers, the last ones
};

/// What a kernel does with each element of a result: a call of `functor` (its type, on devices that
/// fuse stores), which has these buffers. `stride` is the distance of rows in elements where the
/// kernel stores the element itself.
struct Store {
  llvm::SmallVector<BufferUse> buffers;
  int64_t stride = 0;
  std::string functor;
  std::string source; // what is computed on the way, for people
};

/// Where a matrix product goes: to `place`, added to `addend` where there is one. That lies where
/// the product does, or apart from it.
struct ProductPlace {
  View place;
  std::optional<View> addend;
  std::string source; // what is computed on the way, for people
};

/// What a kernel reads: the elements of a view, or what `body` makes of the elements of several
/// (as in Backend::elementwise). All have one shape.
struct Load {
  llvm::SmallVector<View> operands;
  mlir::Block *body = nullptr;

  llvm::ArrayRef<int64_t> shape() const { return operands.front().shape; }
};

class Backend {
public:
  explicit Backend(const DeviceTraits &device) : device(device) {}
  virtual ~Backend() = default;

  const DeviceTraits device;

  /// The kernel `name` ("rmsnorm_forward") of the library for tensors of `element`.
  virtual KernelName kernel(llvm::StringRef name, mlir::Type element,
                            const KernelConstants &constants) const = 0;
  /// About how many work items a sum over rows is cut into: many enough for all cores, few enough
  /// that their partial rows stay small.
  virtual int64_t itemsOfSums() const = 0;
  /// Whether a sum over this many rows is worth parts at all, rather than one pass over columns.
  virtual bool sumsInParts(int64_t rows) const = 0;

  /// Where a kernel's `result` goes, row by row: into its place, or into a neighbour that is
  /// computed on the way. `kept`: in any case into its place, where a later kernel of the same
  /// lowering reads it.
  virtual Store store(mlir::Value result, ProgramBuilder &program, bool kept) const = 0;

  /// The same for a matrix product.
  virtual ProductPlace productPlace(mlir::Value result, ProgramBuilder &program) const = 0;

  /// May put the steps of a program in a better order, and several into one. Called once, when all
  /// are known and nothing has a place in memory.
  virtual void arrange(ProgramBuilder &, std::vector<Step> &) const {}

  // ---- generated kernels, see LoopEmitter.h and TextEmitter.h ----

  /// result_i[index] = body(operand...[index]) over the iteration shape; operand and result views
  /// have that shape (strides 0 where broadcast). `body` is a block of FusableElementwise ops,
  /// constants and a yield, or null for a copy of the operand. With `byRows` a work item is a row
  /// (all dimensions but the last count rows), otherwise whatever is fastest.
  virtual GeneratedKernel elementwise(ModuleTables &tables, mlir::Block *body,
                                      llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results,
                                      bool byRows) const = 0;
  /// Every element of `to` = value.
  virtual GeneratedKernel fill(ModuleTables &tables, const View &to, double value) const = 0;
  /// Whether reductions take loads with a body, which saves the value a place in memory.
  virtual bool reducesRegions() const { return false; }
  /// Sum, mean or maximum of `from` over `axes` into `to` (shape of the kept dimensions).
  virtual GeneratedKernel reduction(ModuleTables &tables, ReduceKind kind, const Load &from,
                                    llvm::ArrayRef<int64_t> axes, const View &to) const = 0;
  /// partial[i, :] = scale · Σ of rows [i*rowsPerItem, ...) of `from` (a matrix); grid = number of
  /// rows of `partial`.
  virtual GeneratedKernel rowSums(ModuleTables &tables, const Load &from, int64_t rowsPerItem,
                                  const View &partial, double scale) const = 0;
};

} // namespace hybrid
