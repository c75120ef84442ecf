// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-fuse-elementwise))' | FileCheck %s

// A chain becomes one region; the scalar constant moves into it, the repeated vector is one of its operands.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<8xf32>
// CHECK-SAME: -> tensor<4x8xf32>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 5.000000e-01 : tensor<f32>
// CHECK-NEXT: %[[FUSED:.+]] = hybrid.fused(%[[X]], %[[B]]) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG2:[^:]+]]: tensor<4x8xf32>, %[[IN_ARG3:[^:]+]]: tensor<8xf32>):
// CHECK-NEXT: %[[CONSTANT1:.+]] = hybrid.constant 5.000000e-01 : tensor<f32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[IN_ARG2]], %[[IN_ARG3]] : tensor<4x8xf32>, tensor<8xf32>
// CHECK-NEXT: %[[SILU:.+]] = hybrid.unary silu %[[ADD]] : tensor<4x8xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[SILU]], %[[CONSTANT1]] : tensor<4x8xf32>, tensor<f32>
// CHECK-NEXT: hybrid.yield %[[MUL]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[FUSED]] : tensor<4x8xf32>
func.func @chain(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %half = hybrid.constant 0.5 : tensor<f32>
  %0 = hybrid.binary add %x, %b : tensor<4x8xf32>, tensor<8xf32>
  %1 = hybrid.unary silu %0 : tensor<4x8xf32>
  %2 = hybrid.binary mul %1, %half : tensor<4x8xf32>, tensor<f32>
  return %2 : tensor<4x8xf32>
}

