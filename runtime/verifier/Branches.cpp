//===- Branches.cpp - steps that may run at the same time touch different memory ===//
//
// Of every byte is kept which step of each branch wrote and read it last. A step that touches it
// must know those of other branches to be done: by its own branch, by what it waits for, or by what
// these knew.
//
//===----------------------------------------------------------------------===//
#include "executable/Limits.h"
#include "executable/RankSteps.h"
#include "executable/Spaces.h"
#include "runtime/verifier/Verifier.h"
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

namespace hybrid::rt::verifier {

namespace {

/// Parts of spaces that all steps of a program look at, so that no file takes long.
constexpr uint64_t mostVisits = uint64_t(1) << 26;

/// A number for each branch: one more than that of a step of it, 0 for none.
using Moment = std::array<uint32_t, mostBranches>;

/// What is done before each step begins.
class Order {
public:
  explicit Order(const fb::Program &program) {
    std::array<Moment, mostBranches> known{}; // to the next step of a branch
    for (unsigned i = 0; i < program.steps()->size(); ++i) {
      const fb::Step &step = *program.steps()->Get(i);
      Moment &own = known[step.branch()];
      for (unsigned j = 0; step.after() && j < step.after()->size(); ++j) {
        const unsigned earlier = step.after()->Get(j);
        for (unsigned branch = 0; branch < mostBranches; ++branch)
          own[branch] = std::max(own[branch], before[earlier][branch]);
        uint32_t &done = own[program.steps()->Get(earlier)->branch()];
        done = std::max(done, earlier + 1);
      }
      before.push_back(own);
      own[step.branch()] = i + 1;
    }
  }
  const Moment &of(unsigned step) const { return before[step]; }

private:
  std::vector<Moment> before;
};

/// Who touched the bytes of a space last.
class Touched {
public:
  /// The step that a step of a branch should have waited for, by its number.
  std::optional<uint32_t> access(const fb::BufferRef &buffer, bool written, uint32_t step,
                                 unsigned branch, const Moment &done, uint64_t &visits) {
    if (buffer.bytes() == 0)
      return {};
    const uint64_t begin = buffer.offset(), end = begin + buffer.bytes();
    cut(begin), cut(end);
    for (auto at = parts.lower_bound(begin); at != parts.end() && at->first < end; ++at, ++visits)
      for (unsigned other = 0; other < mostBranches; ++other) {
        const Part &part = at->second;
        const uint32_t last =
            written ? std::max(part.writes[other], part.reads[other]) : part.writes[other];
        if (last > done[other] && other != branch)
          return last - 1;
      }
    if (written) { // nobody needs to know of who came before
      parts.erase(parts.lower_bound(begin), parts.lower_bound(end));
      parts[begin].writes[branch] = step + 1;
      return {};
    }
    for (auto at = parts.lower_bound(begin); at != parts.end() && at->first < end; ++at)
      at->second.reads[branch] = step + 1;
    return {};
  }

private:
  struct Part {
    Moment writes{}, reads{};
  };
  /// Makes a part begin here.
  void cut(uint64_t at) {
    auto next = parts.lower_bound(at);
    if (next == parts.end() || next->first != at)
      parts.emplace_hint(next, at, std::prev(next)->second);
  }
  /// By where they begin; each reaches to the next.
  std::map<uint64_t, Part> parts{{0, Part()}};
};

/// Calls `visit` with each buffer of a step, and whether it is written.
template <typename Visit>
Result<void> visitAccesses(const fb::Step &step, const fb::TileLoop *loop,
                           const KernelShapes &kernels, const std::string &where, Visit visit) {
  if (const auto *launch = step.operation_as_KernelLaunch()) {
    auto shape = kernels.find(*launch, loop, where);
    if (!shape)
      return shape.error();
    if (!*shape)
      return error("corrupt: {} is on branches, but the executable does not describe kernels",
                   where);
    for (unsigned i = 0; launch->buffers() && i < launch->buffers()->size(); ++i)
      visit(*launch->buffers()->Get(i), (*shape)->buffers()->Get(i)->written());
    return {};
  }
  if (const auto *tiles = step.operation_as_TileLoop()) {
    for (unsigned i = 0; tiles->steps() && i < tiles->steps()->size(); ++i)
      if (auto done = visitAccesses(*tiles->steps()->Get(i), tiles, kernels, where, visit); !done)
        return done;
    return {};
  }
  if (const auto *product = step.operation_as_Matmul()) {
    for (const fb::BufferRef *read :
         {product->a(), product->b(), product->bias(), product->offsets(), product->addend()})
      if (read)
        visit(*read, false);
    visit(*product->c(), true);
    return {};
  }
  if (const auto *attention = step.operation_as_Attention()) {
    for (unsigned i = 0; i < attention->buffers()->size(); ++i)
      visit(*attention->buffers()->Get(i), i >= (attention->backward() ? 6u : 3u));
    return {};
  }
  if (const auto *transform = step.operation_as_Transform()) { // the way back spoils its spectrum
    visit(*transform->real(), transform->inverse());
    visit(*transform->spectrum(), true);
    return {};
  }
  if (const auto *exchange = step.operation_as_Exchange()) {
    if (exchange->send())
      visit(*exchange->send(), false);
    if (exchange->receive())
      visit(*exchange->receive(), true);
    return {};
  }
  if (const auto *sum = step.operation_as_AllReduce()) {
    for (const fb::BufferRef *buffer : *sum->buffers())
      visit(*buffer, true);
    if (sum->weight())
      visit(*sum->weight(), false);
    return {};
  }
  // What waits for sums over ranks: until then their memory is on its way.
  for (const fb::BufferRef &buffer : buffersOf(step))
    visit(buffer, true);
  return {};
}

} // namespace

Result<void> Verifier::checkBranch(const fb::Program &program, unsigned number) const {
  const fb::Step &step = *program.steps()->Get(number);
  const bool mayPart = step.operation_as_KernelLaunch() || step.operation_as_Matmul();
  if (step.branch() >= mostBranches || (step.branch() != 0 && !mayPart))
    return error("corrupt: step {} of program '{}' is on branch {}, which it cannot be on", number,
                 programName, step.branch());
  for (unsigned i = 0; step.after() && i < step.after()->size(); ++i) {
    const uint32_t earlier = step.after()->Get(i);
    if (earlier >= number || program.steps()->Get(earlier)->branch() == step.branch())
      return error("corrupt: step {} of program '{}' waits for step {}, expected an earlier one on "
                   "another branch",
                   number, programName, earlier);
  }
  const auto *tiles = step.operation_as_TileLoop();
  for (unsigned i = 0; tiles && tiles->steps() && i < tiles->steps()->size(); ++i) {
    const fb::Step &inner = *tiles->steps()->Get(i);
    if (inner.branch() != 0 || (inner.after() && inner.after()->size()))
      return error("corrupt: part {} of step {} of program '{}' is on a branch of its own", i,
                   number, programName);
  }
  return {};
}

/// The steps have been checked one by one.
Result<void> Verifier::checkBranches(const fb::Program &program) const {
  const unsigned steps = program.steps()->size();
  bool parts = false;
  for (unsigned i = 0; i < steps; ++i) {
    if (auto done = checkBranch(program, i); !done)
      return done;
    const fb::Step &step = *program.steps()->Get(i);
    parts = parts || step.branch() != 0;
  }
  if (!parts)
    return {};
  if (!onCuda)
    return error("corrupt: program '{}' has branches, which it cannot on a CPU", programName);
  const Order order(program);
  std::array<Touched, spaceCount + 1> spaces; // and Tile
  uint64_t visits = 0;
  for (unsigned i = 0; i < steps; ++i) {
    const fb::Step &step = *program.steps()->Get(i);
    std::optional<uint32_t> missed;
    auto visited = visitAccesses(step, nullptr, kernels,
                                 fmt::format("step {} of program '{}'", i, programName),
                                 [&](const fb::BufferRef &buffer, bool written) {
                                   if (!missed)
                                     missed = spaces[static_cast<size_t>(buffer.space())].access(
                                         buffer, written, i, step.branch(), order.of(i), visits);
                                 });
    if (!visited)
      return visited;
    if (missed)
      return error("corrupt: steps {} and {} of program '{}' touch the same memory on different "
                   "branches, and the second does not wait for the first",
                   *missed, i, programName);
    if (visits > mostVisits)
      return error("corrupt: the branches of program '{}' share memory in more parts than can be "
                   "checked",
                   programName);
  }
  return {};
}

} // namespace hybrid::rt::verifier
