//===- MemoryChecks.h - whether accesses of memory are right ----------------===//
//
// Every access is checked first: aligned, within what its address comes from, ordered against the
// accesses of other threads. Lanes for which it is not right do nothing; what they load is poison.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "test/cuda/ptx/Machine.h"

namespace hybrid::ptx {

using LaneAddresses = std::array<uint64_t, warpLanes>;

/// The addresses of an operand: a register, of 32 bits if `narrow`, and the instruction's offset.
LaneAddresses addressesOf(Warp &warp, const Instruction &in, size_t operand, size_t offset,
                          bool narrow);

// All give the lanes that may access `bytes` there, and count.

uint32_t checkGlobal(Warp &warp, const Instruction &in, uint32_t mask,
                     const LaneAddresses &addresses, uint64_t bytes, bool isStore);
/// `poison`: of a store, lanes whose value was never written; becomes lanes that read such.
uint32_t checkShared(Warp &warp, const Instruction &in, uint32_t mask,
                     const LaneAddresses &addresses, uint64_t bytes, Shadow::Access access,
                     uint32_t &poison);
uint32_t checkLocal(Warp &warp, const Instruction &in, uint32_t mask,
                    const LaneAddresses &addresses, uint64_t bytes);

/// What a wgmma reads of shared memory, 16 bytes at each of `units`, as the warp's first thread
/// does: whether it may.
bool checkOperands(Warp &warp, const Instruction &in, const std::vector<uint32_t> &units);
/// The same when it is waited for: nothing has been written there since it was begun.
void checkKept(Warp &warp, const PendingProduct &product);

} // namespace hybrid::ptx
