// A code image as the compiler emits it, for ShimDriverTest.cpp.
#include "codegen/kernels/cuda/Prelude.cuh"

using namespace hybrid::cuda;

template <int threads>
HYBRID_DEVICE void rowSums(int64_t row, int64_t columns, const float *x, float *y) {
  float sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += threads)
    sum += x[row * columns + i];
  sum = blockSum<threads>(sum, sharedMemory<float>());
  if (threadIdx.x == 0)
    y[row] += sum;
}

HYBRID_KERNEL(row_sums, 128, 1, (const void *b0, void *b1), {
  rowSums<128>(item, 100, static_cast<const float *>(b0), static_cast<float *>(b1));
})
HYBRID_KERNEL(large, 64, 1, (void *b0), {
  auto *tile = sharedMemory<int>();
  tile[threadIdx.x * 256] = 1; // 64 KB
  blockBarrier();
  if (threadIdx.x == 0 && item == 0)
    *static_cast<int *>(b0) = tile[63 * 256];
})
HYBRID_KERNEL(overrun, 32, 1, (void *b0), { static_cast<int *>(b0)[threadIdx.x] = 1; })
HYBRID_KERNEL(diverges, 64, 1, (void *b0), {
  if (threadIdx.x < 7)
    blockBarrier();
})
