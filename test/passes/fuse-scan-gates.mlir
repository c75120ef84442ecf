// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-fuse-gates))' | FileCheck %s
// What stands around a selective scan goes into it.

// Fused, as in Mamba: the projection's bias and the softplus, the skip and the gate.
// CHECK-LABEL: func.func @mamba(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[RATES:[^:]+]]: tensor<2x8x1xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<4x1xf32>
// CHECK-SAME: %[[BIAS:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<2x8x3xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[Z:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[RATES]], %[[W]] : tensor<2x8x1xf32>, tensor<4x1xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[SCAN:.+]] = hybrid.selective_scan %[[X]], %[[LINEAR]], %[[A]], %[[B]], %[[B]] dt_bias(%[[BIAS]] : tensor<4xf32>) skip(%[[D]] : tensor<4xf32>) gate(%[[Z]] : tensor<2x8x4xf32>) {dt_softplus} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[SCAN]] : tensor<2x8x4xf32>
func.func @mamba(%x: tensor<2x8x4xf32>, %rates: tensor<2x8x1xf32>, %w: tensor<4x1xf32>, %bias: tensor<4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %d: tensor<4xf32>, %z: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %p = hybrid.linear %rates, %w bias(%bias : tensor<4xf32>) : tensor<2x8x1xf32>, tensor<4x1xf32> -> tensor<2x8x4xf32>
  %dt = hybrid.unary softplus %p : tensor<2x8x4xf32>
  %h = hybrid.selective_scan %x, %dt, %a, %b, %b : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  %s = hybrid.binary mul %d, %x : tensor<4xf32>, tensor<2x8x4xf32>
  %u = hybrid.binary add %h, %s : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %g = hybrid.unary silu %z : tensor<2x8x4xf32>
  %y = hybrid.binary mul %u, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Fused with a state, whose user stays below the scan: a bias that is added, and operands on the other sides.
// CHECK-LABEL: func.func @state(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[BIAS:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[Z:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x4x3xf32>)
// CHECK-NEXT: %[[SCAN:.+]], %[[SCAN1:.+]] = hybrid.selective_scan %[[X]], %[[V]], %[[A]], %[[A]], %[[A]] dt_bias(%[[BIAS]] : tensor<4xf32>) skip(%[[D]] : tensor<4xf32>) gate(%[[Z]] : tensor<2x8x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x4x3xf32>
// CHECK-NEXT: %[[NEG:.+]] = hybrid.unary neg %[[SCAN1]] : tensor<2x4x3xf32>
// CHECK-NEXT: return %[[SCAN]], %[[NEG]] : tensor<2x8x4xf32>, tensor<2x4x3xf32>
func.func @state(%x: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %bias: tensor<4xf32>, %a: tensor<4x3xf32>, %d: tensor<4xf32>, %z: tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x4x3xf32>) {
  %dt = hybrid.binary add %bias, %v : tensor<4xf32>, tensor<2x8x4xf32>
  %h, %last = hybrid.selective_scan %x, %dt, %a, %a, %a {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x4x3xf32>
  %n = hybrid.unary neg %last : tensor<2x4x3xf32>
  %s = hybrid.binary mul %x, %d : tensor<2x8x4xf32>, tensor<4xf32>
  %u = hybrid.binary add %s, %h : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %g = hybrid.unary silu %z : tensor<2x8x4xf32>
  %y = hybrid.binary mul %g, %u : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y, %n : tensor<2x8x4xf32>, tensor<2x4x3xf32>
}

// Fused: a gate that is computed after the scan, which moves down to it.
// CHECK-LABEL: func.func @late_gate(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[EXP:.+]] = hybrid.unary exp %[[X]] : tensor<2x8x4xf32>
// CHECK-NEXT: %[[SCAN:.+]] = hybrid.selective_scan %[[X]], %[[X]], %[[A]], %[[A]], %[[A]] gate(%[[EXP]] : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[SCAN]] : tensor<2x8x4xf32>
func.func @late_gate(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>) -> tensor<2x8x4xf32> {
  %h = hybrid.selective_scan %x, %x, %a, %a, %a : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  %z = hybrid.unary exp %x : tensor<2x8x4xf32>
  %g = hybrid.unary silu %z : tensor<2x8x4xf32>
  %y = hybrid.binary mul %h, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Not fused: the same, but the final state is wanted where the scan stands.
// CHECK-LABEL: func.func @late_gate_state(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x4x3xf32>)
// CHECK-NEXT: %[[SCAN:.+]], %[[SCAN1:.+]] = hybrid.selective_scan %[[X]], %[[X]], %[[A]], %[[A]], %[[A]] {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x4x3xf32>
// CHECK-NEXT: %[[EXP:.+]] = hybrid.unary exp %[[X]] : tensor<2x8x4xf32>
// CHECK-NEXT: %[[SILU:.+]] = hybrid.unary silu %[[EXP]] : tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[SCAN]], %[[SILU]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[MUL]], %[[SCAN1]] : tensor<2x8x4xf32>, tensor<2x4x3xf32>
func.func @late_gate_state(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>) -> (tensor<2x8x4xf32>, tensor<2x4x3xf32>) {
  %h, %last = hybrid.selective_scan %x, %x, %a, %a, %a {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x4x3xf32>
  %z = hybrid.unary exp %x : tensor<2x8x4xf32>
  %g = hybrid.unary silu %z : tensor<2x8x4xf32>
  %y = hybrid.binary mul %h, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y, %last : tensor<2x8x4xf32>, tensor<2x4x3xf32>
}

// Not fused: step, scan and gate have a second use, so that they must be in memory anyway.
// CHECK-LABEL: func.func @second_use(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[Z:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>)
// CHECK-NEXT: %[[SOFTPLUS:.+]] = hybrid.unary softplus %[[X]] : tensor<2x8x4xf32>
// CHECK-NEXT: %[[SCAN:.+]] = hybrid.selective_scan %[[X]], %[[SOFTPLUS]], %[[A]], %[[A]], %[[A]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[SILU:.+]] = hybrid.unary silu %[[Z]] : tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[SCAN]], %[[SILU]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[MUL]], %[[SCAN]], %[[SOFTPLUS]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
func.func @second_use(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %z: tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %dt = hybrid.unary softplus %x : tensor<2x8x4xf32>
  %h = hybrid.selective_scan %x, %dt, %a, %a, %a : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  %g = hybrid.unary silu %z : tensor<2x8x4xf32>
  %y = hybrid.binary mul %h, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y, %h, %dt : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
}

// Not fused: another function gates, the skip is of another tensor, the bias is of one value.
// CHECK-LABEL: func.func @others(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[BIAS:[^:]+]]: tensor<1xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[Z:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[V]], %[[BIAS]] : tensor<2x8x4xf32>, tensor<1xf32>
// CHECK-NEXT: %[[SCAN:.+]] = hybrid.selective_scan %[[X]], %[[ADD]], %[[A]], %[[A]], %[[A]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[D]], %[[V]] : tensor<4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: %[[ADD1:.+]] = hybrid.binary add %[[SCAN]], %[[MUL]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: %[[SIGMOID:.+]] = hybrid.unary sigmoid %[[Z]] : tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL1:.+]] = hybrid.binary mul %[[ADD1]], %[[SIGMOID]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[MUL1]] : tensor<2x8x4xf32>
func.func @others(%x: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %bias: tensor<1xf32>, %a: tensor<4x3xf32>, %d: tensor<4xf32>, %z: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %dt = hybrid.binary add %v, %bias : tensor<2x8x4xf32>, tensor<1xf32>
  %h = hybrid.selective_scan %x, %dt, %a, %a, %a : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  %s = hybrid.binary mul %d, %v : tensor<4xf32>, tensor<2x8x4xf32>
  %u = hybrid.binary add %h, %s : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %g = hybrid.unary sigmoid %z : tensor<2x8x4xf32>
  %y = hybrid.binary mul %u, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Not fused: a bias that is already there takes no second one, and no softplus of the unbiased step.
// CHECK-LABEL: func.func @taken(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[BIAS:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[SOFTPLUS:.+]] = hybrid.unary softplus %[[V]] : tensor<2x8x4xf32>
// CHECK-NEXT: %[[SCAN:.+]] = hybrid.selective_scan %[[X]], %[[SOFTPLUS]], %[[A]], %[[A]], %[[A]] dt_bias(%[[BIAS]] : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[SCAN]] : tensor<2x8x4xf32>
func.func @taken(%x: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %bias: tensor<4xf32>, %a: tensor<4x3xf32>) -> tensor<2x8x4xf32> {
  %dt = hybrid.unary softplus %v : tensor<2x8x4xf32>
  %h = hybrid.selective_scan %x, %dt, %a, %a, %a dt_bias(%bias : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  return %h : tensor<2x8x4xf32>
}
