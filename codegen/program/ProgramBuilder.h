//===- ProgramBuilder.h - from a function of hybrid ops to a program --------===//
//
// What the lowerings of single ops (codegen/lowering) build with: views of values, storages,
// launches and matrix products. One ProgramBuilder a function; ModuleTables is shared by all
// functions of a module.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"
#include "codegen/program/ArenaPlanner.h"
#include "codegen/program/Backend.h"
#include "codegen/program/Layout.h"
#include "dialect/HybridOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <map>
#include <string>

namespace hybrid {

struct Storage {
  Space space = Space::Arena;
  int64_t bytes = 0;
  int64_t offset = 0; // of non-arena storages
  int64_t first = INT64_MAX, last = -1;
};

/// What a library is asked for by hybrid.library_attention; none where batch is 0.
struct AttentionCall {
  int64_t batch = 0, length = 0, keyLength = 0, heads = 0, kvHeads = 0, headSize = 0;
  bool causal = false, backward = false;
  double scale = 1;
  llvm::SmallVector<int64_t> strides;
};

/// One launch or library call before its buffers have addresses.
struct Step {
  Step(mlir::Operation *op, llvm::ArrayRef<BufferUse> buffers);

  mlir::Location loc;
  std::string source; // op it stands for
  llvm::SmallVector<BufferUse> buffers;
  // Launch
  std::string kernel;
  bool generated = false;
  int64_t grid = 1;
  LaunchShape shape;
  llvm::SmallVector<int64_t> constants;
  std::string store; // functor that takes the last storeBuffers buffers
  int64_t storeBuffers = 0;
  int64_t writes = 0; // of a generated kernel's buffers, the last ones
  bool isSum = false; // of partial results, its first buffer, into its second
  // Matrix product, when m > 0
  int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
  int64_t groups = 0, groupStride = 0; // sizes known at run time: the last buffer is the offsets
  int64_t ldAddend = 0;                // apart from c, when > 0: the last buffer
  bool transposeA = false, transposeB = false, accumulate = false;
  mlir::Type element;
  AttentionCall attention;
  // Inside of a loop over tiles
  int64_t loop = -1, itemsPerTile = 0; // index of the loop
};

/// What people call an op: "linear", "fused(silu, mul)", "row_tiles(rmsnorm, linear)".
std::string sourceName(mlir::Operation *op);

/// A loop over tiles of rows: the steps between two places of the program.
struct TileLoop {
  RowTilesOp op; // null once it is lowered
  mlir::Location loc;
  std::string source;
  bool sequential;
  int64_t rows, tile;
  int64_t firstStep; // when its buffers outside of the tile are used: all at once
  int64_t tileBytes = 0;
  llvm::DenseSet<mlir::Value> yielded;
  llvm::SmallVector<int64_t> storages; // in the tile
  std::vector<std::function<void()>> after;
};

/// A table in the constants space that the program `setup` fills.
struct SetupTable {
  KernelName kernel;
  LaunchShape shape;
  int64_t grid, offset, bytes;
};

/// What the functions of a module share.
struct ModuleTables {
  ModuleTables(mlir::ModuleOp module, const Backend &backend) : module(module), backend(backend) {}

  mlir::ModuleOp module;
  const Backend &backend;
  struct Parameter {
    int64_t offset;
    mlir::RankedTensorType type;
    ParameterOp op;
  };
  llvm::MapVector<mlir::StringAttr, Parameter> parameters;
  int64_t parameterBytes = 0;
  std::vector<char> constants; // initial contents
  int64_t constantsBytes = 0;  // with the tables behind
  std::vector<SetupTable> tables;
  llvm::StringMap<int64_t> tableIndex;            // kernel and constants -> index in `tables`
  llvm::StringMap<std::string> generatedKernels;  // body -> symbol
  std::map<std::string, std::string> kernelFiles; // kernel of the library -> its contract
  bool keepSpectra = true;                        // of filters, from one use to the next

  /// Offset of these bytes in the constants space.
  int64_t addConstant(llvm::ArrayRef<char> bytes);
  /// Index of a table filled by `kernel`; an equal one made before is shared.
  int64_t addTable(KernelName kernel, LaunchShape shape, int64_t grid, int64_t bytes);
  /// Places tables behind the constants; call once, when all programs are lowered.
  void placeTables();
};

class ProgramBuilder {
public:
  ProgramBuilder(ModuleTables &tables, mlir::func::FuncOp function);

  /// Lowers the whole function to steps; then finish() makes the program op.
  mlir::LogicalResult lowerFunction();
  /// Plans the arena and creates `hybrid.program` before the function.
  void finish(mlir::OpBuilder &builder);

  // ---- for the lowerings ----

  ModuleTables &tables;
  mlir::func::FuncOp function;

  const Backend &backend() const { return tables.backend; }
  const DeviceTraits &device() const { return backend().device; }

