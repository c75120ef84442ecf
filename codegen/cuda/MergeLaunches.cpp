//===- MergeLaunches.cpp - many small launches become one -------------------===//
#include "codegen/cuda/CodegenCuda.h"
#include "codegen/cuda/MergedKernels.h"
#include "dialect/schedule/Memory.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_MERGELAUNCHES
#include "codegen/cuda/Passes.h.inc"

namespace {

BufferOp bufferOf(const View &view) { return view.buffer.getDefiningOp<BufferOp>(); }

struct MergeLaunches : impl::MergeLaunchesBase<MergeLaunches> {
  using MergeLaunchesBase::MergeLaunchesBase;

  void runOnOperation() override {
    kernels.emplace(getOperation());
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
    mergeRuns(body);
  }

  /// Brief launches that follow one another and need nothing of one another.
  void mergeRuns(Block &body) {
    std::vector<std::vector<LaunchOp>> runs(1);
    SmallVector<Access> accesses; // of the last run
    for (Operation &op : body) {
      auto launch = dyn_cast<LaunchOp>(op);
      const bool isBrief = launch && launch.getBrief();
      const SmallVector<Access> own = accessesOf(&op);
      if (isa<ScheduleStep, TileLoopOp>(op) && (!isBrief || conflict(own, accesses))) {
        runs.emplace_back();
        accesses.clear();
      }
      if (isBrief) {
        runs.back().push_back(launch);
        llvm::append_range(accesses, own);
      }
    }
    for (const std::vector<LaunchOp> &run : runs)
      if (run.size() > 1) {
        // Buffers of the last one are there where that was.
        const Block::iterator behind = std::next(Block::iterator(run.back()));
        append(run, [&](LaunchOp launch) { launch->moveBefore(&body, behind); });
      }
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

  /// Of a parameter's gradient, which nothing else in the program reads, the last sum; what it
  /// reads stays as it is.
  bool canWait(LaunchOp launch) {
    if (!launch.getBrief())
      return false;
    int64_t held = 0;
    for (const Access &access : accessesOf(launch)) {
      const SmallVector<Access> uses = usesOf(access.view.buffer);
      if (access.written) {
        if (bufferOf(access.view).getSpace() != Space::Gradients || uses.size() > 1)
          return false;
        continue;
      }
      held += access.view.extent() * bytesOf(access.view.element);
      if (llvm::any_of(uses, [&](const Access &use) { return writesLater(use, launch, access); }))
        return false;
    }
    return held <= mostPartialBytes;
  }
  bool writesLater(const Access &use, LaunchOp launch, const Access &access) {
    return use.written && use.step != launch &&
           !launch->getBlock()->findAncestorOpInBlock(*use.step)->isBeforeInBlock(launch) &&
           mayOverlap(use.view, access.view);
  }

  /// Launches of the same number of threads become few launches; `place` moves what is left.
  void append(ArrayRef<LaunchOp> launches, llvm::function_ref<void(LaunchOp)> place) {
    SmallVector<LaunchOp> group;
    size_t buffers = 0;
    auto flush = [&] {
      if (!group.empty())
        place(group.size() == 1 ? group[0] : kernels->sideBySide(group));
      numMerged += group.empty() ? 0 : group.size() - 1;
      group.clear();
      buffers = 0;
    };
    for (LaunchOp launch : launches) {
      if (!group.empty() && (buffers + launch.getViews().size() > cuda::mostMergedBuffers ||
                             launch.getThreads() != group[0].getThreads()))
        flush();
      group.push_back(launch);
      buffers += launch.getViews().size();
    }
    flush();
  }

  std::optional<cuda::MergedKernels> kernels;
};

} // namespace
} // namespace hybrid
