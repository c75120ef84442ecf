//===- ChainLaunches.cpp - small launches in a row become one block ---------===//
//
// What a launch of a few blocks computes takes less than the launch, and where the next one needs
// it, nothing hides that: a filter network over positions, and its gradient, are 25 launches of
// microseconds. A block that does one after the other has barriers between them.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/CodegenCuda.h"
#include "codegen/cuda/MergedKernels.h"
#include "dialect/schedule/Memory.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_CHAINLAUNCHES
#include "codegen/cuda/Passes.h.inc"

namespace {

/// Of a block, as elementwise kernels, small products and short sums have.
constexpr uint64_t threadsOfChain = 256;
/// How many steps behind the last launch of a chain a further one may be: one that needs the chain,
/// and one that does not, for which the chain should hardly wait.
constexpr size_t farthest = 16, near = 3;

/// Launches that will be one where the last of them is.
struct Chain {
  SmallVector<LaunchOp> launches;
  SmallVector<Access> accesses; // of them all

  void add(LaunchOp launch) {
    launches.push_back(launch);
    llvm::append_range(accesses, accessesOf(launch));
  }
  /// Whether a kernel can have the views of these and of the launch as parameters, which share no
  /// memory that one of them writes unless they are the same.
  bool hasRoomFor(ArrayRef<Access> more) const {
    if (accesses.size() + more.size() > cuda::mostMergedBuffers)
      return false;
    return llvm::all_of(more, [&](const Access &a) {
      return llvm::all_of(llvm::concat<const Access>(accesses, more), [&](const Access &b) {
        return a.view.offset == b.view.offset || !(a.written || b.written) ||
               !mayOverlap(a.view, b.view);
      });
    });
  }
};

struct ChainLaunches : impl::ChainLaunchesBase<ChainLaunches> {
  using ChainLaunchesBase::ChainLaunchesBase;

  void runOnOperation() override {
    cuda::MergedKernels kernels(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>())
      if (program.getSymName() != "init" &&
          program.getSymName() != "update") // they write parameters
        for (const Chain &chain : chainsOf(program))
          if (chain.launches.size() > 1) {
            numChained += chain.launches.size() - 1;
            kernels.oneAfterAnother(chain.launches);
          }
  }

private:
  bool isSmall(LaunchOp launch) const {
    return (launch.getGenerated() || launch.getBrief()) && launch.getThreads() == threadsOfChain &&
           static_cast<int64_t>(launch.getGrid()) <= mostBlocks && launch.getGrid() > 0 &&
           launch.getItemsPerTile() == 0 && launch.getFunctions().empty() &&
           launch.getItemSpans().empty();
  }

  std::vector<Chain> chainsOf(ProgramOp program) const {
    std::vector<Chain> chains;
    llvm::DenseMap<Operation *, size_t> lasts; // chains by their last launch
    for (auto launch : program.getOps<LaunchOp>()) {
      if (!isSmall(launch))
        continue;
      Chain *chain = before(launch, chains, lasts);
      if (!chain)
        chain = &chains.emplace_back();
      else
        lasts.erase(chain->launches.back());
      chain->add(launch);
      lasts[launch] = static_cast<size_t>(chain - chains.data());
    }
    return chains;
  }

  /// The nearest chain that the launch needs something of, or that is near, where nothing in
  /// between does: all of it can run as late as the launch.
  Chain *before(LaunchOp launch, std::vector<Chain> &chains,
                const llvm::DenseMap<Operation *, size_t> &lasts) const {
    const SmallVector<Access> own = accessesOf(launch);
    if (readsCotangent(launch)) // the program may pause in front of it
      return nullptr;
    SmallVector<Access> between;
    size_t steps = 0;
    for (Operation *op = launch->getPrevNode(); op && steps < farthest; op = op->getPrevNode()) {
      if (!isa<ScheduleStep, TileLoopOp>(op))
        continue;
      ++steps;
      if (auto found = lasts.find(op); found != lasts.end()) {
        Chain &chain = chains[found->second];
        const bool fits = !conflict(between, chain.accesses) && chain.hasRoomFor(own);
        if (conflict(own, chain.accesses) || (fits && steps <= near))
          return fits ? &chain : nullptr;
      }
      if (readsCotangent(op))
        return nullptr;
      llvm::append_range(between, accessesOf(op));
    }
    return nullptr;
  }
};

} // namespace
} // namespace hybrid
