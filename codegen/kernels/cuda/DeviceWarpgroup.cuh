//===- DeviceWarpgroup.cuh - products of a warpgroup on a GPU -----------------===//
//
// Counterpart of shim/Warpgroup.h: wgmma, which the GPUs of sm_90a have, and no others, later ones
// included. Programs for others have the kernels that ask hasWarpgroupProducts without it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
constexpr bool hasWarpgroupProducts = true;
#else
constexpr bool hasWarpgroupProducts = false;
#endif

/// What a thread wrote to shared memory, or has waited for of what it copied there, can be read by
/// warpgroup products behind a barrier after this.
HYBRID_DEVICE void showToWarpgroups() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Products behind this read registers as they are now; in front of the first one, and after sums
/// or operands in registers were changed otherwise.
HYBRID_DEVICE void beginWarpgroupProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Products up to here are one group. Until waitWarpgroupProducts<n>(), which waits for all groups
/// but the last n, nothing may use their sums, or change what they read.
HYBRID_DEVICE void commitWarpgroupProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending> HYBRID_DEVICE void waitWarpgroupProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
/// The compiler knows nothing of the wait: what is computed of these registers stays behind this,
/// and what is computed for them in front of it.
HYBRID_DEVICE void keepInOrder(float &x) { asm volatile("" : "+f"(x)::"memory"); }
HYBRID_DEVICE void keepInOrder(uint32_t &x) { asm volatile("" : "+r"(x)::"memory"); }

/// Where a pointer into shared memory points, in bytes from its begin.
HYBRID_DEVICE uint32_t sharedAddress(const void *shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

/// Registers of sums, by name and as operands.
#define HYBRID_WARPGROUP_64                                                                        \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,"                    \
  "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
#define HYBRID_WARPGROUP_128                                                                       \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,"                    \
  "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,"                       \
  "%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,"                       \
  "%57,%58,%59,%60,%61,%62,%63}, "
#define HYBRID_WARPGROUP_BLOCK(i) "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
#define HYBRID_WARPGROUP_8_BLOCKS(i)                                                               \
  HYBRID_WARPGROUP_BLOCK(i), HYBRID_WARPGROUP_BLOCK(i + 1), HYBRID_WARPGROUP_BLOCK(i + 2),         \
      HYBRID_WARPGROUP_BLOCK(i + 3), HYBRID_WARPGROUP_BLOCK(i + 4), HYBRID_WARPGROUP_BLOCK(i + 5), \
      HYBRID_WARPGROUP_BLOCK(i + 6), HYBRID_WARPGROUP_BLOCK(i + 7)
/// What else a product has.
#define HYBRID_WARPGROUP_FLAGS "n"(accumulate ? 1 : 0), "n"(alongRows ? 1 : 0)
#define HYBRID_WARPGROUP_WORDS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])

/// d = a b, or d += a b with `accumulate`, for the four warps of a warpgroup, of 16 rows of d each:
/// wgmma.m64nNk16 of bf16 with N = 64 or 128 columns, without waiting. d[block] is a fragment as
/// mmaBf16() has it, of columns 8 block on. a: four words of mmaBf16() for the warp's rows, or a
/// descriptor of the group's 64 rows, contracted along columns of the tile. b: a descriptor, whose
/// contraction is along columns of its tile, or with `alongRows` along rows (WarpgroupTile.cuh).
template <bool accumulate, bool alongRows>
HYBRID_DEVICE void multiplyByWarpgroup(float (&d)[8][4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " HYBRID_WARPGROUP_64
               "%32, %33, %34, 1, 1, 0, %35;"
               : HYBRID_WARPGROUP_8_BLOCKS(0)
               : "l"(a), "l"(b), HYBRID_WARPGROUP_FLAGS);
}
template <bool accumulate, bool alongRows>
HYBRID_DEVICE void multiplyByWarpgroup(float (&d)[8][4], const uint32_t (&a)[4], uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " HYBRID_WARPGROUP_64
               "{%32,%33,%34,%35}, %36, %37, 1, 1, %38;"
               : HYBRID_WARPGROUP_8_BLOCKS(0)
               : HYBRID_WARPGROUP_WORDS, "l"(b), HYBRID_WARPGROUP_FLAGS);
}
template <bool accumulate, bool alongRows>
HYBRID_DEVICE void multiplyByWarpgroup(float (&d)[16][4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " HYBRID_WARPGROUP_128
               "%64, %65, %66, 1, 1, 0, %67;"
               : HYBRID_WARPGROUP_8_BLOCKS(0), HYBRID_WARPGROUP_8_BLOCKS(8)
               : "l"(a), "l"(b), HYBRID_WARPGROUP_FLAGS);
}
template <bool accumulate, bool alongRows>
HYBRID_DEVICE void multiplyByWarpgroup(float (&d)[16][4], const uint32_t (&a)[4], uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " HYBRID_WARPGROUP_128
               "{%64,%65,%66,%67}, %68, %69, 1, 1, %70;"
               : HYBRID_WARPGROUP_8_BLOCKS(0), HYBRID_WARPGROUP_8_BLOCKS(8)
               : HYBRID_WARPGROUP_WORDS, "l"(b), HYBRID_WARPGROUP_FLAGS);
}

#undef HYBRID_WARPGROUP_64
#undef HYBRID_WARPGROUP_128
#undef HYBRID_WARPGROUP_BLOCK
#undef HYBRID_WARPGROUP_8_BLOCKS
#undef HYBRID_WARPGROUP_FLAGS
#undef HYBRID_WARPGROUP_WORDS

} // namespace hybrid::cuda
