// RUN: hybrid-opt %s --schedule-round-buffers | FileCheck %s --enable-var-scope

// Products round their sums, regions widen what they read, and a library kernel takes what its contract calls activations: buffers 0 and 4 here, and the plain
// store. Views of a buffer go with it; the filter (1) stays f32.
// CHECK-LABEL: schedule.program @forward
// CHECK-DAG: %[[Y:.+]] = schedule.buffer arena : memref<6x16xbf16>
// CHECK-DAG: %[[LEFT:.+]] = schedule.view %[[Y]] : memref<6x16xbf16> as memref<6x8xbf16, strided<[16, 1]>>
// CHECK-DAG: %[[RIGHT:.+]] = schedule.view %[[Y]] : memref<6x16xbf16> as memref<6x8xbf16, strided<[16, 1], offset: 8>>
// CHECK-DAG: %[[F:.+]] = schedule.buffer arena : memref<8x8xf32>
// CHECK-DAG: %[[U:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK: schedule.library_matmul 6 x 16 x 8 of bf16 for "linear" (%{{.+}}, %{{.+}}, %[[Y]] : {{.*}}) {lda = 8 : i64, ldb = 8 : i64, ldc = 16 : i64, rounds_result, transpose_b}
// CHECK: schedule.launch "conv<>" for "conv" grid 6 (%[[LEFT]], %[[F]], %[[RIGHT]], %[[U]] : {{.*}}) {rounded = array<i64: 0, 2>, store_buffers = 1 : i64, writes = array<i64: 3>} storing {
// CHECK-NEXT: ^bb0(%[[E:.+]]: tensor<6x8xf32>):
// CHECK-NEXT: %[[ROUND:.+]] = hybrid.round %[[E]] : tensor<6x8xf32> -> tensor<6x8xbf16>
// CHECK-NEXT: schedule.yield %[[ROUND]] : tensor<6x8xbf16>
// CHECK: schedule.compute for "fused(silu)" (%[[U]]) -> (%{{.+}}) : (memref<6x8xbf16>) -> memref<6x8xf32> {
// CHECK-NEXT: ^bb0(%[[A:.+]]: tensor<6x8xbf16>):
// CHECK-NEXT: %[[WIDE:.+]] = hybrid.widen %[[A]] : tensor<6x8xbf16> -> tensor<6x8xf32>
// CHECK-NEXT: hybrid.unary silu %[[WIDE]] : tensor<6x8xf32>
// CHECK: schedule.row_sums for "reduce" (%[[U]]) by 3 scale {{.*}} : (memref<6x8xbf16>) -> memref<2x8xf32> load {
// CHECK-NEXT: ^bb0(%[[S:.+]]: tensor<6x8xbf16>):
// CHECK-NEXT: %[[T:.+]] = hybrid.widen %[[S]]
// CHECK-NEXT: schedule.yield %[[T]] : tensor<6x8xf32>
schedule.program @forward {
  %x = schedule.buffer arena "x" : memref<6x8xbf16>
  %w = schedule.buffer arena "w" : memref<16x8xbf16>
  %f = schedule.buffer arena : memref<8x8xf32>
  %p = schedule.buffer parameters "p" at 0 : memref<8x8xf32>
  %y = schedule.buffer arena : memref<6x16xf32>
  %u = schedule.buffer arena : memref<6x8xf32>
  %z = schedule.buffer arena : memref<6x8xf32>
  %s = schedule.buffer arena : memref<2x8xf32>
  %left = schedule.view %y : memref<6x16xf32> as memref<6x8xf32, strided<[16, 1]>>
  %right = schedule.view %y : memref<6x16xf32> as memref<6x8xf32, strided<[16, 1], offset: 8>>
  schedule.compute for "fused(exp)" (%p) -> (%f) : (memref<8x8xf32>) -> memref<8x8xf32> {
  ^bb0(%a: tensor<8x8xf32>):
    %0 = hybrid.unary exp %a : tensor<8x8xf32>
    schedule.yield %0 : tensor<8x8xf32>
  }
  schedule.library_matmul 6 x 16 x 8 of bf16 for "linear" (%x, %w, %y : memref<6x8xbf16>, memref<16x8xbf16>, memref<6x16xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 16 : i64, transpose_b}
  schedule.launch "conv<>" for "conv" grid 6 (%left, %f, %right, %u : memref<6x8xf32, strided<[16, 1]>>, memref<8x8xf32>, memref<6x8xf32, strided<[16, 1], offset: 8>>, memref<6x8xf32>) {activations = array<i64: 0, 2, 3>, store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 3>}
  schedule.compute for "fused(silu)" (%u) -> (%z) : (memref<6x8xf32>) -> memref<6x8xf32> {
  ^bb0(%a: tensor<6x8xf32>):
    %0 = hybrid.unary silu %a : tensor<6x8xf32>
    schedule.yield %0 : tensor<6x8xf32>
  }
  schedule.row_sums for "reduce" (%u) by 3 scale 1.0 to %s : (memref<6x8xf32>) -> memref<2x8xf32>
  schedule.output "z" %z : memref<6x8xf32>
  schedule.output "s" %s : memref<2x8xf32>
}

