// RUN: hybrid-opt %s --split-input-file --hybrid-split-sequence=ranks=4 | FileCheck %s

// A state comes from the rank before and goes to the next one, when all that needs it is done; positions are 4 of 16.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[TOKENS:[^:]+]]: tensor<2x4xi32> {hybrid.name = "tokens"}) -> (tensor<2x4x4xf32> {hybrid.name = "logits"})
// CHECK: %[[TAPS:.+]] = hybrid.receive_state from previous of 4 : tensor<2x2x4xf32>
// CHECK-NEXT: %[[Y:.+]], %[[TAPS1:.+]] = hybrid.short_conv %{{.*}}, %{{.*}} initial_state(%[[TAPS]] : tensor<2x2x4xf32>) {return_state} : tensor<2x4x4xf32>
// CHECK-NEXT: hybrid.send_state %[[TAPS1]] to next of 4 : tensor<2x2x4xf32>
// CHECK: %[[SCAN:.+]] = hybrid.receive_state from previous of 4 : tensor<2x4x4xf32>
// CHECK-NEXT: %[[H:.+]], %[[SCAN1:.+]] = hybrid.selective_scan %[[Y]], {{.*}} initial_state(%[[SCAN]] : tensor<2x4x4xf32>) {return_state}
// CHECK-NEXT: hybrid.send_state %[[SCAN1]] to next of 4 : tensor<2x4x4xf32>
// CHECK-NEXT: return %[[H]] : tensor<2x4x4xf32>
func.func @forward(%tokens: tensor<2x16xi32> {hybrid.name = "tokens"}) -> (tensor<2x16x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %taps = hybrid.parameter "taps" : tensor<4x3xf32>
  %a = hybrid.parameter "a" : tensor<4x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x16xi32> -> tensor<2x16x4xf32>
  %y = hybrid.short_conv %x, %taps : tensor<2x16x4xf32>, tensor<4x3xf32> -> tensor<2x16x4xf32>
  %dt = hybrid.unary softplus %y : tensor<2x16x4xf32>
  %h = hybrid.selective_scan %y, %dt, %a, %x, %x : tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<4x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32> -> tensor<2x16x4xf32>
  return %h : tensor<2x16x4xf32>
}

// -----

// A long convolution has all positions of some channels: ranks swap them before and back behind it. Of filter and skip each takes its channels.
// CHECK-LABEL: func.func @forward(
// CHECK-DAG: %[[H:.+]] = hybrid.parameter "h" : tensor<16x8xf32>
// CHECK-DAG: %[[X:.+]] = hybrid.embedding {{.*}} -> tensor<2x4x8xf32>
// CHECK: %[[APART:.+]] = hybrid.reshape %[[X]] to [{{.*}}] : tensor<2x4x8xf32> -> tensor<2x4x4x2xf32>
// CHECK-NEXT: %[[FIRST:.+]] = hybrid.transpose %[[APART]] {{.*}} -> tensor<4x2x4x2xf32>
// CHECK-NEXT: %[[CHANNELS:.+]] = hybrid.all_to_all %[[FIRST]] : tensor<4x2x4x2xf32>
// CHECK-NEXT: %[[BESIDE:.+]] = hybrid.transpose %[[CHANNELS]] {{.*}} -> tensor<2x4x4x2xf32>
// CHECK-NEXT: %[[WHOLE:.+]] = hybrid.reshape %[[BESIDE]] to [{{.*}}] : tensor<2x4x4x2xf32> -> tensor<2x16x2xf32>
// CHECK: %[[PLACE:.+]] = hybrid.rank_place of 4 : tensor<1xi32>
// CHECK: %[[OWN:.+]] = hybrid.embedding %{{.*}}, %[[PLACE]] : tensor<4x32xf32>, tensor<1xi32> -> tensor<1x32xf32>
// CHECK: %[[FILTER:.+]] = hybrid.reshape %[[OWN]] to [{{.*}}] : tensor<1x32xf32> -> tensor<16x2xf32>
// CHECK: %[[SKIP:.+]] = hybrid.reshape %{{.*}} to [{{.*}}] : tensor<1x2xf32> -> tensor<2xf32>
// CHECK: %[[Y:.+]] = hybrid.fftconv %[[WHOLE]], %[[FILTER]] skip(%[[SKIP]] : tensor<2xf32>) : tensor<2x16x2xf32>, tensor<16x2xf32> -> tensor<2x16x2xf32>
// CHECK: hybrid.all_to_all %{{.*}} : tensor<4x2x4x2xf32>
// CHECK: %[[BACK:.+]] = hybrid.reshape %{{.*}} -> tensor<2x4x8xf32>
// CHECK-NEXT: return %[[BACK]]
func.func @forward(%tokens: tensor<2x16xi32> {hybrid.name = "tokens"}) -> (tensor<2x16x8xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x8xf32>
  %h = hybrid.parameter "h" : tensor<16x8xf32>
  %d = hybrid.parameter "d" : tensor<8xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x8xf32>, tensor<2x16xi32> -> tensor<2x16x8xf32>
  %y = hybrid.fftconv %x, %h skip(%d : tensor<8xf32>) : tensor<2x16x8xf32>, tensor<16x8xf32> -> tensor<2x16x8xf32>
  return %y : tensor<2x16x8xf32>
}

// -----

// Attention of 4 heads and 4 heads of keys is one head of each on every rank, also where later positions are seen.
// CHECK-LABEL: func.func @forward(
// CHECK: hybrid.attention %{{.*}}, %{{.*}}, %{{.*}} heads 2 kv_heads 1 {causal = false} : tensor<2x16x4xf32>, tensor<2x16x2xf32>, tensor<2x16x2xf32> -> tensor<2x16x4xf32>, tensor<2x2x16xf32>
func.func @forward(%x: tensor<2x16x16xf32> {hybrid.name = "x"}) -> (tensor<2x16x16xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<8x16xf32>
  %k = hybrid.linear %x, %w : tensor<2x16x16xf32>, tensor<8x16xf32> -> tensor<2x16x8xf32>
  %y, %lse = hybrid.attention %x, %k, %k heads 8 kv_heads 4 {causal = false} : tensor<2x16x16xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32> -> tensor<2x16x16xf32>, tensor<2x8x16xf32>
  return %y : tensor<2x16x16xf32>
}

// -----

// Of a table of positions a rank has its part; of what is the same at all positions, as many.
// CHECK-LABEL: func.func @forward(
// CHECK: %[[PLACE:.+]] = hybrid.rank_place of 4
// CHECK: %[[ROWS:.+]] = hybrid.embedding %{{.*}}, %[[PLACE]] : tensor<4x16xf32>, tensor<1xi32> -> tensor<1x16xf32>
// CHECK: %[[TABLE:.+]] = hybrid.reshape %[[ROWS]] to [{{.*}}] : tensor<1x16xf32> -> tensor<4x4xf32>
// CHECK: hybrid.binary add %{{.*}}, %[[TABLE]] : tensor<2x4x4xf32>, tensor<4x4xf32>
func.func @forward(%tokens: tensor<2x16xi32> {hybrid.name = "tokens"}) -> (tensor<2x16x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %places = hybrid.parameter "places" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x16xi32> -> tensor<2x16x4xf32>
  %y = hybrid.binary add %x, %places : tensor<2x16x4xf32>, tensor<16x4xf32>
  return %y : tensor<2x16x4xf32>
}
