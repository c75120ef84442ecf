//===- ExchangeOperations.cpp - between the lanes of a warp, barriers, control ===//
#include "test/cuda/ptx/Lanes.h"
#include "test/cuda/ptx/Machine.h"

namespace hybrid::ptx {
namespace {

enum class Move : uint8_t { Up, Down, Butterfly, Index };

/// shfl.sync: result, whether the lane it is from was in range, value, lane or distance, the bounds
/// of a segment, members. A lane that does not take part has no value to give.
template <Move move> void shuffle(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *members = warp.cells<uint32_t>(in.at[5]);
  if (!warp.requireTogether(in, mask, members[std::countr_zero(mask)]))
    return;
  uint32_t values[warpLanes];
  std::memcpy(values, warp.cells<uint32_t>(in.at[2]), sizeof(values));
  const uint32_t poison = warp.poison[in.at[2].index] | ~mask,
                 chosen = warp.poison[in.at[3].index] | warp.poison[in.at[4].index];
  const uint32_t *distances = warp.cells<uint32_t>(in.at[3]),
                 *bounds = warp.cells<uint32_t>(in.at[4]);
  uint32_t *to = warp.cells<uint32_t>(in.at[0]);
  uint32_t inRange = 0, poisoned = 0;
  forLanes(mask, [&](int lane) {
    const int clamp = static_cast<int>(bounds[lane] & 31),
              segment = static_cast<int>(bounds[lane] >> 8 & 31),
              by = static_cast<int>(distances[lane] & 31);
    const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    int from = 0;
    bool is = false;
    if constexpr (move == Move::Up)
      from = lane - by, is = from >= last;
    else if constexpr (move == Move::Down)
      from = lane + by, is = from <= last;
    else if constexpr (move == Move::Butterfly)
      from = lane ^ by, is = from <= last;
    else
      from = first | (by & ~segment), is = from <= last;
    if (!is)
      from = lane;
    to[lane] = values[from];
    inRange |= static_cast<uint32_t>(is) << lane;
    poisoned |= (poison >> from & 1) << lane;
  });
  warp.setPoison(in.at[0], mask, poisoned | chosen);
  warp.setBits(in.at[1], mask, inRange);
  warp.setPoison(in.at[1], mask, chosen);
}

enum class Vote : uint8_t { Ballot, Any, All, Uniform };
template <Vote vote> void voteOf(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t members = warp.cells<uint32_t>(in.at[2])[std::countr_zero(mask)];
  if (!warp.requireTogether(in, mask, members) || !warp.requireDefined(in, in.at[1], mask, "votes"))
    return;
  const uint32_t votes = warp.bits(in.at[1]) & members & mask;
  warp.setPoison(in.at[0], mask, 0);
  if constexpr (vote == Vote::Ballot) {
    uint32_t *to = warp.cells<uint32_t>(in.at[0]);
    forLanes(mask, [&](int lane) { to[lane] = votes; });
  } else {
    const bool result = vote == Vote::Any   ? votes != 0
                        : vote == Vote::All ? votes == (members & mask)
                                            : votes == 0 || votes == (members & mask);
    warp.setBits(in.at[0], mask, result ? allLanes : 0);
  }
}

void activeMask(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t *to = warp.cells<uint32_t>(in.at[0]);
  forLanes(mask, [&](int lane) { to[lane] = mask; });
  warp.setPoison(in.at[0], mask, 0);
}

template <auto combine, typename T> void reduce(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t members = warp.cells<uint32_t>(in.at[2])[std::countr_zero(mask)];
  if (!warp.requireTogether(in, mask, members))
    return;
  const uint32_t *from = warp.cells<uint32_t>(in.at[1]);
  auto result = static_cast<T>(from[std::countr_zero(mask)]);
  for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1)
    result = combine(result, static_cast<T>(from[std::countr_zero(rest)]));
  uint32_t *to = warp.cells<uint32_t>(in.at[0]);
  forLanes(mask, [&](int lane) { to[lane] = static_cast<uint32_t>(result); });
  warp.setPoison(in.at[0], mask, warp.poison[in.at[1].index] & mask ? allLanes : 0);
}

/// Orders what the lanes of a warp do with memory.
void warpBarrier(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t members = warp.cells<uint32_t>(in.at[0])[std::countr_zero(mask)];
  if (!warp.requireTogether(in, mask, members))
    return;
  if ((members & warp.present & ~warp.left) != (warp.present & ~warp.left))
    warp.block->stop(Finding::Kind::Divergence, in,
                     "bar.warp.sync of a part of a warp is not run here");
  ++warp.epoch;
}

/// The barrier of the block: what the launch's loop does when all warps wait.
void blockBarrier(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t there = warp.present & ~warp.left;
  if (warp.cells<uint32_t>(in.at[0])[std::countr_zero(mask)] != 0)
    warp.block->stop(Finding::Kind::Barrier, in, "barriers other than 0 are not run here");
  else if (mask != there)
    warp.block->stop(Finding::Kind::Divergence, in,
                     "warp " + std::to_string(warp.number) +
                         " comes to a barrier without all its lanes");
  warp.waits = true;
}

void trap(Warp &warp, const Instruction &in, uint32_t) {
  warp.block->stop(Finding::Kind::Trap, in, "trap");
}
void nothing(Warp &, const Instruction &, uint32_t) {}
/// Behind it a lane sees what the launch before has written.
void waitForLaunchBefore(Warp &warp, const Instruction &, uint32_t mask) { warp.early &= ~mask; }

} // namespace

