//===- MemoryBudget.cpp - compile for a given amount of memory --------------===//
//
// hybrid-recompute counts activations on the graph; what a session allocates is known when the
// programs are scheduled, with the temporaries of their kernels. So its budget is searched for,
// between as few as can be and all of them.
//
//===----------------------------------------------------------------------===//
#include "tools/compiler/MemoryBudget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "tools/compiler/ByteSize.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace hybrid {
namespace {

/// The search ends when budgets of the pass differ by less than this part.
constexpr int64_t searchParts = 64;

class BudgetSearch {
public:
  BudgetSearch(ModuleOp fused, const DeviceTarget &target, bool rounded, int64_t replicas,
               int64_t threads)
      : fused(fused), target(target), rounded(rounded), replicas(replicas), threads(threads) {}

  FailureOr<Scheduled> schedule(int64_t activations, bool keepSpectra, bool tiles) {
    Scheduled result;
    result.keepSpectra = keepSpectra;
    result.functions = fused.clone();
    PassManager recompute(fused.getContext());
    recompute.addNestedPass<func::FuncOp>(createRecompute({activations}));
    if (tiles)
      target.addTiling(recompute);
    if (failed(recompute.run(*result.functions)))
      return failure();
    result.programs = result.functions->clone();
    PassManager manager(fused.getContext());
    target.addSchedule(manager, keepSpectra, rounded);
    manager.addPass(createEnsemble({replicas}));
    if (failed(manager.run(*result.programs)))
      return failure();
    result.plan = planMemory(*result.programs, threads);
    return result;
  }

  std::string refusal(int64_t budget, const MemoryPlan &plan) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << "--memory: " << byteSizeText(budget)
           << " cannot be met: training this model takes at least " << byteSizeText(plan.total())
           << " (" << plan.total() << " B) with " << threads
           << (threads == 1 ? " thread" : " threads");
    if (plan.replicas > 1)
      stream << " and " << plan.replicas << " replicas";
    stream << ", of which\n";
    auto part = [&](llvm::StringRef name, int64_t bytes) -> llvm::raw_ostream & {
      return stream << "  " << llvm::right_justify(byteSizeText(bytes), 12) << "  " << name;
    };
    part("parameters, their gradients and moments", plan.parameters + plan.gradients + plan.moments)
        << '\n';
    part("activations, where the program '", plan.arenas())
        << plan.program << "' has most of them at once; the largest:\n";
    for (const MemoryPlan::Part &buffer : llvm::ArrayRef(plan.largest).take_front(4)) {
      part("    ", buffer.bytes) << buffer.op;
      if (!buffer.location.empty())
        stream << " of " << buffer.location;
      stream << '\n';
    }
    if (plan.ports)
      part("inputs and outputs of all replicas", plan.ports) << '\n';
    part("constants", plan.constants) << '\n';
    part("tiles of rows", plan.tiles()) << '\n';
    part("scratch memory of kernels, ", plan.scratch())
        << byteSizeText(plan.scratchPerThread) << " a thread\n"
        << "Give more, or compile for a smaller --batch or --length"
        << (plan.replicas > 1 ? ", or for fewer replicas (--ensemble).\n" : ".\n");
    return text;
  }

private:
  ModuleOp fused;
  const DeviceTarget &target;
  bool rounded;
  int64_t replicas, threads;
};

} // namespace

FailureOr<Scheduled> scheduleWithin(ModuleOp fused, const DeviceTarget &target, bool rounded,
                                    int64_t replicas, int64_t budget, int64_t threads,
                                    std::string &refusal) {
  BudgetSearch search(fused, target, rounded, replicas, threads);
  FailureOr<Scheduled> all = search.schedule(-1, true, true);
  if (failed(all) || budget == 0 || all->plan.total() <= budget)
    return all;
  // Spectra of filters lie idle from the forward to the backward part, too. A region of tiles holds
  // all that goes in and out of it at once: at the smallest budgets ops do better one by one.
  bool tiles = true;
  FailureOr<Scheduled> best = search.schedule(0, false, tiles);
  if (succeeded(best) && best->plan.total() > budget)
    best = search.schedule(0, false, tiles = false);
  if (failed(best))
    return failure();
  if (best->plan.total() > budget) {
    refusal = search.refusal(budget, best->plan);
    return failure();
  }
  // Activations are all that can change.
  int64_t low = 0, high = all->plan.arena;
  int64_t step = std::max<int64_t>(1, high / searchParts);
  while (high - low > step) {
    int64_t middle = low + (high - low) / 2;
    FailureOr<Scheduled> trial = search.schedule(middle, false, tiles);
    if (failed(trial))
      return failure();
    if (trial->plan.total() <= budget) {
      best = std::move(trial);
      low = middle;
    } else {
      high = middle;
    }
  }
  return best;
}

} // namespace hybrid
