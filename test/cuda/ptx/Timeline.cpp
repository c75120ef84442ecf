//===- Timeline.cpp - how long a block takes alone --------------------------===//
#include "test/cuda/ptx/Timeline.h"
#include <algorithm>
#include <utility>

namespace hybrid::ptx {

static void raise(Cycles &to, const Cycles &from) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = std::max(to[i], from[i]);
}
static Cycles plus(Cycles when, uint64_t more) {
  for (uint64_t &cycle : when)
    cycle += more;
  return when;
}

static Cycles delayOf(const Instruction &in, const Latencies &of) {
  auto both = [](uint32_t cycles) { return Cycles{cycles, cycles}; };
  switch (in.delay) {
  case Instruction::Delay::Global:
  case Instruction::Delay::Copy:
    return {of.global[0], of.global[1]};
  case Instruction::Delay::Parameter:
    return both(of.parameter);
  default:
    break;
  }
  switch (in.pipe) {
  case Pipe::Fma:
    return both(of.fma);
  case Pipe::Fp64:
    return both(of.fp64);
  case Pipe::Xu:
    return both(of.xu);
  case Pipe::Memory: // shared, local, and exchanges
    return both(of.shared);
  case Pipe::Tensor:
    return both(of.tensor);
  default:
    return both(of.alu);
  }
}

void Timeline::begin(const Program &of) {
  program = &of;
  ready.assign(of.rowCount, {});
  start = latest = done = copied = taken = multiplied = {};
  issued = 0;
  groups.clear(), productGroups.clear();
  stores = {};
}

void Timeline::closeStretch(Cycles atLeast) {
  raise(atLeast, plus(start, issued));
  raise(atLeast, latest);
  start = latest = atLeast;
  issued = 0;
  stores = {};
}

void Timeline::waitFor(std::vector<Cycles> &all, size_t but, Cycles when) {
  for (size_t i = 0; i + but < all.size(); ++i)
    raise(when, all[i]);
  if (all.size() > but)
    all.erase(all.begin(), all.end() - static_cast<long>(but));
  closeStretch(when);
}

void Timeline::keepOrder(const Instruction &in, Cycles &when) {
  if (in.pipe != Pipe::Memory || !in.addressAt || in.delay == Instruction::Delay::Copy)
    return;
  Stores &before = stores[in.delay == Instruction::Delay::Global ? 0 : 1];
  const uint32_t base = in.at[in.addressAt].index;
  if (in.results) {
    if (!in.coherent)
      return;
    raise(when, before.others);
    if (before.base != base)
      raise(when, before.withBase);
    return;
  }
  if (before.base != base)
    raise(before.others, std::exchange(before.withBase, {})), before.base = base;
  raise(before.withBase, when);
}

void Timeline::issue(const Instruction &in, bool active) {
  const Latencies &of = hopperLatencies;
  ++issued;
  Cycles when = start;
  if (in.guarded)
    raise(when, ready[in.guard.index]);
  for (size_t i = in.results; i < in.operands; ++i)
    raise(when, ready[in.at[i].index]);
  keepOrder(in, when);
  raise(latest, when);
  if (in.flow != Instruction::Flow::Next)
    return closeStretch(in.flow == Instruction::Flow::Branch ? plus(when, of.branch) : when);
  if (!active)
    return;
  const Cycles delay = delayOf(in, of), there{when[0] + delay[0], when[1] + delay[1]};
  for (size_t i = 0; i < in.results; ++i)
    ready[in.at[i].index] = there;
  raise(done, in.results || in.delay == Instruction::Delay::Copy ? there : plus(when, of.alu));
  switch (in.delay) {
  case Instruction::Delay::Copy:
    raise(copied, there);
    break;
  case Instruction::Delay::Commit:
    groups.push_back(std::exchange(copied, {}));
    break;
  case Instruction::Delay::Wait:
    waitFor(groups, in.pendingGroups, when);
    break;
  case Instruction::Delay::WaitAll:
    raise(when, copied);
    for (const Cycles &group : groups)
      raise(when, group);
    groups.clear(), copied = {};
    closeStretch(when);
    break;
  case Instruction::Delay::Product: {
    // In its place: 16 rows by 16, of which the units take 2 columns a cycle, one wgmma after the
    // other.
    const std::vector<Row> &sums = program->groupProducts[in.groupProduct].sums;
    for (const Row &sum : sums)
      raise(when, ready[sum.index]);
    closeStretch(when);
    raise(taken, start);
    taken = plus(taken, sums.size());
    raise(multiplied, plus(taken, of.tensor));
    raise(done, multiplied);
    break;
  }
  case Instruction::Delay::CommitProducts:
    productGroups.push_back(std::exchange(multiplied, {}));
    break;
  case Instruction::Delay::WaitProducts:
    waitFor(productGroups, in.pendingGroups, when);
    break;
  default:
    break;
  }
}

void Timeline::resume(Cycles when) { closeStretch(plus(when, hopperLatencies.barrier)); }

Cycles Timeline::last() const {
  Cycles all = plus(start, issued);
  raise(all, latest);
  raise(all, done);
  return all;
}

} // namespace hybrid::ptx
