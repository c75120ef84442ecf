// Who has a result: with few elements a thread, which has four where results are very many; with up to 256 a warp, and with more where results are
// many, so that a GPU needs not begin a block for each; otherwise a block.
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

// Neighbours are loaded together, and added in their order.
// CHECK-LABEL: HYBRID_DEVICE void reduce_3(int64_t item, const float *x0, float *y0) {
// CHECK-NEXT:    const int row = static_cast<int>(item) * 256 + threadIdx.x;
// CHECK:         const float *start0 = x0 + 8 * row;
// CHECK:         for (int k = 0; k < 8; k += 4) {
// CHECK-NEXT:      const auto p0 = loadPack<4>(start0 + k);
// CHECK-NEXT:      HYBRID_UNROLL
// CHECK-NEXT:      for (int j = 0; j < 4; ++j) {
// CHECK-NEXT:        value += p0[j];

// Where rows do not begin at whole packs they are not.
// CHECK-LABEL: HYBRID_DEVICE void reduce_4(int64_t item, const float *x0, float *y0) {
// CHECK:         const float *start0 = x0 + 6 * row;
// CHECK:         for (int k = 0; k < 6; k += 2) {
// CHECK-NEXT:      const auto p0 = loadPack<2>(start0 + k);

// CHECK: HYBRID_KERNEL(k{{[0-9]+}}_reduce_0, 256, 1,
// CHECK: HYBRID_KERNEL(k{{[0-9]+}}_reduce_1, 128, 1,
// CHECK: HYBRID_KERNEL(k{{[0-9]+}}_reduce_2, 256, 1,
func.func @forward(%x: tensor<2048x128xf32> {hybrid.name = "x"}, %few: tensor<16x16384xf32> {hybrid.name = "few"},
                   %experts: tensor<8192x2x128xf32> {hybrid.name = "experts"}, %heads: tensor<512x8xf32> {hybrid.name = "heads"}, %six: tensor<512x6xf32> {hybrid.name = "six"})
    -> (tensor<2048xf32> {hybrid.name = "sums"}, tensor<16xf32> {hybrid.name = "most"}, tensor<8192x128xf32> {hybrid.name = "of"},
        tensor<512xf32> {hybrid.name = "together"}, tensor<512xf32> {hybrid.name = "pairs"}) {
  %sums = hybrid.reduce sum %x over [1] : tensor<2048x128xf32> -> tensor<2048xf32>
  %most = hybrid.reduce max %few over [1] : tensor<16x16384xf32> -> tensor<16xf32>
  %of = hybrid.reduce sum %experts over [1] : tensor<8192x2x128xf32> -> tensor<8192x128xf32>
  %together = hybrid.reduce sum %heads over [1] : tensor<512x8xf32> -> tensor<512xf32>
  %pairs = hybrid.reduce sum %six over [1] : tensor<512x6xf32> -> tensor<512xf32>
  return %sums, %most, %of, %together, %pairs : tensor<2048xf32>, tensor<16xf32>, tensor<8192x128xf32>, tensor<512xf32>, tensor<512xf32>
}
