// RUN: hybrid-opt %s --split-input-file --hybrid-carry-state | FileCheck %s

// Every op with state starts from an input and returns it; everything else works position by position. @forward stays.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: -> (tensor<2x8x4xf32> {hybrid.name = "logits"})
// CHECK-LABEL: func.func @chunk(
// CHECK-SAME: %[[TOKENS:[^:]+]]: tensor<2x8xi32> {hybrid.name = "tokens"}
// CHECK-SAME: %[[TAPS:[^:]+]]: tensor<2x2x4xf32> {hybrid.name = "state.0"}
// CHECK-SAME: %[[SCAN:[^:]+]]: tensor<2x4x5xf32> {hybrid.name = "state.1"}
// CHECK-SAME: -> (tensor<2x8x4xf32> {hybrid.name = "logits"}, tensor<2x2x4xf32> {hybrid.name = "state.0"}, tensor<2x4x5xf32> {hybrid.name = "state.1"})
// CHECK: %[[Y:.+]], %[[TAPS1:.+]] = hybrid.short_conv {{.*}} initial_state(%[[TAPS]] : tensor<2x2x4xf32>) {return_state}
// CHECK: %[[H:.+]], %[[SCAN1:.+]] = hybrid.selective_scan {{.*}} initial_state(%[[SCAN]] : tensor<2x4x5xf32>) {return_state}
// CHECK: return %{{.*}}, %[[TAPS1]], %[[SCAN1]] :
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %taps = hybrid.parameter "taps" : tensor<4x3xf32>
  %a = hybrid.parameter "a" : tensor<4x5xf32>
  %w = hybrid.parameter "w" : tensor<10x4xf32>
  %scale = hybrid.parameter "scale" : tensor<4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %y = hybrid.short_conv %x, %taps : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  %n = hybrid.rmsnorm %y, %scale : tensor<4xf32> : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  %bc = hybrid.linear %n, %w : tensor<2x8x4xf32>, tensor<10x4xf32> -> tensor<2x8x10xf32>
  %b, %c = hybrid.split %bc along 2 sizes [5, 5] : tensor<2x8x10xf32> -> tensor<2x8x5xf32>, tensor<2x8x5xf32>
  %dt = hybrid.unary softplus %n : tensor<2x8x4xf32>
  %h = hybrid.selective_scan %n, %dt, %a, %b, %c : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x5xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32> -> tensor<2x8x4xf32>
  %s = hybrid.binary mul %h, %scale : tensor<2x8x4xf32>, tensor<4xf32>
  return %s : tensor<2x8x4xf32>
}

// -----

// The sequence may be another dimension for a while: heads apart, and back.
// CHECK-LABEL: func.func @chunk(
// CHECK: hybrid.reshape
// CHECK: hybrid.transpose
// CHECK: hybrid.reduce
// CHECK: return
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %r = hybrid.reshape %x to [2, 8, 2, 2] : tensor<2x8x4xf32> -> tensor<2x8x2x2xf32>
  %t = hybrid.transpose %r by [0, 2, 1, 3] : tensor<2x8x2x2xf32> -> tensor<2x2x8x2xf32>
  %m = hybrid.reduce sum %t over [1] {keep} : tensor<2x2x8x2xf32> -> tensor<2x1x8x2xf32>
  %d = hybrid.binary sub %t, %m : tensor<2x2x8x2xf32>, tensor<2x1x8x2xf32>
  %u = hybrid.transpose %d by [0, 2, 1, 3] : tensor<2x2x8x2xf32> -> tensor<2x8x2x2xf32>
  %y = hybrid.reshape %u to [2, 8, 4] : tensor<2x8x2x2xf32> -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// A scan over what is the same everywhere counts positions, and counts on. A position's number is then no constant of the chunk.
// CHECK-LABEL: func.func @chunk(
// CHECK-SAME: %[[COUNT:[^:]+]]: tensor<1x1x1x1xf32> {hybrid.name = "state.0"}
// CHECK: hybrid.linear_scan {{.*}} initial_state(%[[COUNT]] : tensor<1x1x1x1xf32>)
// CHECK: return
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %one = hybrid.constant 1.0 : tensor<1x8x1xf32>
  %n = hybrid.linear_scan %one, %one, %one heads 1 {exclusive} : tensor<1x8x1xf32>, tensor<1x8x1xf32>, tensor<1x8x1xf32> -> tensor<1x8x1xf32>
  %y = hybrid.binary mul %x, %n : tensor<2x8x4xf32>, tensor<1x8x1xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// The state of attention over a window is what it still reaches, and how many positions there were: the score hides what was before the start.
// CHECK-LABEL: func.func @chunk(
// CHECK-SAME: %[[K:[^:]+]]: tensor<2x3x4xf32> {hybrid.name = "state.0"}
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x3x4xf32> {hybrid.name = "state.1"}
// CHECK-SAME: %[[SEEN:[^:]+]]: tensor<2xf32> {hybrid.name = "state.2"}
// CHECK: %[[KEYS:.+]] = hybrid.concat %[[K]], %
// CHECK: %[[LASTKEYS:.+]] = hybrid.slice %[[KEYS]]
// CHECK: %[[VALUES:.+]] = hybrid.concat %[[V]], %
// CHECK: hybrid.binary add %[[SEEN]], %
// CHECK: %[[HIDDEN:.+]] = hybrid.broadcast %{{.*}} to [2, 1, 2, 11]
// CHECK: hybrid.attention %{{.*}}, %[[KEYS]], %[[VALUES]] heads 2 kv_heads 2 key_terms(%[[HIDDEN]] : {{.*}}) {window = 3 : i64} {{.*}} score {
// CHECK: hybrid.binary add
// CHECK: return %{{.*}}, %[[LASTKEYS]], %
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %y, %lse = hybrid.attention %x, %x, %x heads 2 kv_heads 2 {window = 3 : i64} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x2x8xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// Experts that look at a position alone stay as they are.
// CHECK-LABEL: func.func @chunk(
// CHECK: hybrid.top_k
// CHECK: hybrid.routed_experts
// CHECK: return
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %up = hybrid.parameter "up" : tensor<3x4x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %i = hybrid.top_k %x of 2 : tensor<2x8x4xf32> -> tensor<2x8x2xi32>
  %w = hybrid.take %x at %i : tensor<2x8x4xf32>, tensor<2x8x2xi32> -> tensor<2x8x2xf32>
  %y = hybrid.routed_experts %x to %i weighted %w own(%up : tensor<3x4x4xf32>) among 3 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>, %m: tensor<4x4xf32>):
    %h = hybrid.linear %e, %m : tensor<2x8x4xf32>, tensor<4x4xf32> -> tensor<2x8x4xf32>
    hybrid.yield %h : tensor<2x8x4xf32>
  }
  return %y : tensor<2x8x4xf32>
}

// -----

// One tap needs nothing of what came before.
// CHECK-LABEL: func.func @chunk(
// CHECK-SAME: %[[TOKENS:[^:]+]]: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"})
// CHECK: hybrid.short_conv %{{.*}}, %{{.*}} : tensor<2x8x4xf32>, tensor<4x1xf32> -> tensor<2x8x4xf32>
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %taps = hybrid.parameter "taps" : tensor<4x1xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %y = hybrid.short_conv %x, %taps : tensor<2x8x4xf32>, tensor<4x1xf32> -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
