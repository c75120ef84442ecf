// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-expand-experts))' | FileCheck %s

// Rows come into the order of their experts, products with own weights become grouped products, what is between them stays.
// CHECK-LABEL: func.func @projections(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[I:[^:]+]]: tensor<2x8x2xi32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<2x8x2xf32>
// CHECK-SAME: %[[UP:[^:]+]]: tensor<3x16x4xf32>
// CHECK-SAME: %[[DOWN:[^:]+]]: tensor<3x5x16xf32>
// CHECK-SAME: -> tensor<2x8x5xf32>
// CHECK-NEXT: %[[SLOTS:.+]], %[[OFFSETS:.+]] = hybrid.route %[[I]] among 3 {capacity_factor = 1.250000e+00 : f64} : tensor<2x8x2xi32> -> tensor<2x8x2xi32>, tensor<4xi32>
// CHECK-NEXT: %[[ONE:.+]] = hybrid.reshape %[[X]] to [2, 8, 1, 4]
// CHECK-NEXT: %[[PAIRS:.+]] = hybrid.broadcast %[[ONE]] to [2, 8, 2, 4]
// CHECK-NEXT: %[[ROWS:.+]] = hybrid.dispatch %[[PAIRS]] by %[[SLOTS]]
// CHECK-NEXT: %[[H:.+]] = hybrid.grouped_linear %[[ROWS]], %[[UP]], %[[OFFSETS]] : tensor<2x8x2x4xf32>, tensor<3x16x4xf32>, tensor<4xi32> -> tensor<2x8x2x16xf32>
// CHECK-NEXT: %[[S:.+]] = hybrid.unary silu %[[H]] : tensor<2x8x2x16xf32>
// CHECK-NEXT: %[[O:.+]] = hybrid.grouped_linear %[[S]], %[[DOWN]], %[[OFFSETS]] : tensor<2x8x2x16xf32>, tensor<3x5x16xf32>, tensor<4xi32> -> tensor<2x8x2x5xf32>
// CHECK-NEXT: %[[BACK:.+]] = hybrid.collect %[[O]] by %[[SLOTS]]
// CHECK-NEXT: %[[FACTORS:.+]] = hybrid.reshape %[[W]] to [2, 8, 2, 1]
// CHECK-NEXT: %[[WEIGHTED:.+]] = hybrid.binary mul %[[BACK]], %[[FACTORS]]
// CHECK-NEXT: %[[Y:.+]] = hybrid.reduce sum %[[WEIGHTED]] over [2] : tensor<2x8x2x5xf32> -> tensor<2x8x5xf32>
// CHECK-NEXT: return %[[Y]]
func.func @projections(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>, %up: tensor<3x16x4xf32>, %down: tensor<3x5x16xf32>) -> tensor<2x8x5xf32> {
  %y = hybrid.routed_experts %x to %i weighted %w own(%up, %down : tensor<3x16x4xf32>, tensor<3x5x16xf32>) among 3 {capacity_factor = 1.25 : f64} : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x5xf32> {
  ^bb0(%e: tensor<2x8x4xf32>, %a: tensor<16x4xf32>, %b: tensor<5x16xf32>):
    %h = hybrid.linear %e, %a : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
    %s = hybrid.unary silu %h : tensor<2x8x16xf32>
    %o = hybrid.linear %s, %b : tensor<2x8x16xf32>, tensor<5x16xf32> -> tensor<2x8x5xf32>
    hybrid.yield %o : tensor<2x8x5xf32>
  }
  return %y : tensor<2x8x5xf32>
}

