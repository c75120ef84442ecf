// RUN: hybrid-opt %s --schedule-merge-launches | FileCheck %s --enable-var-scope
// RUN: hybrid-opt %s --schedule-merge-launches=most-blocks=1 | FileCheck %s --check-prefix=SMALL

// What depends on parameters alone runs first, as one launch; sums of gradients that nobody reads run last.
// CHECK-LABEL: schedule.program @vjp
// CHECK-DAG: %[[V:.+]] = schedule.buffer parameters "v"
// CHECK-DAG: %[[W:.+]] = schedule.buffer parameters "w"
// CHECK: schedule.launch "merged_2" for "2 launches in one (fused(exp), fused(exp))" grid 3 (%[[V]], %{{.+}}, %[[W]], %{{.+}} : {{.*}}) {generated, threads = 256 : i64, writes = array<i64: 1, 3>}
// CHECK-NEXT: schedule.launch "step"
// CHECK-NEXT: schedule.launch "merged_3" for "2 launches in one (rmsnorm, rmsnorm)" grid 2
// CHECK-NEXT: schedule.output "y"

// A launch of more blocks than are worth it stays where it is.
// SMALL-LABEL: schedule.program @vjp
// SMALL: schedule.launch "fused_0"
// SMALL-NEXT: schedule.launch "step"
// SMALL-NEXT: schedule.launch "fused_1"
schedule.program @vjp {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %v = schedule.buffer parameters "v" at 0 : memref<8xf32>
  %w = schedule.buffer parameters "w" at 64 : memref<8xf32>
  %ev = schedule.buffer arena : memref<8xf32>
  %ew = schedule.buffer arena : memref<8xf32>
  %partial = schedule.buffer arena : memref<4x8xf32>
  %dv = schedule.buffer gradients "v" at 0 : memref<8xf32>
  %dw = schedule.buffer gradients "w" at 64 : memref<8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "fused_0" for "fused(exp)" grid 1 (%v, %ev : memref<8xf32>, memref<8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
  schedule.launch "step" for "rmsnorm" grid 4 (%x, %ev, %partial, %y : memref<4x8xf32>, memref<8xf32>, memref<4x8xf32>, memref<4x8xf32>) {threads = 32 : i64, writes = array<i64: 2, 3>}
  schedule.launch "sumPartials<float>" for "rmsnorm" grid 1 (%partial, %dv : memref<4x8xf32>, memref<8xf32>) {brief, threads = 128 : i64, writes = array<i64: 1>}
  schedule.launch "fused_1" for "fused(exp)" grid 2 (%w, %ew : memref<8xf32>, memref<8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
  schedule.launch "sumPartials<float>" for "rmsnorm" grid 1 (%partial, %dw : memref<4x8xf32>, memref<8xf32>) {brief, threads = 128 : i64, writes = array<i64: 1>}
  schedule.output "y" %y : memref<4x8xf32>
  schedule.output "e" %ew : memref<8xf32>
}

// A gradient that another step reads, one whose operand a later step changes, and what the contract does not call brief are computed where they were.
// CHECK-LABEL: schedule.program @train
// CHECK: schedule.launch "smallProduct<1>" for "read"
// CHECK-NEXT: schedule.launch "step" for "reader"
// CHECK-NEXT: schedule.launch "smallProduct<1>" for "operand changes"
// CHECK-NEXT: schedule.launch "long"
// CHECK-NEXT: schedule.launch "step" for "changes"
// CHECK-NEXT: schedule.launch "smallProduct<1>" for "waits"
schedule.program @train {
  %a = schedule.buffer arena "a" : memref<4x8xf32>
  %b = schedule.buffer arena : memref<4x8xf32>
  %du = schedule.buffer gradients "u" at 0 : memref<4x8xf32>
  %dv = schedule.buffer gradients "v" at 128 : memref<4x8xf32>
  %dw = schedule.buffer gradients "w" at 256 : memref<4x8xf32>
  %dx = schedule.buffer gradients "x" at 384 : memref<4x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "smallProduct<1>" for "waits" grid 1 (%a, %dw : memref<4x8xf32>, memref<4x8xf32>) {brief, threads = 256 : i64, writes = array<i64: 1>}
  schedule.launch "smallProduct<1>" for "read" grid 1 (%a, %du : memref<4x8xf32>, memref<4x8xf32>) {brief, threads = 256 : i64, writes = array<i64: 1>}
  schedule.launch "step" for "reader" grid 1 (%du, %b : memref<4x8xf32>, memref<4x8xf32>) {threads = 256 : i64, writes = array<i64: 1>}
  schedule.launch "smallProduct<1>" for "operand changes" grid 1 (%b, %dv : memref<4x8xf32>, memref<4x8xf32>) {brief, threads = 256 : i64, writes = array<i64: 1>}
  schedule.launch "long" for "not brief" grid 1 (%a, %dx : memref<4x8xf32>, memref<4x8xf32>) {threads = 256 : i64, writes = array<i64: 1>}
  schedule.launch "step" for "changes" grid 1 (%a, %b, %y : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) {threads = 256 : i64, writes = array<i64: 1, 2>}
  schedule.output "y" %y : memref<4x8xf32>
}

// Brief launches one behind the other are one where they are, where the buffers of the last are there; one that reads what one of them wrote is not
// among them, nor is one of other threads.
// CHECK-LABEL: schedule.program @runs
// CHECK: schedule.launch "step" for "partials"
// CHECK: schedule.buffer arena "late"
// CHECK-NEXT: schedule.launch "merged_[[#]]" for "2 launches in one (first, second)" grid 4
// CHECK-NEXT: schedule.launch "sumPartials<float>" for "reads first" grid 1
// CHECK-NEXT: schedule.launch "sumPartials<float>" for "other threads" grid 1
// CHECK-NEXT: schedule.launch "step" for "reader"
schedule.program @runs {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %p = schedule.buffer arena : memref<4x8xf32>
  %a = schedule.buffer arena : memref<8xf32>
  %c = schedule.buffer arena : memref<8xf32>
  %d = schedule.buffer arena : memref<8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "step" for "partials" grid 4 (%x, %p : memref<4x8xf32>, memref<4x8xf32>) {threads = 32 : i64, writes = array<i64: 1>}
  schedule.launch "sumPartials<float>" for "first" grid 1 (%p, %a : memref<4x8xf32>, memref<8xf32>) {brief, threads = 128 : i64, writes = array<i64: 1>}
  %b = schedule.buffer arena "late" : memref<8xf32>
  schedule.launch "sumPartials<float>" for "second" grid 3 (%p, %b : memref<4x8xf32>, memref<8xf32>) {brief, threads = 128 : i64, writes = array<i64: 1>}
  schedule.launch "sumPartials<float>" for "reads first" grid 1 (%a, %c : memref<8xf32>, memref<8xf32>) {brief, threads = 128 : i64, writes = array<i64: 1>}
  schedule.launch "sumPartials<float>" for "other threads" grid 1 (%p, %d : memref<4x8xf32>, memref<8xf32>) {brief, threads = 256 : i64, writes = array<i64: 1>}
  schedule.launch "step" for "reader" grid 4 (%a, %b, %c, %d, %y : memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<4x8xf32>) {threads = 32 : i64, writes = array<i64: 4>}
  schedule.output "y" %y : memref<4x8xf32>
}

// Programs that write parameters stay as they are.
// CHECK-LABEL: schedule.program @update
// CHECK: schedule.launch "fused_0"
// CHECK-NEXT: schedule.launch "fused_1"
schedule.program @update {
  %v = schedule.buffer parameters "v" at 0 : memref<8xf32>
  %a = schedule.buffer arena : memref<8xf32>
  %b = schedule.buffer arena : memref<8xf32>
  schedule.launch "fused_0" for "fused(exp)" grid 1 (%v, %a : memref<8xf32>, memref<8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
  schedule.launch "fused_1" for "fused(exp)" grid 1 (%v, %b : memref<8xf32>, memref<8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
}
schedule.kernel_source @fused_0 "HYBRID_DEVICE void fused_0(int64_t item, const float *x0, float *y0) {}"
schedule.kernel_source @fused_1 "HYBRID_DEVICE void fused_1(int64_t item, const float *x0, float *y0) {}"

// CHECK: schedule.kernel_source @merged_2 "HYBRID_DEVICE void merged_2(int64_t item, Buffer b0, Buffer b1, Buffer b2, Buffer b3) {\0A  if (item < 1) {
