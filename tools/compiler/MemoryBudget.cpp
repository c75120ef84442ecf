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
#include "llvm/Support/Format.h"

using namespace mlir;

namespace hybrid {
namespace {

/// The search ends when budgets of the pass differ by less than this part.
constexpr int64_t searchParts = 64;

class BudgetSearch {
public:
  BudgetSearch(ModuleOp fused, const DeviceTarget &target, bool rounded, int64_t replicas,
               uint64_t threads)
      : fused(fused), target(target), rounded(rounded), replicas(replicas), threads(threads) {}

  /// What bursts of steps are cut for, once they are.
  uint64_t budget = 0;

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
    result.plan = planMemory(*result.programs, target, threads, budget);
    return result;
  }

  std::string refusal(uint64_t budget, const MemoryPlan &plan) const {
    const SessionMemory &memory = plan.training;
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << "--memory: " << byteSizeText(budget)
           << " cannot be met: training this model takes at least " << byteSizeText(memory.total())
           << " (" << memory.total() << " B)";
    if (!memory.onGpu)
      stream << " with " << threads << (threads == 1 ? " thread" : " threads");
    if (plan.replicas > 1)
      stream << (memory.onGpu ? " with " : " and ") << plan.replicas << " replicas";
    stream << ", of which\n";
    auto part = [&](const llvm::Twine &name, uint64_t bytes) -> llvm::raw_ostream & {
      return stream << "  " << llvm::right_justify(byteSizeText(bytes), 12) << "  " << name << '\n';
    };
    part("parameters, their gradients and moments",
         memory.parameters + memory.gradients + memory.moments);
    part("activations, where the program '" + plan.program +
             "' has most of them at once; the largest:",
         memory.arena);
    for (const MemoryPlan::Part &buffer : llvm::ArrayRef(plan.largest).take_front(4))
      part("    " + llvm::Twine(buffer.op) + (buffer.location.empty() ? "" : " of ") +
               buffer.location,
           buffer.bytes);
    if (memory.ports)
      part(plan.replicas > 1 ? "inputs and outputs of all replicas" : "inputs", memory.ports);
    part("constants", memory.constants);
    part("tiles of rows", memory.tiles);
    if (memory.scratch)
      part("scratch memory of kernels, " + byteSizeText(memory.scratchPerThread) + " a thread",
           memory.scratch);
    if (const uint64_t bytes = memory.products + memory.attention + memory.transforms)
      part("workspace of libraries", bytes);
    if (memory.tables)
      part("tables of inputs and outputs", memory.tables);
    stream << "Give more, or compile for a smaller --batch or --length"
           << (plan.replicas > 1 ? ", or for fewer replicas (--ensemble).\n" : ".\n");
    return text;
  }

private:
  ModuleOp fused;
  const DeviceTarget &target;
  bool rounded;
  int64_t replicas;
  uint64_t threads;
};

} // namespace

FailureOr<Scheduled> scheduleWithin(ModuleOp fused, const DeviceTarget &target, bool rounded,
                                    int64_t replicas, uint64_t budget, uint64_t threads,
                                    std::string &refusal) {
  BudgetSearch search(fused, target, rounded, replicas, threads);
  auto fits = [&](const Scheduled &made) { return made.plan.training.total() <= budget; };
  FailureOr<Scheduled> all = search.schedule(-1, true, true);
  if (failed(all) || budget == 0 || fits(*all))
    return all;
  // Spectra of filters lie idle from the forward to the backward part, too. A region of tiles holds
  // all that goes in and out of it at once: at the smallest budgets ops do better one by one. And
  // bursts of steps then have to be short.
  bool tiles = true;
  FailureOr<Scheduled> best = search.schedule(0, false, tiles);
  if (succeeded(best) && !fits(*best))
    best = search.schedule(0, false, tiles = false);
  if (succeeded(best) && !fits(*best) && best->plan.training.steps > 1) {
    search.budget = budget;
    best = search.schedule(0, false, tiles);
  }
  if (failed(best))
    return failure();
  if (!fits(*best)) {
    refusal = search.refusal(budget, best->plan);
    return failure();
  }
  // Activations are all that can change.
  const SessionMemory &memory = all->plan.training;
  int64_t low = 0, high = static_cast<int64_t>(memory.arena) / (memory.onGpu ? replicas : 1);
  int64_t step = std::max<int64_t>(1, high / searchParts);
  while (high - low > step) {
    int64_t middle = low + (high - low) / 2;
    FailureOr<Scheduled> trial = search.schedule(middle, false, tiles);
    if (failed(trial))
      return failure();
    if (fits(*trial)) {
      best = std::move(trial);
      low = middle;
    } else {
      high = middle;
    }
  }
  return best;
}

} // namespace hybrid
