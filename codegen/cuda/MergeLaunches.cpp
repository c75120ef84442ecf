//===- MergeLaunches.cpp - many small launches become one -------------------===//
#include "codegen/cuda/CodegenCuda.h"
#include "dialect/schedule/Memory.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_MERGELAUNCHES
#include "codegen/cuda/Passes.h.inc"

namespace {

/// Of the merged launch; an executable allows 64.
constexpr size_t mostBuffers = 60;

BufferOp bufferOf(const View &view) { return view.buffer.getDefiningOp<BufferOp>(); }

struct MergeLaunches : impl::MergeLaunchesBase<MergeLaunches> {
  using MergeLaunchesBase::MergeLaunchesBase;

  void runOnOperation() override {
    kernels.clear();
    sources = llvm::range_size(getOperation().getOps<KernelSourceOp>());
    for (auto program : getOperation().getOps<ProgramOp>())
      if (program.getSymName() != "init" &&
          program.getSymName() != "update") // they write parameters
        merge(program);
  }

private:
  void merge(ProgramOp program) {
    std::vector<LaunchOp> first, last;
    llvm::DenseSet<Value> touched; // buffers of the steps looked at so far
    Operation *front = nullptr;
    for (Operation &op : program.getBody().front()) {
      if (isa<ScheduleStep, TileLoopOp>(op) && !front)
        front = &op;
      if (auto launch = dyn_cast<LaunchOp>(op)) {
        if (isReady(launch, touched))
          first.push_back(launch);
        else if (canWait(launch))
          last.push_back(launch);
      }
      for (const Access &access : accessesOf(&op))
        touched.insert(access.view.buffer);
    }
    if (!front)
      return;
    // The place in front of all steps stays when the first of them is merged.
    OpBuilder builder(front);
    auto start =
        AbsentOp::create(builder, program.getLoc(), MemRefType::get({0}, builder.getF32Type()));
    append(first, [&](LaunchOp launch) { launch->moveBefore(start); });
    start.erase();
    // Outputs stay behind all steps.
    Block &body = program.getBody().front();
    Block::iterator end = body.end();
    while (isa<OutputOp>(*std::prev(end)))
      --end;
    append(last, [&](LaunchOp launch) { launch->moveBefore(&body, end); });
  }

  /// Elementwise on parameters and constants; what it writes, nobody has written a part of before.
  bool isReady(LaunchOp launch, const llvm::DenseSet<Value> &touched) {
    if (!launch.getGenerated() || static_cast<int64_t>(launch.getGrid()) > mostBlocks)
      return false;
    size_t reads = 0;
    for (OpOperand &operand : launch.getViewsMutable()) {
      View view = viewOf(operand.get());
      if (!view.isPresent())
        return false;
      Space space = bufferOf(view).getSpace();
      bool writes = launch.writesOperand(operand.getOperandNumber());
      if (writes ? space != Space::Arena || touched.contains(view.buffer)
                 : space != Space::Parameters && space != Space::Constants)
        return false;
      reads += !writes;
    }
    return reads > 0;
  }

  /// The last sum of a parameter's gradient, which nothing else in the program reads.
  bool canWait(LaunchOp launch) {
    if (!launch.getKernel().starts_with("sumPartials<"))
      return false;
    View partial = viewOf(launch.getViews()[0]), out = viewOf(launch.getViews()[1]);
    return partial.extent() * bytesOf(partial.element) <= mostPartialBytes &&
           bufferOf(out).getSpace() == Space::Gradients && usesOf(out.buffer).size() == 1;
  }

  /// Launches of the same number of threads become few launches; `place` moves what is left.
  void append(ArrayRef<LaunchOp> launches, llvm::function_ref<void(LaunchOp)> place) {
    SmallVector<LaunchOp> group;
    size_t buffers = 0;
    auto flush = [&] {
      if (!group.empty())
        place(group.size() == 1 ? group[0] : merged(group));
      group.clear();
      buffers = 0;
    };
    for (LaunchOp launch : launches) {
      if (!group.empty() && (buffers + launch.getViews().size() > mostBuffers ||
                             launch.getThreads() != group[0].getThreads()))
        flush();
      group.push_back(launch);
      buffers += launch.getViews().size();
    }
    flush();
  }

  LaunchOp merged(ArrayRef<LaunchOp> group) {
    std::string parameters, body, names;
    SmallVector<StringRef> called;
    SmallVector<Value> views;
    SmallVector<int64_t> writes;
    int64_t grid = 0;
    LaunchOp head = group[0];
    LaunchConfiguration configuration{static_cast<int64_t>(head.getThreads()), 0};
    for (LaunchOp launch : group) {
      body += grid == 0 ? "  " : " else ";
      if (launch != group.back())
        body += llvm::formatv("if (item < {0}) ", grid + launch.getGrid());
      body += llvm::formatv("{{\n    {0}(item - {1}", launch.getKernel(), grid);
      for (int64_t index : launch.getWrites())
        writes.push_back(static_cast<int64_t>(views.size()) + index);
      for (Value view : launch.getViews()) {
        parameters += llvm::formatv(", Buffer b{0}", views.size());
        body += llvm::formatv(", b{0}", views.size());
        views.push_back(view);
      }
      body += ");\n  }";
      grid += static_cast<int64_t>(launch.getGrid());
      configuration.scratchBytes =
          std::max(configuration.scratchBytes, static_cast<int64_t>(launch.getScratchBytes()));
      StringRef name = launch.getKernel().take_until([](char c) { return c == '<'; });
      if (!llvm::is_contained(called, name))
        called.push_back(name);
      if (launch != head)
        names += ", ";
      names += launch.getSource();
    }
    OpBuilder builder(head);
    auto result = LaunchOp::create(
        builder, head.getLoc(), add(parameters + ") {\n" + body + "\n}\n", called), grid, views,
        llvm::formatv("{0} launches in one ({1})", group.size(), StringRef(names).take_front(160))
            .str(),
        /*constants=*/{}, configuration, writes);
    result.setGenerated(true);
    numMerged += group.size() - 1;
    for (LaunchOp launch : group)
      launch.erase();
    return result;
  }

  /// The kernel of this text, without its name.
  std::string add(const std::string &text, ArrayRef<StringRef> called) {
    auto [entry, inserted] = kernels.try_emplace(text);
    if (!inserted)
      return entry->second;
    entry->second = "merged_" + std::to_string(sources++);
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    KernelSourceOp::create(builder, getOperation().getLoc(), entry->second,
                           "HYBRID_DEVICE void " + entry->second + "(int64_t item" + text,
                           builder.getStrArrayAttr(called));
    return entry->second;
  }

  llvm::StringMap<std::string> kernels; // text -> symbol
  size_t sources = 0;                   // of kernels in the module
};

} // namespace
} // namespace hybrid
