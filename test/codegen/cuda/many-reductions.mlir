// Who has a result: with few elements a thread, which has four where results are very many; with many results a warp,
// so that a GPU needs not begin a block for each; otherwise a block.
// RUN: hybridc %s --target=cuda:sm_90a --emit=cuda | FileCheck %s

// CHECK-LABEL: HYBRID_DEVICE void reduce_0(int64_t item, const float *x0, float *y0) {
// CHECK-NEXT:    const int row = static_cast<int>(item) * 8 + threadIdx.x / 32;
// CHECK-NEXT:    if (row >= 2048)
// CHECK-NEXT:      return;
// CHECK:         for (int k = threadIdx.x % 32; k < 128; k += 32) {
// CHECK:         value = warpSum(value);
// CHECK-NEXT:    if (threadIdx.x % 32 == 0) y0[row] = value;

// CHECK-LABEL: HYBRID_DEVICE void reduce_1(int64_t item, const float *x0, float *y0) {
// CHECK-NEXT:    const int row = static_cast<int>(item);
// CHECK:         for (int k = threadIdx.x; k < 16384; k += 128) {
// CHECK:         value = blockMax<128>(value, sharedMemory<float>());
// CHECK-NEXT:    if (threadIdx.x == 0) y0[row] = value;

// CHECK-LABEL: HYBRID_DEVICE void reduce_2(int64_t item, const float *x0, float *y0) {
// CHECK-NEXT:    HYBRID_UNROLL
// CHECK-NEXT:    for (int part = 0; part < 4; ++part) {
// CHECK-NEXT:      const int row = static_cast<int>(item) * 1024 + part * 256 + threadIdx.x;
// CHECK-NEXT:      if (row >= 1048576)
// CHECK-NEXT:        return;

// CHECK: HYBRID_KERNEL(k{{[0-9]+}}_reduce_0, 256, 1,
// CHECK: HYBRID_KERNEL(k{{[0-9]+}}_reduce_1, 128, 1,
// CHECK: HYBRID_KERNEL(k{{[0-9]+}}_reduce_2, 256, 1,
func.func @forward(%x: tensor<2048x128xf32> {hybrid.name = "x"}, %few: tensor<16x16384xf32> {hybrid.name = "few"},
                   %experts: tensor<8192x2x128xf32> {hybrid.name = "experts"})
    -> (tensor<2048xf32> {hybrid.name = "sums"}, tensor<16xf32> {hybrid.name = "most"}, tensor<8192x128xf32> {hybrid.name = "of"}) {
  %sums = hybrid.reduce sum %x over [1] : tensor<2048x128xf32> -> tensor<2048xf32>
  %most = hybrid.reduce max %few over [1] : tensor<16x16384xf32> -> tensor<16xf32>
  %of = hybrid.reduce sum %experts over [1] : tensor<8192x2x128xf32> -> tensor<8192x128xf32>
  return %sums, %most, %of : tensor<2048xf32>, tensor<16xf32>, tensor<8192x128xf32>
}