// Row-wise ops with weights from outside, which all experts share, need nothing but more rows.
// CHECK-LABEL: func.func @shared(
// CHECK: %[[ROWS:.+]] = hybrid.dispatch
// CHECK-NEXT: %[[N:.+]] = hybrid.rmsnorm %[[ROWS]], %{{.+}} : tensor<4xf32> : tensor<2x8x2x4xf32> -> tensor<2x8x2x4xf32>
// CHECK-NEXT: %[[Y:.+]] = hybrid.grouped_linear %[[N]]
// CHECK-NEXT: hybrid.collect %[[Y]]
func.func @shared(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>, %scale: tensor<4xf32>, %down: tensor<3x4x4xf32>) -> tensor<2x8x4xf32> {
  %y = hybrid.routed_experts %x to %i weighted %w own(%down : tensor<3x4x4xf32>) among 3 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>, %a: tensor<4x4xf32>):
    %n = hybrid.rmsnorm %e, %scale : tensor<4xf32> : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
    %o = hybrid.linear %n, %a : tensor<2x8x4xf32>, tensor<4x4xf32> -> tensor<2x8x4xf32>
    hybrid.yield %o : tensor<2x8x4xf32>
  }
  return %y : tensor<2x8x4xf32>
}

// A bias of one's own is a vector for each row, that of its expert. Rows that belong to nobody must be zeros: a mask says so behind
// anything but a product.
// CHECK-LABEL: func.func @bias(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>, %[[I:[^:]+]]: tensor<2x8x2xi32>, %[[W:[^:]+]]: tensor<2x8x2xf32>, %[[UP:[^:]+]]: tensor<3x5x4xf32>, %[[BIAS:[^:]+]]: tensor<3x5xf32>
// CHECK: %[[H:.+]] = hybrid.grouped_linear %{{.+}}, %[[UP]], %[[OFFSETS:.+]] :
// CHECK: %[[COLUMN:.+]] = hybrid.reshape %[[BIAS]] to [3, 5, 1]
// CHECK-NEXT: %[[EACH:.+]] = hybrid.grouped_linear %{{.+}}, %[[COLUMN]], %[[OFFSETS]] : tensor<2x8x2x1xf32>, tensor<3x5x1xf32>, tensor<4xi32> -> tensor<2x8x2x5xf32>
// CHECK-NEXT: %[[SUM:.+]] = hybrid.binary add %[[H]], %[[EACH]]
// CHECK: %[[MASK:.+]] = hybrid.grouped_linear {{.+}} -> tensor<2x8x2x1xf32>
// CHECK-NEXT: %[[KEPT:.+]] = hybrid.binary mul %[[SUM]], %[[MASK]]
// CHECK-NEXT: hybrid.collect %[[KEPT]]
func.func @bias(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>, %up: tensor<3x5x4xf32>, %bias: tensor<3x5xf32>) -> tensor<2x8x5xf32> {
  %y = hybrid.routed_experts %x to %i weighted %w own(%up, %bias : tensor<3x5x4xf32>, tensor<3x5xf32>) among 3 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x5xf32> {
  ^bb0(%e: tensor<2x8x4xf32>, %a: tensor<5x4xf32>, %b: tensor<5xf32>):
    %h = hybrid.linear %e, %a bias(%b : tensor<5xf32>) : tensor<2x8x4xf32>, tensor<5x4xf32> -> tensor<2x8x5xf32>
    hybrid.yield %h : tensor<2x8x5xf32>
  }
  return %y : tensor<2x8x5xf32>
}

// An expert's own scale of its rows.
// CHECK-LABEL: func.func @scale(
// CHECK-SAME: %[[OWN:[^:]+]]: tensor<3x4xf32>
// CHECK: %[[ROWS:.+]] = hybrid.dispatch
// CHECK: %[[COLUMN:.+]] = hybrid.reshape %[[OWN]] to [3, 4, 1]
// CHECK-NEXT: %[[EACH:.+]] = hybrid.grouped_linear %{{.+}}, %[[COLUMN]]
// CHECK-NEXT: hybrid.binary mul %[[ROWS]], %[[EACH]] : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>
func.func @scale(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>, %own: tensor<3x4xf32>) -> tensor<2x8x4xf32> {
  %y = hybrid.routed_experts %x to %i weighted %w own(%own : tensor<3x4xf32>) among 3 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>, %a: tensor<4xf32>):
    %s = hybrid.binary mul %e, %a : tensor<2x8x4xf32>, tensor<4xf32>
    hybrid.yield %s : tensor<2x8x4xf32>
  }
  return %y : tensor<2x8x4xf32>
}