void addExchanges(Operations &all) {
  const Width word = Width::Word, bit = Width::Bit;
  const std::vector<Width> exchange{word, bit, word, word, word, word};
  all["shfl.sync.up.b32"] = {&shuffle<Move::Up>, Pipe::Memory, exchange};
  all["shfl.sync.down.b32"] = {&shuffle<Move::Down>, Pipe::Memory, exchange};
  all["shfl.sync.bfly.b32"] = {&shuffle<Move::Butterfly>, Pipe::Memory, exchange};
  all["shfl.sync.idx.b32"] = {&shuffle<Move::Index>, Pipe::Memory, exchange};
  all["vote.sync.ballot.b32"] = {&voteOf<Vote::Ballot>, Pipe::Alu, {word, bit, word}};
  all["vote.sync.any.pred"] = {&voteOf<Vote::Any>, Pipe::Alu, {bit, bit, word}};
  all["vote.sync.all.pred"] = {&voteOf<Vote::All>, Pipe::Alu, {bit, bit, word}};
  all["vote.sync.uni.pred"] = {&voteOf<Vote::Uniform>, Pipe::Alu, {bit, bit, word}};
  all["activemask.b32"] = {&activeMask, Pipe::Alu, {word}};
  const std::vector<Width> reduction{word, word, word};
  all["redux.sync.add.s32"] = all["redux.sync.add.u32"] = {
      &reduce<[](uint32_t a, uint32_t b) { return a + b; }, uint32_t>, Pipe::Xu, reduction};
  all["redux.sync.and.b32"] = {&reduce<[](uint32_t a, uint32_t b) { return a & b; }, uint32_t>,
                               Pipe::Xu, reduction};
  all["redux.sync.or.b32"] = {&reduce<[](uint32_t a, uint32_t b) { return a | b; }, uint32_t>,
                              Pipe::Xu, reduction};
  all["redux.sync.xor.b32"] = {&reduce<[](uint32_t a, uint32_t b) { return a ^ b; }, uint32_t>,
                               Pipe::Xu, reduction};
  all["redux.sync.min.u32"] = {
      &reduce<[](uint32_t a, uint32_t b) { return std::min(a, b); }, uint32_t>, Pipe::Xu,
      reduction};
  all["redux.sync.max.u32"] = {
      &reduce<[](uint32_t a, uint32_t b) { return std::max(a, b); }, uint32_t>, Pipe::Xu,
      reduction};
  all["redux.sync.min.s32"] = {
      &reduce<[](int32_t a, int32_t b) { return std::min(a, b); }, int32_t>, Pipe::Xu, reduction};
  all["redux.sync.max.s32"] = {
      &reduce<[](int32_t a, int32_t b) { return std::max(a, b); }, int32_t>, Pipe::Xu, reduction};
  all["bar.warp.sync"] = {&warpBarrier, Pipe::Control, {word}};
  for (const char *name : {"bar.sync", "barrier.sync", "barrier.sync.aligned", "bar.cta.sync",
                           "barrier.cta.sync.aligned"})
    all[name] = {&blockBarrier, Pipe::Control, {word}, Instruction::Flow::Barrier};
  all["bra"] = all["bra.uni"] = {&nothing, Pipe::Control, {}, Instruction::Flow::Branch};
  all["ret"] = all["exit"] =
      all["ret.uni"] = {&nothing, Pipe::Control, {}, Instruction::Flow::Return};
  all["trap"] = {&trap, Pipe::Control, {}};
  for (const char *name : {"membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.cta",
                           "fence.acq_rel.gpu", "fence.sc.gpu", "griddepcontrol.launch_dependents"})
    all[name] = {&nothing, Pipe::Control, {}};
  all["griddepcontrol.wait"] = {&waitForLaunchBefore, Pipe::Control, {}};
}

} // namespace hybrid::ptx