// f32 stays: what is put out, what a kernel takes in f32 alone, what is added up in place or has a bias that is no parameter, what no step wants rounded, and products of f32.
// CHECK-LABEL: schedule.program @stays
// CHECK-NOT: memref<6x8xbf16>
// CHECK-NOT: rounds_result
// CHECK-NOT: widen
schedule.program @stays {
  %x = schedule.buffer arena "x" : memref<6x4xbf16>
  %w = schedule.buffer arena "w" : memref<8x4xbf16>
  %v = schedule.buffer arena "v" : memref<6x4xf32>
  %m = schedule.buffer arena "m" : memref<8x4xf32>
  %b = schedule.buffer arena "b" : memref<8xf32>
  %out = schedule.buffer arena : memref<6x8xf32>
  %normed = schedule.buffer arena : memref<6x8xf32>
  %sum = schedule.buffer arena : memref<6x8xf32>
  %biased = schedule.buffer arena : memref<6x8xf32>
  %wide = schedule.buffer arena : memref<6x8xf32>
  %r = schedule.buffer arena : memref<6x8xf32>
  %y = schedule.buffer arena : memref<6x8xf32>
  schedule.library_matmul 6 x 8 x 4 of bf16 for "linear" (%x, %w, %out : memref<6x4xbf16>, memref<8x4xbf16>, memref<6x8xf32>) {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
  schedule.library_matmul 6 x 8 x 4 of bf16 for "linear" (%x, %w, %normed : memref<6x4xbf16>, memref<8x4xbf16>, memref<6x8xf32>) {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
  schedule.library_matmul 6 x 8 x 4 of bf16 for "linear" (%x, %w, %sum : memref<6x4xbf16>, memref<8x4xbf16>, memref<6x8xf32>) {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
  schedule.library_matmul 6 x 8 x 4 of bf16 for "linear" (%x, %w, %sum : memref<6x4xbf16>, memref<8x4xbf16>, memref<6x8xf32>) {accumulate, lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
  schedule.library_matmul 6 x 8 x 4 of bf16 for "linear" (%x, %w, %biased, %b : memref<6x4xbf16>, memref<8x4xbf16>, memref<6x8xf32>, memref<8xf32>) {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
  schedule.library_matmul 6 x 8 x 4 of f32 for "linear" (%v, %m, %wide : memref<6x4xf32>, memref<8x4xf32>, memref<6x8xf32>) {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
  schedule.launch "norm<>" for "norm" grid 6 (%normed, %r : memref<6x8xf32>, memref<6x8xf32>) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.compute for "fused(mul)" (%sum, %biased, %wide, %r) -> (%y) : (memref<6x8xf32>, memref<6x8xf32>, memref<6x8xf32>, memref<6x8xf32>) -> memref<6x8xf32> {
  ^bb0(%p: tensor<6x8xf32>, %q: tensor<6x8xf32>, %s: tensor<6x8xf32>, %t: tensor<6x8xf32>):
    %0 = hybrid.binary mul %p, %q : tensor<6x8xf32>, tensor<6x8xf32>
    %1 = hybrid.binary mul %0, %s : tensor<6x8xf32>, tensor<6x8xf32>
    %2 = hybrid.binary mul %1, %t : tensor<6x8xf32>, tensor<6x8xf32>
    schedule.yield %2 : tensor<6x8xf32>
  }
  schedule.output "out" %out : memref<6x8xf32>
  schedule.output "y" %y : memref<6x8xf32>
}

// The bias of a product whose result is rounded is so too: a region of parameters alone, which can run with those that round weights.
// CHECK-LABEL: schedule.program @biased
// CHECK-DAG: %[[B:.+]] = schedule.buffer parameters "b" at 0 : memref<8xf32>
// CHECK-DAG: %[[R:.+]] = schedule.buffer arena : memref<8xbf16>
// CHECK-DAG: %[[Y:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK: schedule.compute for "fused(round)" (%[[B]]) -> (%[[R]]) : (memref<8xf32>) -> memref<8xbf16> {
// CHECK-NEXT: ^bb0(%[[E:.+]]: tensor<8xf32>):
// CHECK-NEXT: %[[ROUND:.+]] = hybrid.round %[[E]] : tensor<8xf32> -> tensor<8xbf16>
// CHECK-NEXT: schedule.yield %[[ROUND]]
// CHECK: schedule.library_matmul 6 x 8 x 4 of bf16 for "linear" (%{{.+}}, %{{.+}}, %[[Y]], %[[R]] : {{.*}}) {{.*}}rounds_result
// CHECK: schedule.launch "conv<>" for "conv" grid 6 (%[[Y]], %{{.+}} : memref<6x8xbf16>, memref<6x8xf32>) {rounded = array<i64: 0>,
schedule.program @biased {
  %x = schedule.buffer arena "x" : memref<6x4xbf16>
  %w = schedule.buffer arena "w" : memref<8x4xbf16>
  %b = schedule.buffer parameters "b" at 0 : memref<8xf32>
  %y = schedule.buffer arena : memref<6x8xf32>
  %z = schedule.buffer arena : memref<6x8xf32>
  schedule.library_matmul 6 x 8 x 4 of bf16 for "linear" (%x, %w, %y, %b : memref<6x4xbf16>, memref<8x4xbf16>, memref<6x8xf32>, memref<8xf32>) {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
  schedule.launch "conv<>" for "conv" grid 6 (%y, %z : memref<6x8xf32>, memref<6x8xf32>) {activations = array<i64: 0>, writes = array<i64: 1>}
  schedule.output "z" %z : memref<6x8xf32>
}

// A region that only rounded for the next product has nothing left to do: that reads the first one's result.
// CHECK-LABEL: schedule.program @chain
// CHECK: %[[Y:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK-NOT: schedule.compute
// CHECK: schedule.library_matmul {{.*}} (%{{.+}}, %{{.+}}, %[[Y]] : {{.*}}) {{.*}}rounds_result
// CHECK-NEXT: schedule.library_matmul {{.*}} (%[[Y]], %{{.+}}, %{{.+}} : memref<6x8xbf16>, memref<4x8xbf16>, memref<6x4xf32>)
schedule.program @chain {
  %x = schedule.buffer arena "x" : memref<6x8xbf16>
  %w = schedule.buffer arena "w" : memref<8x8xbf16>
  %v = schedule.buffer arena "v" : memref<4x8xbf16>
  %y = schedule.buffer arena : memref<6x8xf32>
  %r = schedule.buffer arena : memref<6x8xbf16>
  %z = schedule.buffer arena : memref<6x4xf32>
  schedule.library_matmul 6 x 8 x 8 of bf16 for "linear" (%x, %w, %y : memref<6x8xbf16>, memref<8x8xbf16>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.compute for "fused(round)" (%y) -> (%r) : (memref<6x8xf32>) -> memref<6x8xbf16> {
  ^bb0(%a: tensor<6x8xf32>):
    %0 = hybrid.round %a : tensor<6x8xf32> -> tensor<6x8xbf16>
    schedule.yield %0 : tensor<6x8xbf16>
  }
  schedule.library_matmul 6 x 4 x 8 of bf16 for "linear" (%r, %v, %z : memref<6x8xbf16>, memref<4x8xbf16>, memref<6x4xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 4 : i64, transpose_b}
  schedule.output "z" %z : memref<6x4xf32>
}

// A copy between what is rounded and what is not widens; what the first holds is overwritten before the second is read, so that stays a copy.
// CHECK-LABEL: schedule.program @copies
// CHECK: %[[Y:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK: schedule.compute for "transpose" (%{{.+}}) -> (%{{.+}}) : (memref<8x6xbf16, strided<[1, 8]>>) -> memref<8x6xf32> {
// CHECK: hybrid.widen
// CHECK: schedule.compute for "fused(round)" (%[[Y]]) -> (%[[R:.+]]) : (memref<6x8xbf16>) -> memref<6x8xbf16> {
// CHECK-NEXT: ^bb0(%[[A:.+]]: tensor<6x8xbf16>):
// CHECK-NEXT: schedule.yield %[[A]] : tensor<6x8xbf16>
// CHECK: schedule.library_matmul {{.*}} (%{{.+}}, %{{.+}}, %[[Y]] :
// CHECK-NEXT: schedule.library_matmul {{.*}} (%[[R]], %{{.+}}, %{{.+}} :
schedule.program @copies {
  %x = schedule.buffer arena "x" : memref<6x8xbf16>
  %w = schedule.buffer arena "w" : memref<8x8xbf16>
  %v = schedule.buffer arena "v" : memref<4x8xbf16>
  %y = schedule.buffer arena : memref<6x8xf32>
  %turned = schedule.buffer arena : memref<8x6xf32>
  %r = schedule.buffer arena : memref<6x8xbf16>
  %z = schedule.buffer arena : memref<6x4xf32>
  %view = schedule.view %y : memref<6x8xf32> as memref<8x6xf32, strided<[1, 8]>>
  schedule.library_matmul 6 x 8 x 8 of bf16 for "linear" (%x, %w, %y : memref<6x8xbf16>, memref<8x8xbf16>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.copy for "transpose" %view to %turned : memref<8x6xf32, strided<[1, 8]>>, memref<8x6xf32>
  schedule.compute for "fused(round)" (%y) -> (%r) : (memref<6x8xf32>) -> memref<6x8xbf16> {
  ^bb0(%a: tensor<6x8xf32>):
    %0 = hybrid.round %a : tensor<6x8xf32> -> tensor<6x8xbf16>
    schedule.yield %0 : tensor<6x8xbf16>
  }
  schedule.library_matmul 6 x 8 x 8 of bf16 for "linear" (%x, %w, %y : memref<6x8xbf16>, memref<8x8xbf16>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64}
  schedule.library_matmul 6 x 4 x 8 of bf16 for "linear" (%r, %v, %z : memref<6x8xbf16>, memref<4x8xbf16>, memref<6x4xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 4 : i64, transpose_b}
  schedule.output "turned" %turned : memref<8x6xf32>
  schedule.output "z" %z : memref<6x4xf32>
}

// Norms take what a product rounded, and what they give can be so where an activation is made of it; the residual stream, which no step wants rounded, stays f32.
// CHECK-LABEL: schedule.program @norms
// CHECK-DAG: %[[P:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK-DAG: %[[Q:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK: schedule.launch "norm<>" for "norm" grid 6 (%[[P]], %[[Q]] : {{.*}}) {rounded = array<i64: 0>, store_buffers = 1 : i64, writes = array<i64: 1>} storing {
// CHECK: hybrid.round
// CHECK: schedule.launch "conv<>" for "conv" grid 6 (%[[Q]], %{{.+}} : {{.*}}) {rounded = array<i64: 0>, writes
// CHECK: schedule.compute for "fused(add)" {{.*}} -> (%[[R:.+]]) : (memref<6x8xf32>, memref<6x8xf32>) -> memref<6x8xf32>
// CHECK: schedule.launch "norm<>" for "norm" grid 6 (%[[R]], %{{.+}} : {{.*}}) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
schedule.program @norms {
  %x = schedule.buffer arena "x" : memref<6x8xbf16>
  %w = schedule.buffer arena "w" : memref<8x8xbf16>
  %p = schedule.buffer arena : memref<6x8xf32>
  %q = schedule.buffer arena : memref<6x8xf32>
  %y = schedule.buffer arena : memref<6x8xf32>
  %stream = schedule.buffer arena "stream" : memref<6x8xf32>
  %r = schedule.buffer arena : memref<6x8xf32>
  %z = schedule.buffer arena : memref<6x8xf32>
  schedule.library_matmul 6 x 8 x 8 of bf16 for "linear" (%x, %w, %p : memref<6x8xbf16>, memref<8x8xbf16>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.launch "norm<>" for "norm" grid 6 (%p, %q : memref<6x8xf32>, memref<6x8xf32>) {roundable = array<i64: 0, 1>, store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.launch "conv<>" for "conv" grid 6 (%q, %y : memref<6x8xf32>, memref<6x8xf32>) {activations = array<i64: 0>, writes = array<i64: 1>}
  schedule.compute for "fused(add)" (%stream, %y) -> (%r) : (memref<6x8xf32>, memref<6x8xf32>) -> memref<6x8xf32> {
  ^bb0(%a: tensor<6x8xf32>, %b: tensor<6x8xf32>):
    %0 = hybrid.binary add %a, %b : tensor<6x8xf32>, tensor<6x8xf32>
    schedule.yield %0 : tensor<6x8xf32>
  }
  schedule.launch "norm<>" for "norm" grid 6 (%r, %z : memref<6x8xf32>, memref<6x8xf32>) {roundable = array<i64: 0, 1>, store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.output "z" %z : memref<6x8xf32>
}

// What a kernel's store gives as an activation and once more for a product is one buffer; so is a sum that is there in bf16, of which nothing but sums are made besides.
// CHECK-LABEL: schedule.program @twice
// CHECK-DAG: %[[SILU:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK-DAG: %[[KEPT:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK-DAG: %[[SUM:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK-NOT: schedule.buffer arena : memref<6x8xbf16>
// CHECK: schedule.launch "conv<>" for "conv + fused(silu, round)" grid 6 (%{{.+}}, %[[SILU]], %[[KEPT]] : {{.*}}) {store_buffers = 2 : i64, writes = array<i64: 1, 2>} storing {
// CHECK-NEXT: ^bb0(%[[E:.+]]: tensor<6x8xf32>):
// CHECK-NEXT: %[[S:.+]] = hybrid.unary silu %[[E]]
// CHECK-NEXT: %[[ROUND:.+]] = hybrid.round %[[S]]
// CHECK-NEXT: %[[ELEMENT:.+]] = hybrid.round %[[E]]
// CHECK-NEXT: schedule.yield %[[ROUND]], %[[ELEMENT]] :
// CHECK: schedule.launch "scan<>" for "scan" grid 6 (%[[SILU]], %{{.+}} :
// CHECK: schedule.library_matmul {{.*}} (%[[SILU]],
// CHECK: schedule.compute for "fused(mul, round)" (%{{.+}}, %[[KEPT]]) -> (%[[SUM]]) :
// CHECK: schedule.library_matmul {{.*}} (%[[SUM]],
// CHECK: schedule.row_sums for "reduce" (%[[SUM]]) by 6
schedule.program @twice {
  %x = schedule.buffer arena "x" : memref<6x8xf32>
  %w = schedule.buffer arena "w" : memref<8x8xbf16>
  %v = schedule.buffer arena "v" : memref<4x8xbf16>
  %silu = schedule.buffer arena : memref<6x8xf32>
  %rounded = schedule.buffer arena : memref<6x8xbf16>
  %kept = schedule.buffer arena : memref<6x8xf32>
  %y = schedule.buffer arena : memref<6x8xf32>
  %z = schedule.buffer arena : memref<6x8xf32>
  %sum = schedule.buffer arena : memref<6x8xf32>
  %again = schedule.buffer arena : memref<6x8xbf16>
  %u = schedule.buffer arena : memref<6x4xf32>
  %s = schedule.buffer arena : memref<1x8xf32>
  schedule.launch "conv<>" for "conv + fused(silu, round)" grid 6 (%x, %silu, %rounded, %kept : memref<6x8xf32>, memref<6x8xf32>, memref<6x8xbf16>, memref<6x8xf32>) {activations = array<i64: 3>, store_buffers = 3 : i64, writes = array<i64: 1, 2, 3>} storing {
  ^bb0(%a: tensor<6x8xf32>):
    %0 = hybrid.unary silu %a : tensor<6x8xf32>
    %1 = hybrid.round %0 : tensor<6x8xf32> -> tensor<6x8xbf16>
    schedule.yield %0, %1, %a : tensor<6x8xf32>, tensor<6x8xbf16>, tensor<6x8xf32>
  }
  schedule.launch "scan<>" for "scan" grid 6 (%silu, %y : memref<6x8xf32>, memref<6x8xf32>) {activations = array<i64: 0>, writes = array<i64: 1>}
  schedule.library_matmul 6 x 8 x 8 of bf16 for "linear" (%rounded, %w, %z : memref<6x8xbf16>, memref<8x8xbf16>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_b}
  schedule.compute for "fused(mul, round)" (%y, %kept) -> (%sum, %again) : (memref<6x8xf32>, memref<6x8xf32>) -> (memref<6x8xf32>, memref<6x8xbf16>) {
  ^bb0(%a: tensor<6x8xf32>, %b: tensor<6x8xf32>):
    %0 = hybrid.binary mul %a, %b : tensor<6x8xf32>, tensor<6x8xf32>
    %1 = hybrid.round %0 : tensor<6x8xf32> -> tensor<6x8xbf16>
    schedule.yield %0, %1 : tensor<6x8xf32>, tensor<6x8xbf16>
  }
  schedule.library_matmul 6 x 4 x 8 of bf16 for "linear" (%again, %v, %u : memref<6x8xbf16>, memref<4x8xbf16>, memref<6x4xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 4 : i64, transpose_b}
  schedule.row_sums for "reduce" (%sum) by 6 scale 1.0 to %s : (memref<6x8xf32>) -> memref<1x8xf32>
  schedule.output "z" %z : memref<6x8xf32>
  schedule.output "u" %u : memref<6x4xf32>
  schedule.output "s" %s : memref<1x8xf32>
}

// In a loop over tiles it is the same. What its readers only round is rounded where it is computed, at the place that keeps it; what stays in a tile, as a branch that is added
// to the residual stream, stays f32. A bias is rounded in front of the loop.
// CHECK-LABEL: schedule.program @tiles
// CHECK-DAG: %[[X:.+]] = schedule.buffer arena "x" : memref<6x8xf32>
// CHECK-DAG: %[[N:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK-DAG: %[[P:.+]] = schedule.buffer arena : memref<6x8xbf16>
// CHECK-DAG: %[[B:.+]] = schedule.buffer arena : memref<8xbf16>
// CHECK: schedule.compute for "fused(round)" (%{{.+}}) -> (%[[B]])
// CHECK: schedule.tile_loop 6 by 2
// CHECK-NOT: schedule.buffer tile
// CHECK: schedule.launch "norm" for "norm" grid 6 (%[[X]], %[[N]] : memref<6x8xf32>, memref<6x8xbf16>) {items_per_tile = 2 : i64, rounded = array<i64: 1>, writes = array<i64: 1>}
// CHECK-NEXT: schedule.library_matmul {{.*}} (%[[N]], %{{.+}}, %[[P]], %[[B]] : {{.*}}) {{.*}}rounds_result, tile_rows
// CHECK: schedule.launch "scan" for "scan" grid 6 (%[[P]], %[[Y:.+]] : memref<6x8xbf16>, memref<6x8xbf16>) {rounded = array<i64: 0, 1>,
// CHECK: schedule.tile_loop 6 by 2
// CHECK: %[[BRANCH:.+]] = schedule.buffer tile : memref<6x8xf32>
// CHECK-NEXT: schedule.library_matmul {{.*}} (%[[Y]], %{{.+}}, %[[BRANCH]] : {{.*}}) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, tile_rows
// CHECK-NEXT: schedule.compute for "fused(add)" (%[[X]], %[[BRANCH]])
schedule.program @tiles {
  %x = schedule.buffer arena "x" : memref<6x8xf32>
  %w = schedule.buffer arena "w" : memref<8x8xbf16>
  %b = schedule.buffer parameters "b" at 0 : memref<8xf32>
  %n = schedule.buffer arena : memref<6x8xbf16>
  %p = schedule.buffer arena : memref<6x8xf32>
  %y = schedule.buffer arena : memref<6x8xf32>
  %yr = schedule.buffer arena : memref<6x8xbf16>
  %z = schedule.buffer arena : memref<6x8xf32>
  %g = schedule.buffer arena : memref<8x8xf32>
  schedule.tile_loop 6 by 2 for "row_tiles(norm, round, linear)" {
    %normed = schedule.buffer tile : memref<6x8xf32>
    schedule.launch "norm" for "norm" grid 6 (%x, %normed : memref<6x8xf32>, memref<6x8xf32>) {items_per_tile = 2 : i64, roundable = array<i64: 0, 1>, writes = array<i64: 1>}
    schedule.compute for "fused(round)" (%normed) -> (%n) : (memref<6x8xf32>) -> memref<6x8xbf16> {
    ^bb0(%a: tensor<6x8xf32>):
      %0 = hybrid.round %a : tensor<6x8xf32> -> tensor<6x8xbf16>
      schedule.yield %0 : tensor<6x8xbf16>
    }
    schedule.library_matmul 6 x 8 x 8 of bf16 for "linear" (%n, %w, %p, %b : memref<6x8xbf16>, memref<8x8xbf16>, memref<6x8xf32>, memref<8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, tile_rows, transpose_b}
  }
  schedule.launch "scan" for "scan" grid 6 (%p, %y : memref<6x8xf32>, memref<6x8xf32>) {activations = array<i64: 0, 1>, writes = array<i64: 1>}
  schedule.tile_loop 6 by 2 for "row_tiles(round, linear, add)" {
    %branch = schedule.buffer tile : memref<6x8xf32>
    schedule.compute for "fused(round)" (%y) -> (%yr) : (memref<6x8xf32>) -> memref<6x8xbf16> {
    ^bb0(%a: tensor<6x8xf32>):
      %0 = hybrid.round %a : tensor<6x8xf32> -> tensor<6x8xbf16>
      schedule.yield %0 : tensor<6x8xbf16>
    }
    schedule.library_matmul 6 x 8 x 8 of bf16 for "linear" (%yr, %w, %branch : memref<6x8xbf16>, memref<8x8xbf16>, memref<6x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, tile_rows, transpose_b}
    schedule.compute for "fused(add)" (%x, %branch) -> (%z) : (memref<6x8xf32>, memref<6x8xf32>) -> memref<6x8xf32> {
    ^bb0(%a: tensor<6x8xf32>, %c: tensor<6x8xf32>):
      %0 = hybrid.binary add %a, %c : tensor<6x8xf32>, tensor<6x8xf32>
      schedule.yield %0 : tensor<6x8xf32>
    }
  }
  schedule.library_matmul 8 x 8 x 6 of bf16 for "linear" (%yr, %n, %g : memref<6x8xbf16>, memref<6x8xbf16>, memref<8x8xf32>) {lda = 8 : i64, ldb = 8 : i64, ldc = 8 : i64, transpose_a}
  schedule.output "z" %z : memref<6x8xf32>
  schedule.output "g" %g : memref<8x8xf32>
}
