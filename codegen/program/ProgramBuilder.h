//===- ProgramBuilder.h - from a function of hybrid ops to a program --------===//
//
// What the lowerings of single ops (codegen/lowering) build with: views of values, buffers and
// steps of the schedule dialect. One ProgramBuilder a function; ModuleTables is shared by all
// functions of a module.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"
#include "codegen/program/Backend.h"
#include "codegen/program/ModuleTables.h"
#include "passes/Destinations.h"
#include <functional>
#include <string>

namespace hybrid {

/// What a library is asked for by schedule.library_attention.
struct AttentionCall {
  int64_t batch = 0, length = 0, keyLength = 0, heads = 0, kvHeads = 0, headSize = 0;
  bool causal = false, backward = false;
  double scale = 1;
  llvm::SmallVector<int64_t> strides;
};

/// What schedule.recurrence takes; null or empty where there is none.
struct RecurrenceCall {
  llvm::SmallVector<mlir::Value> inputs, invariants;
  mlir::Value segments, initialState, cotangent, stateCotangent;
  llvm::SmallVector<mlir::Value> rows, sums;
  mlir::Value finalState, frame, trajectory;
  int64_t batch, length, batchRows, kept;
};

/// A buffer of a launch: a view, which may be none, or what is used already.
struct LaunchOperand {
  View view;
  BufferUse use;

  LaunchOperand(const View &view) : view(view) {}
  LaunchOperand(BufferUse use) : use(use) {}
};

/// What a kernel's contract says of it, and of its buffers, by number.
struct KernelTraits {
  bool isBrief;
  std::function<bool(int64_t)> writes, isActivation, isRoundable;
  bool storesRows;
  int64_t rowOperand;
};

/// What people call an op: "linear", "fused(silu, mul)", "row_tiles(rmsnorm, linear)".
std::string sourceName(mlir::Operation *op);

class ProgramBuilder {
public:
  ProgramBuilder(ModuleTables &tables, mlir::func::FuncOp function);

  /// Makes the program of the whole function, in front of it.
  mlir::LogicalResult lowerFunction();

  // ---- for the lowerings ----

  ModuleTables &tables;
  mlir::func::FuncOp function;

  const Backend &backend() const { return tables.backend; }
  const DeviceTraits &device() const { return backend().device; }

