// RUN: hybrid-opt %s --schedule-sum-products | FileCheck %s --enable-var-scope

// A residual is read by the product that it is added to; the bias comes before it.
// CHECK-LABEL: schedule.program @residual
// CHECK-DAG: %[[X:.+]] = schedule.buffer arena "x"
// CHECK-DAG: %[[W:.+]] = schedule.buffer parameters "w"
// CHECK-DAG: %[[B:.+]] = schedule.buffer parameters "b"
// CHECK-DAG: %[[Y:.+]] = schedule.buffer arena : memref<6x8xf32>
// CHECK: schedule.library_matmul 6 x 8 x 8 of f32 for "linear + fused(add)" (%[[X]], %[[W]], %[[Y]], %[[B]], %[[X]] : {{.*}}) {ld_addend = 8 : i64, lda = 8
// CHECK-NOT: schedule.compute
schedule.program @residual {
  %x = schedule.buffer arena "x" : memref<6x8xf32>
  %w = schedule.buffer parameters "w" at 0 : memref<8x8xf32>
  %b = schedule.buffer parameters "b" at 256 : memref<8xf32>
  %p = schedule.buffer arena : memref<6x8xf32>
  %y = schedule.buffer arena : memref<6x8xf32>
  schedule.library_matmul 6 x 8 x 8 of f32 for "linear" (%x, %w, %p, %b : memref<6x8xf32>, memref<8x8xf32>, memref<6x8xf32>, memref<8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.compute for "fused(add)" (%x, %p) -> (%y) : (memref<6x8xf32>, memref<6x8xf32>) -> memref<6x8xf32> {
  ^bb0(%a: tensor<6x8xf32>, %c: tensor<6x8xf32>):
    %s = hybrid.binary add %a, %c : tensor<6x8xf32>, tensor<6x8xf32>
    schedule.yield %s : tensor<6x8xf32>
  }
  schedule.output "y" %y : memref<6x8xf32>
}

// Of two products the second adds to what the first one stored: into a part of a wider tensor.
// CHECK-LABEL: schedule.program @two
// CHECK: %[[PART:.+]] = schedule.view %{{.+}} : memref<6x16xf32> as memref<6x8xf32, strided<[16, 1], offset: 8>>
// CHECK: schedule.library_matmul {{.*}} for "linear + fused(add)" (%{{.+}}, %{{.+}}, %[[PART]] : {{.*}}) {lda = 8 : i64, ldb = 8 : i64, ldc = 16 : i64
// CHECK: schedule.library_matmul {{.*}} for "linear + fused(add)" (%{{.+}}, %{{.+}}, %[[PART]] : {{.*}}) {accumulate, lda = 8 : i64, ldb = 8 : i64, ldc = 16 : i64
schedule.program @two {
  %x = schedule.buffer arena "x" : memref<6x8xf32>
  %v = schedule.buffer parameters "v" at 0 : memref<8x8xf32>
  %w = schedule.buffer parameters "w" at 256 : memref<8x8xf32>
  %p = schedule.buffer arena : memref<6x8xf32>
  %q = schedule.buffer arena : memref<6x8xf32>
  %whole = schedule.buffer arena : memref<6x16xf32>
  %y = schedule.view %whole : memref<6x16xf32> as memref<6x8xf32, strided<[16, 1], offset: 8>>
  schedule.library_matmul 6 x 8 x 8 of f32 for "linear" (%x, %v, %p : memref<6x8xf32>, memref<8x8xf32>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.library_matmul 6 x 8 x 8 of f32 for "linear" (%x, %w, %q : memref<6x8xf32>, memref<8x8xf32>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.compute for "fused(add)" (%p, %q) -> (%y) : (memref<6x8xf32>, memref<6x8xf32>) -> memref<6x8xf32, strided<[16, 1], offset: 8>> {
  ^bb0(%a: tensor<6x8xf32>, %c: tensor<6x8xf32>):
    %s = hybrid.binary add %a, %c : tensor<6x8xf32>, tensor<6x8xf32>
    schedule.yield %s : tensor<6x8xf32>
  }
  schedule.output "y" %whole : memref<6x16xf32>
}

// A term that is made later than the first product, a product that others need, and a region that does more than add.
// CHECK-LABEL: schedule.program @unchanged
// CHECK: schedule.library_matmul {{.*}} for "linear" {{.*}} {lda
// CHECK: schedule.compute for "fused(add)"
// CHECK: schedule.library_matmul {{.*}} for "linear" {{.*}} {lda
// CHECK: schedule.compute for "fused(add)"
// CHECK: schedule.library_matmul {{.*}} for "linear" {{.*}} {lda
// CHECK: schedule.compute for "fused(sub)"
schedule.program @unchanged {
  %x = schedule.buffer arena "x" : memref<6x8xf32>
  %w = schedule.buffer parameters "w" at 0 : memref<8x8xf32>
  %p = schedule.buffer arena : memref<6x8xf32>
  %late = schedule.buffer arena : memref<6x8xf32>
  %y = schedule.buffer arena : memref<6x8xf32>
  %q = schedule.buffer arena : memref<6x8xf32>
  %z = schedule.buffer arena : memref<6x8xf32>
  %r = schedule.buffer arena : memref<6x8xf32>
  %u = schedule.buffer arena : memref<6x8xf32>
  schedule.library_matmul 6 x 8 x 8 of f32 for "linear" (%x, %w, %p : memref<6x8xf32>, memref<8x8xf32>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.launch "late" for "late" grid 6 (%x, %late : memref<6x8xf32>, memref<6x8xf32>) {writes = array<i64: 1>}
  schedule.compute for "fused(add)" (%late, %p) -> (%y) : (memref<6x8xf32>, memref<6x8xf32>) -> memref<6x8xf32> {
  ^bb0(%a: tensor<6x8xf32>, %c: tensor<6x8xf32>):
    %s = hybrid.binary add %a, %c : tensor<6x8xf32>, tensor<6x8xf32>
    schedule.yield %s : tensor<6x8xf32>
  }
  schedule.library_matmul 6 x 8 x 8 of f32 for "linear" (%x, %w, %q : memref<6x8xf32>, memref<8x8xf32>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.compute for "fused(add)" (%x, %q) -> (%z) : (memref<6x8xf32>, memref<6x8xf32>) -> memref<6x8xf32> {
  ^bb0(%a: tensor<6x8xf32>, %c: tensor<6x8xf32>):
    %s = hybrid.binary add %a, %c : tensor<6x8xf32>, tensor<6x8xf32>
    schedule.yield %s : tensor<6x8xf32>
  }
  schedule.library_matmul 6 x 8 x 8 of f32 for "linear" (%x, %w, %r : memref<6x8xf32>, memref<8x8xf32>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.compute for "fused(sub)" (%x, %r) -> (%u) : (memref<6x8xf32>, memref<6x8xf32>) -> memref<6x8xf32> {
  ^bb0(%a: tensor<6x8xf32>, %c: tensor<6x8xf32>):
    %s = hybrid.binary sub %a, %c : tensor<6x8xf32>, tensor<6x8xf32>
    schedule.yield %s : tensor<6x8xf32>
  }
  schedule.output "y" %y : memref<6x8xf32>
  schedule.output "q" %q : memref<6x8xf32>
  schedule.output "z" %z : memref<6x8xf32>
  schedule.output "u" %u : memref<6x8xf32>
}
