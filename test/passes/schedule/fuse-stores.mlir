// RUN: hybrid-opt %s --schedule-fuse-stores | FileCheck %s --enable-var-scope

// The residual is computed where the norm stores; what the norm gives has no memory.
// CHECK-LABEL: schedule.program @residual
// CHECK-DAG: %[[X:.+]] = schedule.buffer arena "x" : memref<4x8xf32>
// CHECK-DAG: %[[Y:.+]] = schedule.buffer arena : memref<4x8xf32>
// CHECK-NOT: schedule.buffer
// CHECK: schedule.launch "rmsnormForward" for "rmsnorm + fused(add)" grid 4 (%[[X]], %[[X]], %[[Y]] : {{.*}}) {store_buffers = 2 : i64, writes = array<i64: 2>} storing {
// CHECK-NEXT: ^bb0(%[[V:.+]]: tensor<4x8xf32>, %[[A:.+]]: tensor<4x8xf32>):
// CHECK-NEXT: %[[S:.+]] = hybrid.binary add %[[A]], %[[V]]
// CHECK-NEXT: schedule.yield %[[S]] : tensor<4x8xf32>
// CHECK-NOT: schedule.compute
schedule.program @residual {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %n = schedule.buffer arena : memref<4x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "rmsnormForward" for "rmsnorm" grid 4 (%x, %n : memref<4x8xf32>, memref<4x8xf32>) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.compute for "fused(add)" (%x, %n) -> (%y) : (memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
    %s = hybrid.binary add %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.output "y" %y : memref<4x8xf32>
}

// Two regions in one store: what both read is an argument of it once, and the result has no memory.
// CHECK-LABEL: schedule.program @both
// CHECK-DAG: %[[X:.+]] = schedule.buffer arena "x" : memref<4x8xf32>
// CHECK-DAG: %[[G:.+]] = schedule.buffer arena "g" : memref<4x8xf32>
// CHECK-DAG: %[[P:.+]] = schedule.buffer arena : memref<4x8xf32>
// CHECK-DAG: %[[Q:.+]] = schedule.buffer arena : memref<4x8xf32>
// CHECK-NOT: schedule.buffer
// CHECK: schedule.launch "rmsnormForward" for "rmsnorm + fused(mul) + fused(mul, sub)" grid 4 (%[[X]], %[[G]], %[[X]], %[[P]], %[[Q]] : {{.*}}) {store_buffers = 4 : i64, writes = array<i64: 3, 4>} storing {
// CHECK-NEXT: ^bb0(%[[V:.+]]: tensor<4x8xf32>, %[[A:[^:]+]]: tensor<4x8xf32>, %[[B:.+]]: tensor<4x8xf32>):
// CHECK-NEXT: %[[S:.+]] = hybrid.binary mul %[[V]], %[[A]]
// CHECK-NEXT: %[[T:.+]] = hybrid.binary mul %[[B]], %[[V]]
// CHECK-NEXT: %[[U:.+]] = hybrid.binary sub %[[T]], %[[A]]
// CHECK-NEXT: schedule.yield %[[S]], %[[U]]
// CHECK-NOT: schedule.compute
schedule.program @both {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %g = schedule.buffer arena "g" : memref<4x8xf32>
  %n = schedule.buffer arena : memref<4x8xf32>
  %p = schedule.buffer arena : memref<4x8xf32>
  %q = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "rmsnormForward" for "rmsnorm" grid 4 (%x, %n : memref<4x8xf32>, memref<4x8xf32>) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.compute for "fused(mul)" (%n, %g) -> (%p) : (memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
    %s = hybrid.binary mul %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.compute for "fused(mul, sub)" (%x, %n, %g) -> (%q) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>):
    %s = hybrid.binary mul %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
    %t = hybrid.binary sub %s, %c : tensor<4x8xf32>, tensor<4x8xf32>
    schedule.yield %t : tensor<4x8xf32>
  }
  schedule.output "p" %p : memref<4x8xf32>
  schedule.output "q" %q : memref<4x8xf32>
}

