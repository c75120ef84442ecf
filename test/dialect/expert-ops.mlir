// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// The route of a token through its experts and back.

// CHECK-LABEL: func.func @mixture
// CHECK: %[[I:.+]] = hybrid.top_k %{{.+}} of 2 : tensor<2x8x4xf32> -> tensor<2x8x2xi32>
// CHECK: hybrid.take %{{.+}} at %[[I]] : tensor<2x8x4xf32>, tensor<2x8x2xi32> -> tensor<2x8x2xf32>
// CHECK: hybrid.scatter %{{.+}} at %[[I]] into 4 : tensor<2x8x2xf32>, tensor<2x8x2xi32> -> tensor<2x8x4xf32>
// CHECK: %[[SLOTS:.+]], %[[OFFSETS:.+]] = hybrid.route %[[I]] among 4 {capacity_factor = 1.250000e+00 : f64} : tensor<2x8x2xi32> -> tensor<2x8x2xi32>, tensor<5xi32>
// CHECK: %[[ROWS:.+]] = hybrid.dispatch %{{.+}} by %[[SLOTS]] : tensor<2x8x2x16xf32>, tensor<2x8x2xi32> -> tensor<2x8x2x16xf32>
// CHECK: %[[H:.+]] = hybrid.grouped_linear %[[ROWS]], %{{.+}}, %[[OFFSETS]] : tensor<2x8x2x16xf32>, tensor<4x32x16xf32>, tensor<5xi32> -> tensor<2x8x2x32xf32>
// CHECK: %[[O:.+]] = hybrid.grouped_linear %[[H]], %{{.+}}, %[[OFFSETS]] {transposed} : tensor<2x8x2x32xf32>, tensor<4x32x16xf32>, tensor<5xi32> -> tensor<2x8x2x16xf32>
// CHECK: hybrid.grouped_linear_grad %[[ROWS]], %[[H]], %[[OFFSETS]] : tensor<2x8x2x16xf32>, tensor<2x8x2x32xf32>, tensor<5xi32> -> tensor<4x32x16xf32>
// CHECK: hybrid.collect %[[O]] by %[[SLOTS]] : tensor<2x8x2x16xf32>, tensor<2x8x2xi32> -> tensor<2x8x2x16xf32>
func.func @mixture(%x: tensor<2x8x2x16xf32>, %scores: tensor<2x8x4xf32>, %w: tensor<4x32x16xf32>) -> tensor<2x8x2x16xf32> {
  %i = hybrid.top_k %scores of 2 : tensor<2x8x4xf32> -> tensor<2x8x2xi32>
  %s = hybrid.take %scores at %i : tensor<2x8x4xf32>, tensor<2x8x2xi32> -> tensor<2x8x2xf32>
  %d = hybrid.scatter %s at %i into 4 : tensor<2x8x2xf32>, tensor<2x8x2xi32> -> tensor<2x8x4xf32>
  %slots, %offsets = hybrid.route %i among 4 {capacity_factor = 1.25 : f64} : tensor<2x8x2xi32> -> tensor<2x8x2xi32>, tensor<5xi32>
  %rows = hybrid.dispatch %x by %slots : tensor<2x8x2x16xf32>, tensor<2x8x2xi32> -> tensor<2x8x2x16xf32>
  %h = hybrid.grouped_linear %rows, %w, %offsets : tensor<2x8x2x16xf32>, tensor<4x32x16xf32>, tensor<5xi32> -> tensor<2x8x2x32xf32>
  %o = hybrid.grouped_linear %h, %w, %offsets {transposed} : tensor<2x8x2x32xf32>, tensor<4x32x16xf32>, tensor<5xi32> -> tensor<2x8x2x16xf32>
  %dw = hybrid.grouped_linear_grad %rows, %h, %offsets : tensor<2x8x2x16xf32>, tensor<2x8x2x32xf32>, tensor<5xi32> -> tensor<4x32x16xf32>
  %y = hybrid.collect %o by %slots : tensor<2x8x2x16xf32>, tensor<2x8x2xi32> -> tensor<2x8x2x16xf32>
  return %y : tensor<2x8x2x16xf32>
}

// One expert is the body; what is its own are arguments behind its input, what is from outside is everybody's.
// CHECK-LABEL: func.func @experts
// CHECK: hybrid.routed_experts %{{.+}} to %{{.+}} weighted %{{.+}} own(%{{.+}}, %{{.+}} : tensor<4x32x16xf32>, tensor<4x8x32xf32>) among 4 {capacity_factor = 1.250000e+00 : f64} : tensor<2x8x16xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x8xf32> {
// CHECK-NEXT: ^bb0(%[[E:.+]]: tensor<2x8x16xf32>, %[[UP:.+]]: tensor<32x16xf32>, %[[DOWN:.+]]: tensor<8x32xf32>):
// CHECK-NEXT: %[[H:.+]] = hybrid.linear %[[E]], %[[UP]] : tensor<2x8x16xf32>, tensor<32x16xf32> -> tensor<2x8x32xf32>
// CHECK-NEXT: %[[S:.+]] = hybrid.binary mul %[[H]], %{{.+}} : tensor<2x8x32xf32>, tensor<32xf32>
// CHECK-NEXT: %[[Y:.+]] = hybrid.linear %[[S]], %[[DOWN]]
// CHECK-NEXT: hybrid.yield %[[Y]] : tensor<2x8x8xf32>
// CHECK: hybrid.routed_experts %{{.+}} to %{{.+}} weighted %{{.+}} among 3 : tensor<16xf32>, tensor<1xi32>, tensor<1xf32> -> tensor<16xf32>
func.func @experts(%x: tensor<2x8x16xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>, %up: tensor<4x32x16xf32>, %down: tensor<4x8x32xf32>,
                   %scale: tensor<32xf32>, %one: tensor<16xf32>, %j: tensor<1xi32>, %v: tensor<1xf32>) {
  %y = hybrid.routed_experts %x to %i weighted %w own(%up, %down : tensor<4x32x16xf32>, tensor<4x8x32xf32>) among 4 {capacity_factor = 1.25 : f64} : tensor<2x8x16xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x8xf32> {
  ^bb0(%e: tensor<2x8x16xf32>, %a: tensor<32x16xf32>, %b: tensor<8x32xf32>):
    %h = hybrid.linear %e, %a : tensor<2x8x16xf32>, tensor<32x16xf32> -> tensor<2x8x32xf32>
    %s = hybrid.binary mul %h, %scale : tensor<2x8x32xf32>, tensor<32xf32>
    %o = hybrid.linear %s, %b : tensor<2x8x32xf32>, tensor<8x32xf32> -> tensor<2x8x8xf32>
    hybrid.yield %o : tensor<2x8x8xf32>
  }
  %z = hybrid.routed_experts %one to %j weighted %v among 3 : tensor<16xf32>, tensor<1xi32>, tensor<1xf32> -> tensor<16xf32> {
  ^bb0(%e: tensor<16xf32>):
    hybrid.yield %e : tensor<16xf32>
  }
  return
}
