// TestKernels.c as CUDA kernels, one item a block: for RuntimeTest.cpp.
#include "codegen/cuda/kernels/Prelude.cuh"

using namespace hybrid::cuda;

/// The thread that does the work of its block.
HYBRID_DEVICE bool isFirst() { return threadIdx.x == 0; }

HYBRID_KERNEL(add_one, 32, (const void *b0, void *b1), {
  if (isFirst())
    static_cast<float *>(b1)[item] = static_cast<const float *>(b0)[item] + 1.0f;
})
HYBRID_KERNEL(look_up, 32, (const void *b0, void *b1), {
  float *own = sharedMemory<float>();
  if (isFirst())
    own[item % 16] = static_cast<const float *>(b0)[item];
  blockBarrier();
  if (threadIdx.x == 31)
    static_cast<float *>(b1)[item] = own[item % 16];
})
HYBRID_KERNEL(fill_table, 32, (void *b0), {
  if (isFirst())
    static_cast<float *>(b0)[item] = static_cast<float>(10 * item);
})
HYBRID_KERNEL(draw, 32, (const void *b0, void *b1), {
  const auto *seed = static_cast<const int32_t *>(b0);
  if (isFirst())
    static_cast<float *>(b1)[item] = static_cast<float>(seed[0] + item * seed[1]);
})
HYBRID_KERNEL(invert, 32, (const void *b0, void *b1), {
  if (isFirst())
    static_cast<float *>(b1)[item] = 1.0f / static_cast<const float *>(b0)[item];
})
HYBRID_KERNEL(step, 32, (const void *b0, void *b1, const void *b2, void *b3), {
  if (isFirst()) {
    static_cast<float *>(b3)[item] += 1.0f;
    static_cast<float *>(b1)[item] -= static_cast<float>(static_cast<const double *>(b0)[0]) *
                                      static_cast<const float *>(b2)[item];
  }
})
HYBRID_KERNEL(gradient, 32, (const void *b0, void *b1, void *b2), {
  if (isFirst()) {
    static_cast<float *>(b1)[item] = static_cast<const float *>(b0)[item % 16];
    if (item == 0)
      static_cast<float *>(b2)[0] = 2 * static_cast<const float *>(b0)[0];
  }
})
HYBRID_KERNEL(large, 64, (void *b0), {
  float *tile = sharedMemory<float>();
  tile[threadIdx.x * 256] = 3; // 64 KB
  blockBarrier();
  if (isFirst())
    static_cast<float *>(b0)[item] = tile[63 * 256];
})
HYBRID_KERNEL(diverges, 32, (const void *b0, void *b1), {
  if (isFirst())
    blockBarrier();
})
