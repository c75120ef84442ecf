// RUN: hybrid-opt %s --split-input-file --hybrid-carry-state="decode prefill=4" | FileCheck %s
// RUN: hybrid-opt %s --split-input-file --hybrid-carry-state="decode" | FileCheck %s --check-prefix=LENGTHS

// A program for as many tokens as there may be, and for a quarter of them as long as that is more than one.
// LENGTHS: func.func @prefill(%{{.*}}: tensor<1x8xi32> {hybrid.name = "tokens"}
// LENGTHS: func.func @prefill.2(%{{.*}}: tensor<1x2xi32> {hybrid.name = "tokens"}
// LENGTHS: func.func @step(%{{.*}}: tensor<1x1xi32> {hybrid.name = "tokens"}

// States lie where parameters do. What grows with the sequence has as many positions as @forward, of a filter and a table of positions too; the table is read at
// the positions' numbers. Keys and values are read in their rings, before their new rows are written there.
// CHECK-LABEL: func.func @forward(
// CHECK-NOT: @chunk
// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: tensor<1x4xi32> {hybrid.name = "tokens"}, %{{[^:]+}}: tensor<1x4xi32> {hybrid.name = "positions"}) -> (tensor<1x4x4xf32>
// CHECK: hybrid.fftconv %{{.*}}, %{{.*}} : tensor<1x11x4xf32>, tensor<8x4xf32>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: tensor<1x1xi32> {hybrid.name = "tokens"}, %[[NUMBER:[^:]+]]: tensor<1x1xi32> {hybrid.name = "positions"}) -> (tensor<1x1x4xf32>
// CHECK-DAG: %[[BEFORE:.+]] = hybrid.parameter "state:0" {decay = false, hybrid.state, trainable = false} : tensor<1x7x4xf32>
// CHECK-DAG: %[[KEYS:.+]] = hybrid.parameter "state:1" {decay = false, hybrid.ring = "state:3", hybrid.state, trainable = false} : tensor<1x7x4xf32>
// CHECK-DAG: %[[VALUES:.+]] = hybrid.parameter "state:2" {{.*}}hybrid.ring = "state:3"{{.*}} : tensor<1x7x4xf32>
// CHECK-DAG: hybrid.parameter "state:3" {{.*}} : tensor<1xf32>
// CHECK-DAG: hybrid.embedding %{{.*}}, %[[NUMBER]] : tensor<8x4xf32>, tensor<1x1xi32> -> tensor<1x1x4xf32>
// CHECK: %[[WHOLE:.+]] = hybrid.concat %[[BEFORE]], %
// CHECK: %[[AFTER:.+]] = hybrid.slice %[[WHOLE]] from [0, 1, 0] size [1, 7, 4]
// CHECK: hybrid.reverse %{{.*}} along 0 : tensor<8x4xf32>
// CHECK: hybrid.reduce sum
// CHECK: hybrid.attention %{{.*}}, %[[NEW:.+]], %{{.*}} heads 2 kv_heads 2 past(%[[KEYS]], %[[VALUES]] : {{.*}}) {window = 7 : i64} : tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32> -> tensor<1x1x4xf32>, tensor<1x2x1xf32>
// CHECK: hybrid.assign "state:0", %[[AFTER]] {hybrid.state}
// CHECK: hybrid.assign "state:1", %[[NEW]] {hybrid.ring = "state:3", hybrid.state} : tensor<1x1x4xf32>
// CHECK: hybrid.assign "state:3"
// CHECK: return
func.func @forward(%tokens: tensor<1x8xi32> {hybrid.name = "tokens"}) -> (tensor<1x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %positions = hybrid.parameter "positions" : tensor<8x4xf32>
  %filter = hybrid.parameter "filter" : tensor<8x4xf32>
  %t = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<1x8xi32> -> tensor<1x8x4xf32>
  %x = hybrid.binary add %t, %positions : tensor<1x8x4xf32>, tensor<8x4xf32>
  %c = hybrid.fftconv %x, %filter : tensor<1x8x4xf32>, tensor<8x4xf32> -> tensor<1x8x4xf32>
  %y, %lse = hybrid.attention %c, %c, %c heads 2 kv_heads 2 : tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32> -> tensor<1x8x4xf32>, tensor<1x2x8xf32>
  return %y : tensor<1x8x4xf32>
}

// -----

// A filter of modes is its recurrence: two numbers a mode and channel, however long the sequence.
// CHECK-LABEL: func.func @step(
// CHECK-DAG: hybrid.parameter "state:0" {{.*}} : tensor<1x1x3x4xf32>
// CHECK-DAG: hybrid.parameter "state:1" {{.*}} : tensor<1x1x3x4xf32>
// CHECK-NOT: hybrid.fftconv
// CHECK: return
func.func @forward(%tokens: tensor<1x8xi32> {hybrid.name = "tokens"}) -> (tensor<1x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %a = hybrid.parameter "a" : tensor<3x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<1x8xi32> -> tensor<1x8x4xf32>
  %h = hybrid.modal_filter %a, %a, %a, %a to [8] : tensor<3x4xf32> -> tensor<8x4xf32>
  %y = hybrid.fftconv %x, %h : tensor<1x8x4xf32>, tensor<8x4xf32> -> tensor<1x8x4xf32>
  return %y : tensor<1x8x4xf32>
}
