// RUN: hybrid-opt %s --split-input-file --hybrid-prepare-decoding --canonicalize | FileCheck %s

// What depends on parameters alone is computed by @prepare; a view of it stays, and so does what reads a state.
// CHECK-LABEL: func.func @step(
// CHECK-DAG: %[[PREPARED:.+]] = hybrid.parameter "prepared:0" {{.*}}hybrid.state{{.*}} : tensor<4xf32>
// CHECK-DAG: %[[STATE:.+]] = hybrid.parameter "state:0"
// CHECK: %[[WIDE:.+]] = hybrid.reshape %[[PREPARED]] to [1, 1, 4]
// CHECK: hybrid.binary mul %{{.*}}, %[[WIDE]]
// CHECK: hybrid.unary exp %[[STATE]]
// CHECK-NOT: hybrid.unary softplus
// CHECK: return
// CHECK-LABEL: func.func @prepare() {
// CHECK: %[[A:.+]] = hybrid.parameter "a" : tensor<4xf32>
// CHECK: %[[S:.+]] = hybrid.unary softplus %[[A]]
// CHECK: hybrid.assign "prepared:0", %[[S]] {hybrid.state}
// CHECK: return
func.func @step(%tokens: tensor<1x1xi32> {hybrid.name = "tokens"}) -> (tensor<1x1x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %a = hybrid.parameter "a" : tensor<4xf32>
  %before = hybrid.parameter "state:0" {hybrid.state, trainable = false, decay = false} : tensor<1x1x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<1x1xi32> -> tensor<1x1x4xf32>
  %s = hybrid.unary softplus %a : tensor<4xf32>
  %w = hybrid.reshape %s to [1, 1, 4] : tensor<4xf32> -> tensor<1x1x4xf32>
  %m = hybrid.binary mul %x, %w : tensor<1x1x4xf32>, tensor<1x1x4xf32>
  %e = hybrid.unary exp %before : tensor<1x1x4xf32>
  %y = hybrid.binary add %m, %e : tensor<1x1x4xf32>, tensor<1x1x4xf32>
  hybrid.assign "state:0", %y {hybrid.state} : tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}

// -----

// What both programs read is computed and kept once.
// CHECK-LABEL: func.func @prefill(
// CHECK-DAG: hybrid.parameter "prepared:0"
// CHECK-LABEL: func.func @step(
// CHECK-DAG: hybrid.parameter "prepared:0"
// CHECK-DAG: hybrid.parameter "prepared:1"
// CHECK-LABEL: func.func @prepare() {
// CHECK-COUNT-1: hybrid.unary softplus
// CHECK-NOT: hybrid.unary softplus
// CHECK: hybrid.assign "prepared:0"
// CHECK: hybrid.assign "prepared:1"
// CHECK-NOT: hybrid.assign
func.func @prefill(%tokens: tensor<1x2xi32>) -> tensor<1x2x4xf32> {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %a = hybrid.parameter "a" : tensor<4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<1x2xi32> -> tensor<1x2x4xf32>
  %s = hybrid.unary softplus %a : tensor<4xf32>
  %m = hybrid.binary mul %x, %s : tensor<1x2x4xf32>, tensor<4xf32>
  return %m : tensor<1x2x4xf32>
}
func.func @step(%tokens: tensor<1x1xi32>) -> tensor<1x1x4xf32> {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %a = hybrid.parameter "a" : tensor<4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<1x1xi32> -> tensor<1x1x4xf32>
  %s = hybrid.unary softplus %a : tensor<4xf32>
  %e = hybrid.unary exp %a : tensor<4xf32>
  %m = hybrid.binary mul %x, %s : tensor<1x1x4xf32>, tensor<4xf32>
  %n = hybrid.binary mul %m, %e : tensor<1x1x4xf32>, tensor<4xf32>
  return %n : tensor<1x1x4xf32>
}