  /// The view of an operand. Constants become storages on first use.
  View view(mlir::Value value);
  /// The view a result is computed into: where its user wants it (parameters, gradients, a part of
  /// a concat), or new arena memory.
  View define(mlir::Value result);
  /// The same for kernels that write dense results only: when its user wants it otherwise, the user
  /// copies.
  View defineDense(mlir::Value result);
  /// Makes `result` another name for a view.
  void alias(mlir::Value result, View view) { views[result] = std::move(view); }
  bool isDefined(mlir::Value value) const { return views.count(value); }
  /// Where the rows of a kernel's result go.
  Store storeOf(mlir::Value result, bool kept = false) {
    return backend().store(result, *this, kept);
  }
  /// Notes that another op's kernel computes `op`.
  void absorb(mlir::Operation *op) { absorbed.insert(op); }
  bool isAbsorbed(mlir::Operation *op) const { return absorbed.contains(op); }
  /// Lowers the body of a region so that it runs tile by tile.
  mlir::LogicalResult lowerTiles(RowTilesOp op);
  /// Whether what is lowered now runs tile by tile.
  bool inTiles() const { return !loops.empty() && loops.back().op; }
  /// Does `work` now, or behind the loop over tiles that is being lowered: for what needs all rows.
  void afterTiles(std::function<void()> work);
  /// Rows one work item of a sum over rows covers: about Backend::itemsOfSums() items in all; in
  /// tiles, so that items end with tiles.
  int64_t rowsPerItem(int64_t rows) const;
  /// New dense arena memory.
  View temporary(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// A view of `value` with contiguous columns and equally spaced rows; copies when it has none.
  /// `stride` is the row stride.
  View rows(mlir::Value value, int64_t &stride);
  /// Rows of two values with the same row stride; dense copies when they differ.
  std::pair<View, View> rowsAlike(mlir::Value a, mlir::Value b, int64_t &stride);
  /// A dense view; copies when there is none.
  View dense(mlir::Value value);
  View denseCopy(const View &from);

  BufferUse use(const View &view);
  BufferUse optionalUse(mlir::Value value); // dense; absent for a null value
  static BufferUse absent() { return {}; }

  /// What a contract decides for this device: see decide(). `arguments` may be changed.
  template <typename Decision, typename... Arguments>
  auto ask(mlir::Type element, Arguments &&...arguments) const {
    const bool onCpu = device().kind == Device::Cpu;
    return element.isF64() ? decide<Decision, double>(onCpu, arguments...)
                           : decide<Decision, float>(onCpu, arguments...);
  }
  /// A launch of a kernel of the library, for tensors of `element`: its contract
  /// (codegen/kernels/Kernel.h) says how it runs. With a store, that is its last operand.
  template <typename Kernel>
  void launch(mlir::Type element, const typename Kernel::Params &params,
              llvm::ArrayRef<BufferUse> buffers, const Store &store = {}) {
    launchKernel(Kernel::name, element, ask<Kernel>(element, params), wordsOf(params), buffers,
                 store);
  }
  /// A table of constants of `elements` elements that the kernel fills when a session starts; equal
  /// ones are shared. Its only buffer is the table.
  template <typename Kernel>
  View constantTable(mlir::Type element, const typename Kernel::Params &params, int64_t elements) {
    return tableBy(Kernel::name, element, ask<Kernel>(element, params), wordsOf(params), elements);
  }
  void launchGenerated(const GeneratedKernel &kernel, llvm::ArrayRef<BufferUse> buffers);
  void matmul(const View &a, bool transposeA, const View &b, bool transposeB, const ProductPlace &c,
              std::optional<View> bias);
  /// Products of groups of rows: group e of a with matrix e of b, or with transposeA group e of a
  /// and of b into matrix e of c; `offsets` as in hybrid.library_matmul. All dense.
  void groupedMatmul(const View &a, bool transposeA, const View &b, bool transposeB, const View &c,
                     const View &offsets);
  /// Attention by a library: buffers as in hybrid.library_attention.
  void attention(AttentionCall call, llvm::ArrayRef<BufferUse> buffers);
  /// out[j] = Σ_i partial[i, j]; partial has `count` rows `stride` apart.
  void sumPartials(const View &partial, int64_t count, int64_t stride, const View &out);
  void copy(const View &from, const View &to);
  void fill(const View &to, double value);
  /// What is made from `value` and is worth keeping within a program, as the spectrum of a filter:
  /// the view that `make` gave for this value and variant before, or gives now.
  View derived(mlir::Value value, int64_t variant, llvm::function_ref<View()> make);

  int64_t addStorage(Storage storage);
  Storage &storage(int64_t index) { return storages[index]; }
  /// The op being lowered: its name and location go into the steps.
  mlir::Operation *current = nullptr;

private:
  void launchKernel(llvm::StringRef name, mlir::Type element, Grid grid,
                    const KernelConstants &constants, llvm::ArrayRef<BufferUse> buffers,
                    const Store &store);
  View tableBy(llvm::StringRef kernel, mlir::Type element, Grid grid,
               const KernelConstants &constants, int64_t elements);
  /// The kernel as launches name it; notes in which file it is.
  KernelName kernelName(llvm::StringRef name, mlir::Type element, const KernelConstants &constants);
  void assignDestinations();
  void addStep(Step step);
  void findLifetimes();
  int64_t itemsPerTile(int64_t grid) const;
  View temporaryFor(mlir::Value result);
  mlir::Attribute bufferAttr(const BufferUse &use);
  /// What fills the arena where it is fullest: op, location and bytes of the largest buffers.
  mlir::ArrayAttr largestAtPeak(mlir::Builder &builder, llvm::ArrayRef<Lifetime> lifetimes);
  View parameterView(mlir::StringAttr name, Space space);
  void finishResults();
  void create(const Step &step, mlir::OpBuilder &builder);

  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, View> destinations; // decided before lowering
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, View> derivedViews;
  std::vector<Storage> storages;
  std::vector<Step> steps;
  std::vector<TileLoop> loops;
  llvm::DenseSet<mlir::Operation *> absorbed;
  struct Port {
    std::string name;
    View view;
  };
  std::vector<Port> inputs, outputs;
};

/// Lowers one op to launches, library calls and views (codegen/lowering).
mlir::LogicalResult lowerOp(mlir::Operation *op, ProgramBuilder &program);

} // namespace hybrid
