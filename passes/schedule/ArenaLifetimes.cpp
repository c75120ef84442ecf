//===- ArenaLifetimes.cpp - when a program needs the buffers of its arena ---===//
#include "passes/schedule/ArenaLifetimes.h"
#include "dialect/schedule/Memory.h"

using namespace mlir;

namespace hybrid {

ArenaLifetimes::ArenaLifetimes(ProgramOp program, ArrayRef<Operation *> steps, bool pauses)
    : end(static_cast<int64_t>(steps.size())) {
  llvm::MapVector<Operation *, SmallVector<int64_t>> found;
  for (auto buffer : program.getOps<BufferOp>())
    if (buffer.getSpace() == Space::Arena)
      found[buffer];
  // Tiles run at different times: to all others, a loop is one step.
  for (auto [number, step] : llvm::enumerate(steps))
    for (const Access &access : accessesOf(step))
      if (auto *entry = found.find(access.view.buffer.getDefiningOp()); entry != found.end())
        if (entry->second.empty() || entry->second.back() != static_cast<int64_t>(number))
          entry->second.push_back(static_cast<int64_t>(number));
  llvm::DenseSet<Operation *> outputs;
  for (auto output : program.getOps<OutputOp>())
    outputs.insert(viewOf(output.getValue()).buffer.getDefiningOp());
  for (auto &[op, numbers] : found) {
    auto buffer = cast<BufferOp>(op);
    const bool isOutput = outputs.contains(op);
    if (numbers.empty() && !buffer.isInput())
      continue;
    Lifetime lifetime{buffer.getBytes(), -1, end, -1};
    if (!buffer.isInput())
      lifetime.first = isOutput && pauses ? 0 : numbers.front();
    if (!buffer.isInput() && !isOutput)
      lifetime.last = numbers.back();
    used.push_back(buffer);
    lifetimes.push_back(lifetime);
    users.push_back(std::move(numbers));
  }
}

int64_t ArenaLifetimes::place(const StepOrder &order) {
  /// What is done before it is needed at all, and the last steps that need it.
  struct Span {
    StepOrder::Moment begin, end = StepOrder::start();
  };
  std::vector<Span> spans;
  for (auto [lifetime, steps] : llvm::zip(lifetimes, users)) {
    Span span;
    span.begin.fill(INT64_MAX);
    auto beginAt = [&](const StepOrder::Moment &known) {
      for (auto [own, other] : llvm::zip(span.begin, known))
        own = std::min(own, other);
    };
    for (int64_t step : steps) {
      beginAt(order.before(static_cast<size_t>(step)));
      span.end[order.branchOf(static_cast<size_t>(step))] = step;
    }
    if (steps.empty() || lifetime.first < steps.front())
      beginAt(StepOrder::start());
    if (lifetime.last == end)
      span.end.fill(end);
    spans.push_back(span);
  }
  auto isBehind = [](const Span &a, const Span &b) {
    return llvm::all_of(llvm::zip(a.begin, b.end), [](auto both) {
      auto [known, last] = both;
      return last <= known;
    });
  };
  return planArena(lifetimes, [&](size_t a, size_t b) {
    return !isBehind(spans[a], spans[b]) && !isBehind(spans[b], spans[a]);
  });
}

} // namespace hybrid
