// Launches of up to two blocks that need each other become one launch of one block; barriers stand only where one needs what another wrote.
// RUN: hybrid-opt %s --split-input-file --schedule-chain-launches | FileCheck %s

// The first two are a chain; the third reads both of their results; the fourth is near, and needs none of them. What is of three blocks, of other threads or of a kernel
// whose contract does not call it brief stays apart.
// CHECK-LABEL: schedule.program @train
// CHECK-NOT: for "sine"
// CHECK: schedule.launch "other<1>" for "large"
// CHECK-NEXT: schedule.launch "merged_1" for "4 launches in one block (sine, product, sum, apart)" grid 1 (%[[X:.+]], %[[A:.+]], %[[B:.+]], %[[C:.+]], %[[P:.+]], %[[D:.+]] : memref<4x8xf32>, {{.*}}) {generated, scratch_bytes = 64 : i64, threads = 256 : i64, writes = array<i64: 1, 2, 3, 5>}
// CHECK-NEXT: schedule.launch "fused_0" for "three" grid 3
// CHECK-NEXT: schedule.launch "fused_0" for "narrow" {{.*}}threads = 128
// CHECK-NEXT: schedule.launch "rmsnormForward<1>"
// CHECK: schedule.kernel_source @merged_1 "HYBRID_DEVICE void merged_1(int64_t item, Buffer b0, Buffer b1, Buffer b2, Buffer b3, Buffer b4, Buffer b5) {\0A fused_0(0, b0, b1);\0A fused_0(1, b0, b1);\0A blockBarrier();\0A smallProduct<1>(0, b1, Buffer{nullptr}, RowStore<float, 8>{b2});\0A blockBarrier();\0A sumPartials<1>(0, b1, b2, b3);\0A fused_0(0, b4, b5);\0A}\0A" {uses = ["fused_0", "smallProduct", "RowStore<float, 8>", "sumPartials"]}
module {
  schedule.program @train {
    %x = schedule.buffer arena "x" : memref<4x8xf32>
    %a = schedule.buffer arena : memref<4x8xf32>
    %b = schedule.buffer arena : memref<4x8xf32>
    %c = schedule.buffer arena : memref<4x8xf32>
    %p = schedule.buffer parameters "p" at 0 : memref<4x8xf32>
    %d = schedule.buffer arena : memref<4x8xf32>
    %e = schedule.buffer arena : memref<4x8xf32>
    %none = schedule.absent : memref<0xf32>
    schedule.launch "fused_0" for "sine" grid 2 (%x, %a : memref<4x8xf32>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
    schedule.launch "other<1>" for "large" grid 64 (%x, %e : memref<4x8xf32>, memref<4x8xf32>) {threads = 256 : i64, writes = array<i64: 1>}
    schedule.launch "smallProduct<1>" for "product" grid 1 (%a, %none, %b : memref<4x8xf32>, memref<0xf32>, memref<4x8xf32>) {brief, store = "RowStore<float, 8>", store_buffers = 1 : i64, threads = 256 : i64, writes = array<i64: 2>}
    schedule.launch "sumPartials<1>" for "sum" grid 1 (%a, %b, %c : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) {brief, scratch_bytes = 64 : i64, threads = 256 : i64, writes = array<i64: 2>}
    schedule.launch "fused_0" for "apart" grid 1 (%p, %d : memref<4x8xf32>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
    schedule.launch "fused_0" for "three" grid 3 (%c, %d : memref<4x8xf32>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
    schedule.launch "fused_0" for "narrow" grid 1 (%d, %c : memref<4x8xf32>, memref<4x8xf32>) {generated, threads = 128 : i64, writes = array<i64: 1>}
    schedule.launch "rmsnormForward<1>" for "rmsnorm" grid 1 (%c, %d : memref<4x8xf32>, memref<4x8xf32>) {threads = 256 : i64, writes = array<i64: 1>}
    schedule.output "y" %d : memref<4x8xf32>
  }
  schedule.kernel_source @fused_0 "HYBRID_DEVICE void fused_0(int64_t item, const float *x0, float *y0) {}\0A" {uses = []}
}

// -----

// What lies between and needs the first one holds it where it is; so do 16 steps, and a cotangent, which a program may wait for with its outputs complete.
// CHECK-LABEL: schedule.program @train
// CHECK: for "first"
// CHECK-NEXT: for "reads it"
// CHECK-NEXT: for "second"
// CHECK-LABEL: schedule.program @vjp
// CHECK: for "output"
// CHECK-NEXT: for "gradient"
module {
  schedule.program @train {
    %x = schedule.buffer arena "x" : memref<4x8xf32>
    %a = schedule.buffer arena : memref<4x8xf32>
    %b = schedule.buffer arena : memref<4x8xf32>
    %c = schedule.buffer arena : memref<4x8xf32>
    schedule.launch "fused_0" for "first" grid 1 (%x, %a : memref<4x8xf32>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
    schedule.launch "other<1>" for "reads it" grid 64 (%a, %b : memref<4x8xf32>, memref<4x8xf32>) {threads = 256 : i64, writes = array<i64: 1>}
    schedule.launch "fused_0" for "second" grid 1 (%a, %c : memref<4x8xf32>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
    schedule.output "b" %b : memref<4x8xf32>
    schedule.output "c" %c : memref<4x8xf32>
  }
  schedule.program @vjp {
    %x = schedule.buffer arena "x" : memref<4x8xf32>
    %dy = schedule.buffer arena "cotangent.y" : memref<4x8xf32>
    %y = schedule.buffer arena : memref<4x8xf32>
    %dx = schedule.buffer arena : memref<4x8xf32>
    schedule.launch "fused_0" for "output" grid 1 (%x, %y : memref<4x8xf32>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
    schedule.launch "fused_1" for "gradient" grid 1 (%y, %dy, %dx : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 2>}
    schedule.output "y" %y : memref<4x8xf32>
    schedule.output "grad.x" %dx : memref<4x8xf32>
  }
  schedule.kernel_source @fused_0 "HYBRID_DEVICE void fused_0(int64_t item, const float *x0, float *y0) {}\0A" {uses = []}
  schedule.kernel_source @fused_1 "HYBRID_DEVICE void fused_1(int64_t item, const float *x0, const float *x1, float *y0) {}\0A" {uses = []}
}

// -----

// Parameters of a kernel share no memory that one writes: a row of what was written is another view of it, and the launch stays apart. Views that begin at one place
// are one parameter, the widest of them.
// CHECK-LABEL: schedule.program @train
// CHECK: schedule.launch "merged_1" for "2 launches in one block (whole, first row)" grid 1 (%{{.*}}, %[[A:.+]], %{{.*}} : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>)
// CHECK-NEXT: schedule.launch "fused_0" for "second row"
// CHECK: fused_0(0, b0, b1);\0A blockBarrier();\0A fused_0(0, b1, b2);
module {
  schedule.program @train {
    %x = schedule.buffer arena "x" : memref<4x8xf32>
    %a = schedule.buffer arena : memref<4x8xf32>
    %b = schedule.buffer arena : memref<4x8xf32>
    %c = schedule.buffer arena : memref<4x8xf32>
    %r0 = schedule.view %a : memref<4x8xf32> as memref<8xf32>
    %r1 = schedule.view %a : memref<4x8xf32> as memref<8xf32, strided<[1], offset: 8>>
    schedule.launch "fused_0" for "whole" grid 1 (%x, %a : memref<4x8xf32>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
    schedule.launch "fused_0" for "first row" grid 1 (%r0, %b : memref<8xf32>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
    schedule.launch "fused_0" for "second row" grid 1 (%r1, %c : memref<8xf32, strided<[1], offset: 8>>, memref<4x8xf32>) {generated, threads = 256 : i64, writes = array<i64: 1>}
    schedule.output "b" %b : memref<4x8xf32>
    schedule.output "c" %c : memref<4x8xf32>
  }
  schedule.kernel_source @fused_0 "HYBRID_DEVICE void fused_0(int64_t item, const float *x0, float *y0) {}\0A" {uses = []}
}
