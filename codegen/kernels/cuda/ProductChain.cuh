//===- ProductChain.cuh - products of what products made ----------------------===//
//
// A block has some rows and goes through the columns between the products, some at a time: it
// multiplies its inputs with those columns' weights, computes the function of the sums where they
// are, in registers, and multiplies the results, rounded, by the second weights. The sums of the
// second products stay in registers to the end. The next columns' weights are on their way
// meanwhile.
//
// By warps (ProductChainWarps.cuh), or where the GPU has them, and sizes fit, by warpgroups
// (ProductChainWarpgroups.cuh).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/ProductChainWarpgroups.cuh"
#include "codegen/kernels/cuda/ProductChainWarps.cuh"
#include "codegen/kernels/cuda/StagedSums.cuh"

namespace hybrid::cuda {

template <typename T, ProductChainParams P, typename Of, typename Store>
HYBRID_DEVICE void productChain(int64_t item, const bf16 *x0, const bf16 *x1, const bf16 *first0,
                                const bf16 *first1, const bf16 *first2, const bf16 *second0,
                                const bf16 *second1, bf16 *saved0, bf16 *saved1, bf16 *saved2,
                                Store y) {
  using Block = typename Choose<hasWarpgroupProducts && hasSizesOfWarpgroups(P),
                                ProductChainWarpgroups<P>, ProductChainWarps<P>>::Type;
  const bf16 *const first[] = {first0, first1, first2}, *const second[] = {second0, second1};
  bf16 *const saved[] = {saved0, saved1, saved2};
  const Block block(item);
  typename Block::SecondSums sums{};
  block.template multiply<Of>(sums, x0, x1, first, second, saved);
  blockBarrier(); // before sums lie where the tiles did
  constexpr StagedTile tile{Block::rowTile,
                            Block::outputs,
                            Block::threadCount,
                            static_cast<int>(chainStagedStride(P)),
                            Block::wholeRows,
                            true,
                            true};
  using Staged = StagedSums<float, tile>;
  const Staged staged{sharedMemory<float>(), block.rowCount, Block::outputs};
  auto write = asStore<P.yStride>(y);
  typename Staged::template Ahead<decltype(write)> operands;
  operands.loadFirst(staged, write, block.firstRow, 0);
  staged.store(write, block.firstRow, 0, operands,
               [&] { Block::stage(sums, staged.shared, Staged::stride); });
}

} // namespace hybrid::cuda