// Unless they see it by other dimensions: then the second one reads it from memory.
// CHECK-LABEL: schedule.program @other_dimensions
// CHECK: schedule.launch "rmsnormForward" for "rmsnorm + fused(silu)"
// CHECK: schedule.compute for "fused(tanh)"
schedule.program @other_dimensions {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %n = schedule.buffer arena : memref<4x8xf32>
  %seen = schedule.view %n : memref<4x8xf32> as memref<2x2x8xf32>
  %p = schedule.buffer arena : memref<4x8xf32>
  %q = schedule.buffer arena : memref<2x2x8xf32>
  schedule.launch "rmsnormForward" for "rmsnorm" grid 4 (%x, %n : memref<4x8xf32>, memref<4x8xf32>) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.compute for "fused(silu)" (%n) -> (%p) : (memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %s = hybrid.unary silu %a : tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.compute for "fused(tanh)" (%seen) -> (%q) : (memref<2x2x8xf32>) -> memref<2x2x8xf32> {
  ^bb0(%a: tensor<2x2x8xf32>):
    %s = hybrid.unary tanh %a : tensor<2x2x8xf32>
    schedule.yield %s : tensor<2x2x8xf32>
  }
  schedule.output "p" %p : memref<4x8xf32>
  schedule.output "q" %q : memref<2x2x8xf32>
}

// What reads a cotangent is not computed before the program could pause.
// CHECK-LABEL: schedule.program @vjp
// CHECK: schedule.launch "rmsnormForward" for "rmsnorm" grid 4
// CHECK: schedule.compute for "fused(mul)"
schedule.program @vjp {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %dy = schedule.buffer arena "cotangent.y" : memref<4x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  %dw = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "rmsnormForward" for "rmsnorm" grid 4 (%x, %y : memref<4x8xf32>, memref<4x8xf32>) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.compute for "fused(mul)" (%dy, %y) -> (%dw) : (memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
    %s = hybrid.binary mul %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.output "y" %y : memref<4x8xf32>
  schedule.output "grad.w" %dw : memref<4x8xf32>
}

// What is needed later is stored as well. The region sees the rows under another shape, and writes a part of a concatenation.
// CHECK-LABEL: schedule.program @kept
// CHECK: %[[N:.+]] = schedule.buffer arena : memref<4x8xf32>
// CHECK: %[[PART:.+]] = schedule.view %{{.+}} : memref<2x2x16xf32> as memref<4x8xf32, strided<[16, 1], offset: 8>>
// CHECK: schedule.launch "rmsnormForward" for "rmsnorm + fused(silu)" grid 4 (%{{.+}}, %[[PART]], %[[N]] : {{.*}}) {store_buffers = 2 : i64, writes = array<i64: 1, 2>} storing {
// CHECK: schedule.yield %{{.+}}, %{{.+}} : tensor<2x2x8xf32>, tensor<2x2x8xf32>
schedule.program @kept {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %n = schedule.buffer arena : memref<4x8xf32>
  %seen = schedule.view %n : memref<4x8xf32> as memref<2x2x8xf32>
  %whole = schedule.buffer arena : memref<2x2x16xf32>
  %part = schedule.view %whole : memref<2x2x16xf32> as memref<2x2x8xf32, strided<[32, 16, 1], offset: 8>>
  schedule.launch "rmsnormForward" for "rmsnorm" grid 4 (%x, %n : memref<4x8xf32>, memref<4x8xf32>) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.compute for "fused(silu)" (%seen) -> (%part) : (memref<2x2x8xf32>) -> memref<2x2x8xf32, strided<[32, 16, 1], offset: 8>> {
  ^bb0(%a: tensor<2x2x8xf32>):
    %s = hybrid.unary silu %a : tensor<2x2x8xf32>
    schedule.yield %s : tensor<2x2x8xf32>
  }
  schedule.output "norm" %n : memref<4x8xf32>
}

// The kernel's result is an activation where it is stored as well: by then it is the last operand.
// CHECK-LABEL: schedule.program @activation
// CHECK: schedule.launch "shortConvForward" for "short_conv + fused(silu)" grid 4 (%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : {{.*}}) {activations = array<i64: 0, 3>, roundable = array<i64: 1>, store_buffers = 2 : i64, writes = array<i64: 2, 3>} storing {
schedule.program @activation {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %w = schedule.buffer arena "w" : memref<4x8xf32>
  %n = schedule.buffer arena : memref<4x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "shortConvForward" for "short_conv" grid 4 (%x, %w, %n : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) {activations = array<i64: 0, 2>, roundable = array<i64: 1, 2>, store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 2>}
  schedule.compute for "fused(silu)" (%n) -> (%y) : (memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %s = hybrid.unary silu %a : tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.output "n" %n : memref<4x8xf32>
  schedule.output "y" %y : memref<4x8xf32>
}

// A value that is made later is not there yet; a reader before the region comes first; what is seen by columns has no rows.
// CHECK-LABEL: schedule.program @unchanged
// CHECK: schedule.launch "norm" for "norm" {{.*}} {store = "RowStore<float, 8>"
// CHECK: schedule.launch "late"
// CHECK: schedule.compute for "fused(add)"
// CHECK: schedule.launch "norm" for "norm" {{.*}} {store = "RowStore<float, 8>"
// CHECK: schedule.copy for "reads it first"
// CHECK: schedule.compute for "fused(silu)"
// CHECK: schedule.launch "norm" for "norm" {{.*}} {store = "RowStore<float, 8>"
// CHECK: schedule.compute for "fused(exp)"
schedule.program @unchanged {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %n = schedule.buffer arena : memref<4x8xf32>
  %late = schedule.buffer arena : memref<4x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  %n2 = schedule.buffer arena : memref<4x8xf32>
  %c = schedule.buffer arena : memref<4x8xf32>
  %z = schedule.buffer arena : memref<4x8xf32>
  %n3 = schedule.buffer arena : memref<4x8xf32>
  %t = schedule.view %n3 : memref<4x8xf32> as memref<8x4xf32, strided<[1, 8]>>
  %w = schedule.buffer arena : memref<8x4xf32>
  schedule.launch "norm" for "norm" grid 4 (%x, %n : memref<4x8xf32>, memref<4x8xf32>) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.launch "late" for "late" grid 4 (%x, %late : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.compute for "fused(add)" (%late, %n) -> (%y) : (memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
    %s = hybrid.binary add %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.launch "norm" for "norm" grid 4 (%x, %n2 : memref<4x8xf32>, memref<4x8xf32>) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.copy for "reads it first" %n2 to %c : memref<4x8xf32>, memref<4x8xf32>
  schedule.compute for "fused(silu)" (%n2) -> (%z) : (memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %s = hybrid.unary silu %a : tensor<4x8xf32>
    schedule.yield %s : tensor<4x8xf32>
  }
  schedule.launch "norm" for "norm" grid 4 (%x, %n3 : memref<4x8xf32>, memref<4x8xf32>) {store = "RowStore<float, 8>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.compute for "fused(exp)" (%t) -> (%w) : (memref<8x4xf32, strided<[1, 8]>>) -> memref<8x4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %s = hybrid.unary exp %a : tensor<8x4xf32>
    schedule.yield %s : tensor<8x4xf32>
  }
  schedule.output "y" %y : memref<4x8xf32>
  schedule.output "c" %c : memref<4x8xf32>
  schedule.output "z" %z : memref<4x8xf32>
  schedule.output "w" %w : memref<8x4xf32>
}

// A copy, as into a part of a concatenation, is a region that computes nothing: the sum is stored there. Where something else reads the result, or is at the place, it is copied.
// CHECK-LABEL: schedule.program @parts
// CHECK-DAG: %[[P:.+]] = schedule.buffer arena "p" : memref<2x16xf32>
// CHECK-DAG: %[[LEFT:.+]] = schedule.view %{{.+}} : memref<4x12xf32> as memref<4x4xf32, strided<[12, 1]>>
// CHECK: schedule.launch "sumPartials" for "sum + concat" grid 1 (%[[P]], %[[LEFT]] : {{.*}}) {store_buffers = 1 : i64, writes = array<i64: 1>} storing {
// CHECK-NEXT: ^bb0(%[[V:.+]]: tensor<4x4xf32>):
// CHECK-NEXT: schedule.yield %[[V]] : tensor<4x4xf32>
// CHECK: schedule.launch "sumPartials" for "read twice"
// CHECK-NEXT: schedule.copy for "concat"
// CHECK: schedule.launch "sumPartials" for "too early"
// CHECK-NEXT: schedule.launch "other"
// CHECK-NEXT: schedule.copy for "concat"
schedule.program @parts {
  %p = schedule.buffer arena "p" : memref<2x16xf32>
  %all = schedule.buffer arena : memref<4x12xf32>
  %a = schedule.buffer arena : memref<4x4xf32>
  %b = schedule.buffer arena : memref<4x4xf32>
  %c = schedule.buffer arena : memref<4x4xf32>
  %d = schedule.buffer arena : memref<4x4xf32>
  %left = schedule.view %all : memref<4x12xf32> as memref<4x4xf32, strided<[12, 1]>>
  %middle = schedule.view %all : memref<4x12xf32> as memref<4x4xf32, strided<[12, 1], offset: 4>>
  %right = schedule.view %all : memref<4x12xf32> as memref<4x4xf32, strided<[12, 1], offset: 8>>
  schedule.launch "sumPartials" for "sum" grid 1 (%p, %a : memref<2x16xf32>, memref<4x4xf32>) {store = "RowStore<float, 4>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.copy for "concat" %a to %left : memref<4x4xf32>, memref<4x4xf32, strided<[12, 1]>>
  schedule.launch "sumPartials" for "read twice" grid 1 (%p, %b : memref<2x16xf32>, memref<4x4xf32>) {store = "RowStore<float, 4>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.copy for "concat" %b to %middle : memref<4x4xf32>, memref<4x4xf32, strided<[12, 1], offset: 4>>
  schedule.launch "other" for "reads" grid 1 (%b, %d : memref<4x4xf32>, memref<4x4xf32>) {writes = array<i64: 1>}
  schedule.launch "sumPartials" for "too early" grid 1 (%p, %c : memref<2x16xf32>, memref<4x4xf32>) {store = "RowStore<float, 4>", store_buffers = 1 : i64, writes = array<i64: 1>}
  schedule.launch "other" for "still reads" grid 1 (%right, %d : memref<4x4xf32, strided<[12, 1], offset: 8>>, memref<4x4xf32>) {writes = array<i64: 1>}
  schedule.copy for "concat" %c to %right : memref<4x4xf32>, memref<4x4xf32, strided<[12, 1], offset: 8>>
  schedule.output "y" %all : memref<4x12xf32>
  schedule.output "d" %d : memref<4x4xf32>
}