  /// The view of an operand; not present where those who read the value compute it. Constants
  /// become buffers on first use.
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
  Store storeOf(mlir::Value result);
  /// A store to a view of equally spaced rows.
  Store storeAt(const View &place);
  /// Lowers the body of a region so that it runs tile by tile.
  mlir::LogicalResult lowerTiles(RowTilesOp op);
  /// Whether what is lowered now runs tile by tile.
  bool inTiles() const { return !!loop; }
  /// Does `work` now, or behind the loop over tiles that is being lowered: for what needs all rows.
  void afterTiles(std::function<void()> work);
  /// Rows one work item of a sum over rows covers: about Backend::itemsOfSums() items in all; in
  /// tiles, so that items end with tiles.
  int64_t rowsPerItem(int64_t rows) const;
  /// New dense arena memory.
  View temporary(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// Where a parameter lies, or with another space what belongs to it.
  View parameterView(mlir::StringAttr name, Space space = Space::Parameters);
  /// Of a space that belongs to parameters, what of it belongs to those that are trained.
  View wholeSpace(Space space, mlir::Type element);
  /// These bytes, among the constants.
  View constant(llvm::ArrayRef<int64_t> shape, mlir::Type element, llvm::ArrayRef<char> bytes);
  /// A view of `value` with contiguous columns and equally spaced rows; copies when it has none.
  /// `stride` is the row stride.
  View rows(mlir::Value value, int64_t &stride);
  /// Rows of two values with the same row stride; dense copies when they differ.
  std::pair<View, View> rowsAlike(mlir::Value a, mlir::Value b, int64_t &stride);
  /// A dense view; copies when there is none.
  View dense(mlir::Value value);
  View denseCopy(const View &from);

  BufferUse use(const View &view) { return materialize(view, builder); }
  BufferUse optionalUse(mlir::Value value); // dense; absent for a null value
  View optionalDense(mlir::Value value) { return value ? dense(value) : View(); }
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
  /// `functions` are those that the kernel calls, as functionOf() names them.
  template <typename Kernel>
  LaunchOp launch(mlir::Type element, const typename Kernel::Params &params,
                  llvm::ArrayRef<BufferUse> buffers, const Store &store = {},
                  llvm::ArrayRef<std::string> functions = {}) {
    const bool onCpu = device().kind == Device::Cpu;
    return launchKernel(
        Kernel::name(), element, ask<Kernel>(element, params), wordsOf(params), buffers,
        {Kernel::isBrief, [=](int64_t buffer) { return Kernel::writes(buffer, onCpu); },
         [=](int64_t buffer) { return Kernel::isActivation(buffer, onCpu); }, Kernel::isRoundable,
         !onCpu && Kernel::storesRows(params), onCpu ? -1 : Kernel::rowOperand},
        store, functions);
  }
  template <typename Kernel>
  LaunchOp launch(mlir::Type element, const typename Kernel::Params &params,
                  std::initializer_list<LaunchOperand> buffers, const Store &store = {},
                  llvm::ArrayRef<std::string> functions = {}) {
    llvm::SmallVector<BufferUse> uses;
    for (const LaunchOperand &buffer : buffers)
      uses.push_back(buffer.view.isPresent() ? use(buffer.view) : buffer.use);
    return launch<Kernel>(element, params, llvm::ArrayRef<BufferUse>(uses), store, functions);
  }
  /// A function of numbers that a kernel calls, of a region of elementwise ops on them: its symbol.
  std::string functionOf(mlir::Region &body);
  /// A table of constants of `elements` elements that the kernel fills when a session starts; equal
  /// ones are shared. Its only buffer is the table.
  template <typename Kernel>
  View constantTable(mlir::Type element, const typename Kernel::Params &params, int64_t elements) {
    return tableBy(Kernel::name(), element, ask<Kernel>(element, params), wordsOf(params),
                   elements);
  }
  void matmul(const View &a, bool transposeA, const View &b, bool transposeB, const View &c,
              std::optional<View> bias);
  /// Products of a [batch, m, k] and b [batch, k, n], or their transposes, each with equally spaced
  /// rows.
  void batchedMatmul(const View &a, bool transposeA, const View &b, bool transposeB, const View &c);
  /// Products of groups of rows: group e of a with matrix e of b, or with transposeA group e of a
  /// and of b into matrix e of c; `offsets` as in schedule.library_matmul. All dense.
  void groupedMatmul(const View &a, bool transposeA, const View &b, bool transposeB, const View &c,
                     const View &offsets);
  /// Attention by a library: buffers as in schedule.library_attention.
  void attention(AttentionCall call, llvm::ArrayRef<BufferUse> buffers);
  /// Transforms by a library: of columns of x [points, signals] and `spectrum` [points/2 + 1,
  /// signals, 2], both dense, as in schedule.library_fft.
  void fourier(const View &x, const View &spectrum, bool inverse);
  /// Bytes for and from the other ranks of a sequence: buffers as in schedule.exchange, dense.
  void exchange(RankPattern pattern, int64_t ranks, llvm::ArrayRef<View> buffers);
  /// A step at every position; the caller fills its regions.
  RecurrenceStepOp recurrence(const RecurrenceCall &call);
  /// Elementwise: results of the region's shape, operands broadcast to it.
  void compute(FusedOp op);
  void reduce(ReduceKind kind, const View &from, llvm::ArrayRef<int64_t> axes, const View &to);
  /// partial[i, :] = scale · Σ of rows [i*rowsPerItem, ...) of `from`, a matrix.
  void rowSums(const View &from, int64_t rowsPerItem, const View &partial, double scale);
  /// out[j] = Σ_i partial[i, j]; partial has `count` rows `stride` apart.
  void sumPartials(const View &partial, int64_t count, int64_t stride, const View &out);
  void copy(const View &from, const View &to);
  void fill(const View &to, double value);
  /// What is made from `value` and is worth keeping within a program, as the spectrum of a filter:
  /// the view that `make` gave for this value and variant before, or gives now.
  View derived(mlir::Value value, int64_t variant, llvm::function_ref<View()> make);
  /// The op being lowered: its name and location go into the steps.
  mlir::Operation *current = nullptr;

private:
  /// Where a result is wanted; none: nowhere but where its op puts it.
  std::optional<View> destinationOf(mlir::Value result);
  View newBuffer(llvm::ArrayRef<int64_t> shape, mlir::Type element, Space space = Space::Arena,
                 mlir::StringAttr name = {}, std::optional<int64_t> at = {});
  View temporaryFor(mlir::Value result);
  LaunchOp launchKernel(llvm::StringRef name, mlir::Type element, Grid grid,
                        const KernelConstants &constants, llvm::ArrayRef<BufferUse> buffers,
                        const KernelTraits &traits, const Store &store,
                        llvm::ArrayRef<std::string> functions);
  View tableBy(llvm::StringRef kernel, mlir::Type element, Grid grid,
               const KernelConstants &constants, int64_t elements);
  /// The kernel as launches name it; notes in which file it is.
  KernelName kernelName(llvm::StringRef name, mlir::Type element, const KernelConstants &constants,
                        llvm::ArrayRef<std::string> functions = {});
  mlir::Location loc() const { return current->getLoc(); }
  void finishResults();

  const Destinations destinations;
  ProgramOp program;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, View> wholes; // of concatenations
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, View> derivedViews;
  llvm::DenseMap<std::pair<mlir::StringAttr, Space>, View> parameterViews;
  AbsentOp absentBuffer; // behind the declarations of buffers
  // Of the loop over tiles that is being lowered
  TileLoopOp loop;
  AbsentOp tileStart;
  llvm::DenseSet<mlir::Value> yielded;
  std::vector<std::pair<mlir::Operation *, std::function<void()>>> after; // of each op
};

/// Lowers one op to launches, library calls and views (codegen/lowering).
mlir::LogicalResult lowerOp(mlir::Operation *op, ProgramBuilder &program);

} // namespace hybrid