// A value that is needed outside as well is a second result of the region.
// CHECK-LABEL: func.func @two_results(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8xf32>
// CHECK-SAME: -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[FUSED:.+]]:2 = hybrid.fused(%[[X]]) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT: ^bb0(%[[IN_ARG1:[^:]+]]: tensor<8xf32>):
// CHECK-NEXT: %[[EXP:.+]] = hybrid.unary exp %[[IN_ARG1]] : tensor<8xf32>
// CHECK-NEXT: %[[SQUARE:.+]] = hybrid.unary square %[[EXP]] : tensor<8xf32>
// CHECK-NEXT: hybrid.yield %[[EXP]], %[[SQUARE]] : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[FUSED]]#0, %[[FUSED]]#1 : tensor<8xf32>, tensor<8xf32>
func.func @two_results(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = hybrid.unary exp %x : tensor<8xf32>
  %1 = hybrid.unary square %0 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// An operand of several ops is read once, and independent chains that meet are one region.
// CHECK-LABEL: func.func @shared_operand(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8xf32>
// CHECK-SAME: %[[Y:[^:]+]]: tensor<8xf32>
// CHECK-SAME: -> tensor<8xf32>
// CHECK-NEXT: %[[FUSED:.+]] = hybrid.fused(%[[X]], %[[Y]]) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG2:[^:]+]]: tensor<8xf32>, %[[IN_ARG3:[^:]+]]: tensor<8xf32>):
// CHECK-NEXT: %[[EXP:.+]] = hybrid.unary exp %[[IN_ARG2]] : tensor<8xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[IN_ARG2]], %[[IN_ARG3]] : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[EXP]], %[[MUL]] : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: hybrid.yield %[[ADD]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[FUSED]] : tensor<8xf32>
func.func @shared_operand(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = hybrid.unary exp %x : tensor<8xf32>
  %1 = hybrid.binary mul %x, %y : tensor<8xf32>, tensor<8xf32>
  %2 = hybrid.binary add %0, %1 : tensor<8xf32>, tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A broadcast to the iteration shape is part of the region: its small operand is read instead.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<8xf32>
// CHECK-SAME: -> tensor<4x8xf32>
// CHECK-NEXT: %[[FUSED:.+]] = hybrid.fused(%[[B]], %[[X]]) : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG2:[^:]+]]: tensor<8xf32>, %[[IN_ARG3:[^:]+]]: tensor<4x8xf32>):
// CHECK-NEXT: %[[BROADCAST:.+]] = hybrid.broadcast %[[IN_ARG2]] to [4, 8] : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[IN_ARG3]], %[[BROADCAST]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: hybrid.yield %[[ADD]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[FUSED]] : tensor<4x8xf32>
func.func @broadcast(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = hybrid.broadcast %b to [4, 8] : tensor<8xf32> -> tensor<4x8xf32>
  %1 = hybrid.binary add %x, %0 : tensor<4x8xf32>, tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Alone, a broadcast is a view and stays; so does one of integers.
// CHECK-LABEL: func.func @views(
// CHECK-SAME: %[[B:[^:]+]]: tensor<8xf32>
// CHECK-SAME: %[[I:[^:]+]]: tensor<8xi32>
// CHECK-SAME: -> (tensor<4x8xf32>, tensor<4x8xi32>)
// CHECK-NEXT: %[[BROADCAST:.+]] = hybrid.broadcast %[[B]] to [4, 8] : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: %[[BROADCAST1:.+]] = hybrid.broadcast %[[I]] to [1, 8] : tensor<8xi32> -> tensor<1x8xi32>
// CHECK-NEXT: %[[BROADCAST2:.+]] = hybrid.broadcast %[[BROADCAST1]] to [4, 8] : tensor<1x8xi32> -> tensor<4x8xi32>
// CHECK-NEXT: return %[[BROADCAST]], %[[BROADCAST2]] : tensor<4x8xf32>, tensor<4x8xi32>
func.func @views(%b: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>) {
  %0 = hybrid.broadcast %b to [4, 8] : tensor<8xf32> -> tensor<4x8xf32>
  %1 = hybrid.broadcast %i to [1, 8] : tensor<8xi32> -> tensor<1x8xi32>
  %2 = hybrid.broadcast %1 to [4, 8] : tensor<1x8xi32> -> tensor<4x8xi32>
  return %0, %2 : tensor<4x8xf32>, tensor<4x8xi32>
}

// Another iteration shape is another region: the vector is computed once, not once a row.
// CHECK-LABEL: func.func @shapes(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<8xf32>
// CHECK-SAME: -> tensor<4x8xf32>
// CHECK-NEXT: %[[FUSED:.+]] = hybrid.fused(%[[B]]) : (tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG2:[^:]+]]: tensor<8xf32>):
// CHECK-NEXT: %[[EXP:.+]] = hybrid.unary exp %[[IN_ARG2]] : tensor<8xf32>
// CHECK-NEXT: %[[SQUARE:.+]] = hybrid.unary square %[[EXP]] : tensor<8xf32>
// CHECK-NEXT: hybrid.yield %[[SQUARE]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[FUSED1:.+]] = hybrid.fused(%[[X]], %[[FUSED]]) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG21:[^:]+]]: tensor<4x8xf32>, %[[IN_ARG3:[^:]+]]: tensor<8xf32>):
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[IN_ARG21]], %[[IN_ARG3]] : tensor<4x8xf32>, tensor<8xf32>
// CHECK-NEXT: hybrid.yield %[[MUL]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[FUSED1]] : tensor<4x8xf32>
func.func @shapes(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = hybrid.unary exp %b : tensor<8xf32>
  %1 = hybrid.unary square %0 : tensor<8xf32>
  %2 = hybrid.binary mul %x, %1 : tensor<4x8xf32>, tensor<8xf32>
  return %2 : tensor<4x8xf32>
}

// Not fused: the projection needs the first sum before the second one can be computed, and regions stand where their last op stands.
// CHECK-LABEL: func.func @outside_user(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: %[[Y:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: %[[Z:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: -> tensor<8x8xf32>
// CHECK-NEXT: %[[FUSED:.+]] = hybrid.fused(%[[X]], %[[Y]], %[[Z]]) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG4:[^:]+]]: tensor<8x8xf32>, %[[IN_ARG5:[^:]+]]: tensor<8x8xf32>, %[[IN_ARG6:[^:]+]]: tensor<8x8xf32>):
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[IN_ARG4]], %[[IN_ARG5]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: %[[ADD1:.+]] = hybrid.binary add %[[ADD]], %[[IN_ARG6]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: hybrid.yield %[[ADD1]] : tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[FUSED]], %[[W]] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[FUSED1:.+]] = hybrid.fused(%[[FUSED]], %[[LINEAR]]) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG41:[^:]+]]: tensor<8x8xf32>, %[[IN_ARG51:[^:]+]]: tensor<8x8xf32>):
// CHECK-NEXT: %[[ADD2:.+]] = hybrid.binary add %[[IN_ARG41]], %[[IN_ARG51]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: hybrid.yield %[[ADD2]] : tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[FUSED1]] : tensor<8x8xf32>
func.func @outside_user(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = hybrid.binary add %x, %y : tensor<8x8xf32>, tensor<8x8xf32>
  %1 = hybrid.binary add %0, %z : tensor<8x8xf32>, tensor<8x8xf32>
  %2 = hybrid.linear %1, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %3 = hybrid.binary add %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// Recomputed: the backward pass reads g anyway, so silu(g) is computed again there, once for its two uses, and is not kept.
// CHECK-LABEL: func.func @recompute(
// CHECK-SAME: %[[G:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: %[[U:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: %[[DY:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK-NEXT: %[[FUSED:.+]] = hybrid.fused(%[[G]], %[[U]]) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG4:[^:]+]]: tensor<8x8xf32>, %[[IN_ARG5:[^:]+]]: tensor<8x8xf32>):
// CHECK-NEXT: %[[SILU:.+]] = hybrid.unary silu %[[IN_ARG4]] : tensor<8x8xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[SILU]], %[[IN_ARG5]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: hybrid.yield %[[MUL]] : tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[FUSED]], %[[W]] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[FUSED1:.+]]:2 = hybrid.fused(%[[G]], %[[DY]]) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
// CHECK-NEXT: ^bb0(%[[IN_ARG41:[^:]+]]: tensor<8x8xf32>, %[[IN_ARG51:[^:]+]]: tensor<8x8xf32>):
// CHECK-NEXT: %[[SILU1:.+]] = hybrid.unary silu %[[IN_ARG41]] : tensor<8x8xf32>
// CHECK-NEXT: %[[MUL1:.+]] = hybrid.binary mul %[[IN_ARG51]], %[[SILU1]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: %[[MUL2:.+]] = hybrid.binary mul %[[MUL1]], %[[IN_ARG41]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[MUL2]], %[[SILU1]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: hybrid.yield %[[MUL1]], %[[ADD]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[LINEAR]], %[[FUSED1]]#0, %[[FUSED1]]#1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
func.func @recompute(%g: tensor<8x8xf32>, %u: tensor<8x8xf32>, %w: tensor<8x8xf32>, %dy: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %s = hybrid.unary silu %g : tensor<8x8xf32>
  %p = hybrid.binary mul %s, %u : tensor<8x8xf32>, tensor<8x8xf32>
  %y = hybrid.linear %p, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %du = hybrid.binary mul %dy, %s : tensor<8x8xf32>, tensor<8x8xf32>
  %ds = hybrid.binary mul %du, %g : tensor<8x8xf32>, tensor<8x8xf32>
  %dg = hybrid.binary add %ds, %s : tensor<8x8xf32>, tensor<8x8xf32>
  return %y, %du, %dg : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// Kept: to compute p again, x and y would have to stay alive instead of p alone.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: %[[Y:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: -> tensor<8x8xf32>
// CHECK-NEXT: %[[FUSED:.+]] = hybrid.fused(%[[X]], %[[Y]]) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG3:[^:]+]]: tensor<8x8xf32>, %[[IN_ARG4:[^:]+]]: tensor<8x8xf32>):
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[IN_ARG3]], %[[IN_ARG4]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: hybrid.yield %[[MUL]] : tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[FUSED]], %[[W]] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[FUSED1:.+]] = hybrid.fused(%[[LINEAR]], %[[FUSED]]) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT: ^bb0(%[[IN_ARG31:[^:]+]]: tensor<8x8xf32>, %[[IN_ARG41:[^:]+]]: tensor<8x8xf32>):
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[IN_ARG31]], %[[IN_ARG41]] : tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: hybrid.yield %[[ADD]] : tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[FUSED1]] : tensor<8x8xf32>
func.func @kept(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %p = hybrid.binary mul %x, %y : tensor<8x8xf32>, tensor<8x8xf32>
  %l = hybrid.linear %p, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %z = hybrid.binary add %l, %p : tensor<8x8xf32>, tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

// What nobody uses is dropped rather than given a region without results.
// CHECK-LABEL: func.func @unused(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8xf32>
// CHECK-SAME: -> tensor<8xf32>
// CHECK-NEXT: return %[[X]] : tensor<8xf32>
func.func @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = hybrid.unary exp %x : tensor<8xf32>
  %1 = hybrid.unary square %0 : tensor<8xf32>
  return %x : tensor<8xf32>
}

// In a gradient the output's region is there before the cotangent, though both parts have one shape.
// CHECK-LABEL: func.func @vjp(
// CHECK: %[[Y:.+]] = hybrid.fused(
// CHECK: hybrid.unary exp
// CHECK-NEXT: hybrid.yield
// CHECK: hybrid.fused(
// CHECK-NOT: hybrid.fused
// CHECK: return %[[Y]],
func.func @vjp(%x: tensor<8xf32> {hybrid.name = "x"}, %dy: tensor<8xf32> {hybrid.name = "cotangent.y"})
    -> (tensor<8xf32> {hybrid.name = "y"}, tensor<8xf32> {hybrid.name = "grad.x"}) {
  %y = hybrid.unary exp %x : tensor<8xf32>
  %dx = hybrid.binary mul %dy, %y : tensor<8xf32>, tensor<8xf32>
  %twice = hybrid.binary add %dx, %dx : tensor<8xf32>, tensor<8xf32>
  return %y, %twice : tensor<8xf32>, tensor<8xf32>
}
