// RUN: hybrid-opt %s --schedule-fuse-reductions | FileCheck %s --enable-var-scope

// The product of two tensors is computed where the sum over it reads.
// CHECK-LABEL: schedule.program @sum
// CHECK: %[[G:.+]] = schedule.view %{{.+}} : memref<8xf32> as memref<4x8xf32, strided<[0, 1]>>
// CHECK-NOT: schedule.compute
// CHECK: schedule.reduce sum for "reduce" (%{{.+}}, %[[G]]) over [0] to %{{.+}} : (memref<4x8xf32>, memref<4x8xf32, strided<[0, 1]>>) -> memref<8xf32> load {
// CHECK: hybrid.binary mul
// CHECK: schedule.yield
schedule.program @sum {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %g = schedule.buffer arena "g" : memref<8xf32>
  %wide = schedule.view %g : memref<8xf32> as memref<4x8xf32, strided<[0, 1]>>
  %p = schedule.buffer arena : memref<4x8xf32>
  %y = schedule.buffer arena : memref<8xf32>
  schedule.compute for "fused(mul)" (%x, %wide) -> (%p) : (memref<4x8xf32>, memref<4x8xf32, strided<[0, 1]>>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<8xf32>):
    %s = hybrid.binary mul %a, %b : tensor<4x8xf32>, tensor<8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.reduce sum for "reduce" (%p) over [0] to %y : (memref<4x8xf32>) -> memref<8xf32>
  schedule.output "y" %y : memref<8xf32>
}

// Rows of a matrix, of a region over three dimensions.
// CHECK-LABEL: schedule.program @rows
// CHECK: %[[X:.+]] = schedule.view %{{.+}} : memref<16x4x8xf32> as memref<64x8xf32>
// CHECK: schedule.row_sums for "reduce" (%[[X]]) by 16 scale 1.000000e+00 to %{{.+}} : (memref<64x8xf32>) -> memref<4x8xf32> load {
schedule.program @rows {
  %x = schedule.buffer arena "x" : memref<16x4x8xf32>
  %p = schedule.buffer arena : memref<16x4x8xf32>
  %matrix = schedule.view %p : memref<16x4x8xf32> as memref<64x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  schedule.compute for "fused(square)" (%x) -> (%p) : (memref<16x4x8xf32>) -> memref<16x4x8xf32> {
  ^bb0(%a: tensor<16x4x8xf32>):
    %s = hybrid.unary square %a : tensor<16x4x8xf32>
    schedule.yield %s : tensor<16x4x8xf32>
  }
  schedule.row_sums for "reduce" (%matrix) by 16 scale 1.0 to %y : (memref<64x8xf32>) -> memref<4x8xf32>
  schedule.output "y" %y : memref<4x8xf32>
}

// Another reader, what is read has changed by then, and a part of it only.
// CHECK-LABEL: schedule.program @unchanged
// CHECK-COUNT-3: schedule.compute
// CHECK-NOT: load
schedule.program @unchanged {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %w = schedule.buffer parameters "w" at 0 : memref<4x8xf32>
  %p = schedule.buffer arena : memref<4x8xf32>
  %y = schedule.buffer arena : memref<8xf32>
  %q = schedule.buffer arena : memref<4x8xf32>
  %z = schedule.buffer arena : memref<8xf32>
  %r = schedule.buffer arena : memref<4x8xf32>
  %half = schedule.view %r : memref<4x8xf32> as memref<2x8xf32>
  %u = schedule.buffer arena : memref<8xf32>
  schedule.compute for "fused(square)" (%x) -> (%p) : (memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %s = hybrid.unary square %a : tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.reduce sum for "reduce" (%p) over [0] to %y : (memref<4x8xf32>) -> memref<8xf32>
  schedule.compute for "fused(square)" (%w) -> (%q) : (memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %s = hybrid.unary square %a : tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.copy for "assign" %x to %w : memref<4x8xf32>, memref<4x8xf32>
  schedule.reduce sum for "reduce" (%q) over [0] to %z : (memref<4x8xf32>) -> memref<8xf32>
  schedule.compute for "fused(square)" (%x) -> (%r) : (memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %s = hybrid.unary square %a : tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.reduce sum for "reduce" (%half) over [0] to %u : (memref<2x8xf32>) -> memref<8xf32>
  schedule.output "p" %p : memref<4x8xf32>
  schedule.output "y" %y : memref<8xf32>
  schedule.output "z" %z : memref<8xf32>
  schedule.output "u" %u : memref<8xf32>
}
