// RUN: hybrid-opt %s --hybrid-lower-cpu --split-input-file | FileCheck %s
// RUN: hybrid-opt %s --hybrid-lower-cpu --schedule-emit-kernels-cpu --split-input-file | FileCheck %s --check-prefix=LOOPS

// Eight sequences at once; weights lie with inputs first, so that a vector of outputs is read at once.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.copy for "recurrence" %[[T:.+]] to %[[LAID:.+]] : memref<4x4xf32, strided<[1, 4]>>, memref<4x4xf32>
// CHECK: schedule.recurrence for "recurrence" inputs(%{{.+}} : memref<16x8x4xf32>) invariants(%{{.+}}, %[[LAID]] : memref<4x4xf32>, memref<4x4xf32>) rows(%{{.+}} : memref<16x8x4xf32>) frame({{.+}}) batch 16 length 8 by 8 kept 1 step {
// CHECK: hybrid.matmul %{{.+}}, %{{.+}} : tensor<4xf32>, tensor<4x4xf32> -> tensor<4xf32>
// CHECK: hybrid.fused
// CHECK: schedule.yield
// LOOPS: schedule.launch "[[K:recurrence_[0-9]+]]" for "recurrence" grid 2
// LOOPS: func.func private @[[K]](
// LOOPS: scf.for
// LOOPS: vector.broadcast
// LOOPS: math.tanh
func.func @forward(%x: tensor<16x8x4xf32> {hybrid.name = "x"}, %w: tensor<4x4xf32> {hybrid.name = "w"}) -> (tensor<16x8x4xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%x : tensor<16x8x4xf32>) invariants(%w : tensor<4x4xf32>) -> tensor<16x8x4xf32> step {
  ^bb0(%h: tensor<4xf32>, %xt: tensor<4xf32>, %u: tensor<4x4xf32>):
    %p = hybrid.linear %h, %u : tensor<4xf32>, tensor<4x4xf32> -> tensor<4xf32>
    %s = hybrid.binary add %p, %xt : tensor<4xf32>, tensor<4xf32>
    %n = hybrid.unary tanh %s : tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %y : tensor<16x8x4xf32>
}

// -----

// Without a product a sequence is a work item. A state of sixteen numbers for an input of one: stretches of three of nine positions are kept.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.recurrence for "recurrence_grad" {{.+}} batch 2 length 9 by 1 kept 3 step {
// CHECK: } gradient {
func.func @forward(%dy: tensor<2x9x1xf32> {hybrid.name = "dy"}, %x: tensor<2x9x1xf32> {hybrid.name = "x"}) -> (tensor<2x9x1xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence_grad %dy inputs(%x : tensor<2x9x1xf32>) sums 0 : tensor<2x9x1xf32> -> tensor<2x9x1xf32> step {
  ^bb0(%h: tensor<16xf32>, %xt: tensor<1xf32>):
    %n = hybrid.binary add %h, %xt : tensor<16xf32>, tensor<1xf32>
    %r = hybrid.reduce sum %n over [0] {keep} : tensor<16xf32> -> tensor<1xf32>
    hybrid.yield %n, %r : tensor<16xf32>, tensor<1xf32>
  } gradient {
  ^bb0(%h: tensor<16xf32>, %xt: tensor<1xf32>, %dn: tensor<16xf32>, %dr: tensor<1xf32>):
    %d = hybrid.binary add %dn, %dr : tensor<16xf32>, tensor<1xf32>
    %s = hybrid.reduce sum %d over [0] {keep} : tensor<16xf32> -> tensor<1xf32>
    hybrid.yield %d, %s : tensor<16xf32>, tensor<1xf32>
  }
  return %y : tensor<2x9x1xf32>
}