// A convolution mixes positions: every expert sees the whole sequence, and its result counts where it was chosen.
// CHECK-LABEL: func.func @mixer(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>, %[[I:[^:]+]]: tensor<2x8x1xi32>, %[[W:[^:]+]]: tensor<2x8x1xf32>, %[[TAPS:[^:]+]]: tensor<2x4x3xf32>
// CHECK-NOT: hybrid.route
// CHECK: %[[ALL:.+]] = hybrid.scatter %[[W]] at %[[I]] into 2 : tensor<2x8x1xf32>, tensor<2x8x1xi32> -> tensor<2x8x2xf32>
// CHECK-NEXT: %[[P0:.+]] = hybrid.slice %[[TAPS]] from [0, 0, 0] size [1, 4, 3]
// CHECK-NEXT: %[[T0:.+]] = hybrid.reshape %[[P0]] to [4, 3]
// CHECK-NEXT: %[[Y0:.+]] = hybrid.short_conv %[[X]], %[[T0]]
// CHECK-NEXT: %[[W0:.+]] = hybrid.slice %[[ALL]] from [0, 0, 0] size [2, 8, 1]
// CHECK-NEXT: %[[Z0:.+]] = hybrid.binary mul %[[Y0]], %[[W0]]
// CHECK: hybrid.slice %[[TAPS]] from [1, 0, 0] size [1, 4, 3]
// CHECK: %[[Y1:.+]] = hybrid.short_conv
// CHECK-NEXT: %[[W1:.+]] = hybrid.slice %[[ALL]] from [0, 0, 1] size [2, 8, 1]
// CHECK-NEXT: %[[Z1:.+]] = hybrid.binary mul %[[Y1]], %[[W1]]
// CHECK-NEXT: %[[Y:.+]] = hybrid.binary add %[[Z0]], %[[Z1]]
// CHECK-NEXT: return %[[Y]]
func.func @mixer(%x: tensor<2x8x4xf32>, %i: tensor<2x8x1xi32>, %w: tensor<2x8x1xf32>, %taps: tensor<2x4x3xf32>) -> tensor<2x8x4xf32> {
  %y = hybrid.routed_experts %x to %i weighted %w own(%taps : tensor<2x4x3xf32>) among 2 : tensor<2x8x4xf32>, tensor<2x8x1xi32>, tensor<2x8x1xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>, %t: tensor<4x3xf32>):
    %c = hybrid.short_conv %e, %t : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
    hybrid.yield %c : tensor<2x8x4xf32>
  }
  return %y : tensor<2x8x4xf32>
}

// What varies from position to position outside of the experts belongs to positions, not to rows in expert order.
// CHECK-LABEL: func.func @gated(
// CHECK-NOT: hybrid.route
// CHECK: hybrid.binary mul %{{.+}}, %{{.+}} : tensor<2x8x4xf32>, tensor<2x8x4xf32>
func.func @gated(%x: tensor<2x8x4xf32>, %gate: tensor<2x8x4xf32>, %i: tensor<2x8x1xi32>, %w: tensor<2x8x1xf32>) -> tensor<2x8x4xf32> {
  %y = hybrid.routed_experts %x to %i weighted %w among 2 : tensor<2x8x4xf32>, tensor<2x8x1xi32>, tensor<2x8x1xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    %c = hybrid.binary mul %e, %gate : tensor<2x8x4xf32>, tensor<2x8x4xf32>
    hybrid.yield %c : tensor<2x8x4xf32>
  }
  return %y : tensor<2x8x4xf32>
}
