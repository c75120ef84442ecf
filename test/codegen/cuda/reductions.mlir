// Sums that few blocks would be left with are divided: over a matrix of narrow rows the threads of a block have several rows at a time, and where
// a dimension that stays lies between those that go, parts of the first dimension are reduced first, and then their results.
// RUN: hybridc %s --target=cuda:sm_90a --emit=cuda | FileCheck %s
// RUN: hybridc %s --target=cuda:sm_90a --emit=schedule | FileCheck %s --check-prefix=SCHEDULE

// CHECK-LABEL: HYBRID_DEVICE void row_sums_{{[0-9]+}}(int64_t item, const float *x0, float *y0) {
// CHECK-NEXT:    const int first = static_cast<int>(item) * 8;
// CHECK-NEXT:    const int last = minimum<int>(first + 8, 4096);
// CHECK-NEXT:    const int column = threadIdx.x % 10, group = threadIdx.x / 10;
// CHECK-NEXT:    float sum = 0.0f;
// CHECK-NEXT:    for (int row = group < 12 ? first + group : last; row < last; row += 12) {
// CHECK-NEXT:      sum += x0[10 * row + column];
// CHECK-NEXT:    }
// CHECK-NEXT:    sharedMemory<float>()[threadIdx.x] = sum;
// CHECK-NEXT:    blockBarrier();
// CHECK-NEXT:    if (threadIdx.x < 10) {
// CHECK-NEXT:      for (int other = 1; other < 12; ++other)
// CHECK-NEXT:        sum += sharedMemory<float>()[other * 10 + threadIdx.x];
// CHECK-NEXT:      y0[static_cast<int>(item) * 10 + column] = sum;
// CHECK-NEXT:    }

// Wide rows have a thread a column.
// CHECK-LABEL: HYBRID_DEVICE void row_sums_{{[0-9]+}}(int64_t item, const float *x0, float *y0) {
// CHECK:         for (int column = threadIdx.x; column < 200; column += 128) {
// CHECK-NOT:     blockBarrier

// 16 parts of 4 x 16 x 16 for each of four results, then 16 parts: a mean of means.
// CHECK-LABEL: HYBRID_DEVICE void reduce_{{[0-9]+}}(int64_t item, const float *x0, float *y0) {
// CHECK:         for (int k = threadIdx.x; k < 1024; k += 128) {
// CHECK:         value *= 9.765625E-4f;
// CHECK-LABEL: HYBRID_DEVICE void reduce_{{[0-9]+}}(int64_t item, const float *x0, float *y0) {
// CHECK:         for (int k = 0; k < 16; k += 1) {
// CHECK:         value *= 0.0625f;

// SCHEDULE-LABEL: schedule.program @forward
// SCHEDULE-NEXT: schedule.launch "row_sums_{{.*}} grid 512
// SCHEDULE-NEXT: schedule.launch "sumPartials<
// SCHEDULE-NEXT: schedule.launch "row_sums_{{.*}} grid 512
// SCHEDULE-NEXT: schedule.launch "sumPartials<
// SCHEDULE-NEXT: schedule.launch "reduce_{{.*}} grid 64
// SCHEDULE-NEXT: schedule.launch "reduce_{{.*}} grid 1
// Of few elements in one launch.
// SCHEDULE-NEXT: schedule.launch "reduce_{{.*}} grid 4
// SCHEDULE-NEXT: {{^ *}$}}
func.func @forward(%narrow: tensor<4096x10xf32> {hybrid.name = "narrow"}, %wide: tensor<4096x200xf32> {hybrid.name = "wide"},
                   %x: tensor<64x16x4x16xf32> {hybrid.name = "x"}, %few: tensor<4x16x4x16xf32> {hybrid.name = "few"})
    -> (tensor<10xf32> {hybrid.name = "a"}, tensor<200xf32> {hybrid.name = "b"}, tensor<4xf32> {hybrid.name = "c"}, tensor<4xf32> {hybrid.name = "d"}) {
  %a = hybrid.reduce sum %narrow over [0] : tensor<4096x10xf32> -> tensor<10xf32>
  %b = hybrid.reduce sum %wide over [0] : tensor<4096x200xf32> -> tensor<200xf32>
  %c = hybrid.reduce mean %x over [0, 1, 3] : tensor<64x16x4x16xf32> -> tensor<4xf32>
  %d = hybrid.reduce sum %few over [0, 1, 3] : tensor<4x16x4x16xf32> -> tensor<4xf32>
  return %a, %b, %c, %d : tensor<10xf32>, tensor<200xf32>, tensor<4xf32>, tensor<4xf32>
}
