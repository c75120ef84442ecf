//===- Warp.cpp - 32 threads that go together -------------------------------===//
#include "test/cuda/ptx/Warp.h"
#include "test/cuda/ptx/Machine.h"
#include <bit>

namespace hybrid::ptx {

bool Warp::requireDefined(const Instruction &in, Row row, uint32_t mask, const char *use) {
  const uint32_t bad = poison[row.index] & mask;
  if (!bad)
    return true;
  const bool isSum = !products.sums.empty() && products.sums[row.index];
  block->report(Finding::Kind::Uninitialized, in,
                "thread " + std::to_string(number * warpLanes + std::countr_zero(bad)) + " " + use +
                    (isSum ? " a sum that wgmma.wait_group has not been waited for"
                     : products.pending.empty()
                         ? " what was never written"
                         : " what was never written, or a wgmma that is not waited for"));
  return false;
}

bool Warp::requireTogether(const Instruction &in, uint32_t mask, uint32_t members) {
  const uint32_t missing = members & present & ~left & ~mask;
  if (!missing && !(mask & ~members))
    return true;
  const int lane = std::countr_zero(missing ? missing : mask & ~members);
  block->stop(Finding::Kind::Divergence, in,
              "lane " + std::to_string(lane) + " of warp " + std::to_string(number) +
                  (missing ? " is elsewhere" : " takes part and is no member"));
  return false;
}

void Warp::begin(const Program &program, int threads) {
  present = threads >= warpLanes ? allLanes : (1u << threads) - 1;
  early = unordered = block->launch->overlaps ? present : 0;
  left = 0, waits = false, epoch = 0, carry = 0, carryPoison = allLanes;
  paths.assign(1, {0, static_cast<uint32_t>(program.instructions.size()), present});
  poison.assign(program.rowCount, allLanes);
  for (const Constant &constant : program.constants)
    poison[constant.row.index] = 0;
  for (const SpecialRow &special : program.specials)
    poison[special.row.index] = 0;
  frames.resize(static_cast<size_t>(program.frameBytes) * warpLanes);
  framesPoison.assign(program.frameBytes, allLanes);
  copies.clear();
  commits.fill(0);
  products = {};
  if (!program.groupProducts.empty())
    products.sums.assign(program.rowCount, 0);
  if (block->options->timeline)
    timeline.begin(program);
}

void Warp::leaveFinishedPaths() {
  while (!paths.empty()) {
    Path &path = paths.back();
    path.lanes &= ~left;
    if (path.lanes && path.next != path.join)
      return;
    paths.pop_back();
  }
}

/// Lanes that go apart become two paths over the one that goes on at the join. False when they
/// stay together.
bool Warp::branch(const Instruction &in, uint32_t taken) {
  const Path path = paths.back();
  if (taken == path.lanes) {
    paths.back().next = in.target;
    return false;
  }
  if (!taken)
    return false;
  const uint32_t next = path.next;
  if (in.join == path.join)
    paths.pop_back(); // those below have it
  else
    paths.back().next = in.join;
  if (next != in.join)
    paths.push_back({next, in.join, path.lanes & ~taken});
  if (in.target != in.join)
    paths.push_back({in.target, in.join, taken});
  return true;
}

void Warp::run(const Program &program, uint64_t most) {
  waits = false;
  Block &here = *block;
  Counts &counts = *here.counts;
  leaveFinishedPaths();
  for (uint64_t ran = 0; ran < most && !paths.empty() && !here.stopped; ++ran) {
    Path &path = paths.back();
    if (here.options->profile)
      ++counts.executed[path.next];
    const Instruction &in = program.instructions[path.next++];
    uint32_t mask = path.lanes;
    if (in.guarded) {
      const uint32_t guard = bits(in.guard);
      if (poison[in.guard.index] & mask) {
        requireDefined(in, in.guard, mask, "decides by");
        setPoison(in.guard, mask, 0);
      }
      mask &= in.guardNegated ? ~guard : guard;
    }
    ++here.issued;
    ++counts.instructions[static_cast<size_t>(in.pipe)];
    counts.lanes[static_cast<size_t>(in.pipe)] += static_cast<uint64_t>(std::popcount(mask));
    if (here.options->timeline)
      timeline.issue(in, mask != 0);
    if (in.flow == Instruction::Flow::Next) {
      const uint64_t before = counts.sharedWavefronts;
      if (mask)
        in.run(*this, in, mask);
      if (here.options->profile)
        counts.wavefronts[static_cast<size_t>(&in - program.instructions.data())] +=
            counts.sharedWavefronts - before;
      if (path.next == path.join)
        leaveFinishedPaths();
      continue;
    }
    if (in.guarded &&
        (in.flow == Instruction::Flow::Branch || in.flow == Instruction::Flow::Return))
      unordered &= early | ~path.lanes;
    if (in.flow == Instruction::Flow::Branch) {
      branch(in, mask);
      if (here.issued > here.options->mostInstructions)
        here.stop(Finding::Kind::Endless, in, "the launch takes too many instructions");
    } else if (in.flow == Instruction::Flow::Return) {
      if (mask && !products.pending.empty())
        here.report(Finding::Kind::Warpgroup, in,
                    "warp " + std::to_string(number) + " returns and has not waited for a wgmma");
      left |= mask;
    } else if (mask) {
      ++counts.barriers;
      in.run(*this, in, mask);
      if (waits)
        return;
    }
    leaveFinishedPaths();
  }
}

} // namespace hybrid::ptx
