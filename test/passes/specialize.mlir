// RUN: hybrid-opt %s --split-input-file --hybrid-specialize='batch=2 length=8 precision=f64' | FileCheck %s

// Free dimensions of arguments get sizes, every type follows from them, and floating point becomes f64. Initial values move to @init, in the order of
// the parameters; what they were computed with is dead in @forward and left to canonicalisation.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[TOKENS:[^:]+]]: tensor<2x8xi32> {hybrid.name = "tokens"}
// CHECK-SAME: -> (tensor<2x8x3xf64> {hybrid.name = "logits"})
// CHECK-NEXT: %[[RANDOM:.+]] = hybrid.random normal(0.000000e+00, 2.000000e-02) "embed" : tensor<16x4xf64>
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "embed" : tensor<16x4xf64>
// CHECK-NEXT: %[[EMBEDDING:.+]] = hybrid.embedding %[[PARAMETER]], %[[TOKENS]] : tensor<16x4xf64>, tensor<2x8xi32> -> tensor<2x8x4xf64>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 1.000000e+00 : tensor<4xf64>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "norm.w" {decay = false} : tensor<4xf64>
// CHECK-NEXT: %[[RMSNORM:.+]] = hybrid.rmsnorm %[[EMBEDDING]], %[[PARAMETER1]] : tensor<4xf64> : tensor<2x8x4xf64> -> tensor<2x8x4xf64>
// CHECK-NEXT: %[[RANDOM1:.+]] = hybrid.random uniform(-5.000000e-01, 5.000000e-01) "head.w" : tensor<3x4xf64>
// CHECK-NEXT: %[[PARAMETER2:.+]] = hybrid.parameter "head.w" : tensor<3x4xf64>
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[RMSNORM]], %[[PARAMETER2]] : tensor<2x8x4xf64>, tensor<3x4xf64> -> tensor<2x8x3xf64>
// CHECK-NEXT: return %[[LINEAR]] : tensor<2x8x3xf64>
// CHECK-LABEL: func.func @init(
// CHECK-SAME: %[[SEED:[^:]+]]: tensor<2xi32> {hybrid.name = "seed"}
// CHECK-NEXT: %[[RANDOM:.+]] = hybrid.random normal(0.000000e+00, 2.000000e-02) "embed" : tensor<16x4xf64>
// CHECK-NEXT: hybrid.assign "embed", %[[RANDOM]] : tensor<16x4xf64>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 1.000000e+00 : tensor<4xf64>
// CHECK-NEXT: hybrid.assign "norm.w", %[[CONSTANT]] : tensor<4xf64>
// CHECK-NEXT: %[[RANDOM1:.+]] = hybrid.random uniform(-5.000000e-01, 5.000000e-01) "head.w" : tensor<3x4xf64>
// CHECK-NEXT: hybrid.assign "head.w", %[[RANDOM1]] : tensor<3x4xf64>
// CHECK-NEXT: return
func.func @forward(%tokens: tensor<?x?xi32> {hybrid.dims = ["B", "L"], hybrid.name = "tokens"}) -> (tensor<?x?x3xf32> {hybrid.name = "logits"}) {
  %draw = hybrid.random normal(0.0, 0.02) "embed" : tensor<16x4xf32>
  %embed = hybrid.parameter "embed" initial(%draw : tensor<16x4xf32>) : tensor<16x4xf32>
  %x = hybrid.embedding %embed, %tokens : tensor<16x4xf32>, tensor<?x?xi32> -> tensor<?x?x4xf32>
  %one = hybrid.constant 1.0 : tensor<4xf32>
  %scale = hybrid.parameter "norm.w" initial(%one : tensor<4xf32>) {decay = false} : tensor<4xf32>
  %n = hybrid.rmsnorm %x, %scale : tensor<4xf32> : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
  %u = hybrid.random uniform(-0.5, 0.5) "head.w" : tensor<3x4xf32>
  %w = hybrid.parameter "head.w" initial(%u : tensor<3x4xf32>) : tensor<3x4xf32>
  %logits = hybrid.linear %n, %w : tensor<?x?x4xf32>, tensor<3x4xf32> -> tensor<?x?x3xf32>
  return %logits : tensor<?x?x3xf32>
}

// -----

// Names in shape attributes are bound too, and an iota over a free length gets its element type converted.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf64>
// CHECK-SAME: -> tensor<2x8x2x2xf64>
// CHECK-NEXT: %[[IOTA:.+]] = hybrid.iota [8] from 0.000000e+00 step 1.000000e+00 of f64 : tensor<8xf64>
// CHECK-NEXT: %[[RESHAPE:.+]] = hybrid.reshape %[[IOTA]] to [8, 1] : tensor<8xf64> -> tensor<8x1xf64>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[X]], %[[RESHAPE]] : tensor<2x8x4xf64>, tensor<8x1xf64>
// CHECK-NEXT: %[[RESHAPE1:.+]] = hybrid.reshape %[[MUL]] to [2, 8, 2, 2] : tensor<2x8x4xf64> -> tensor<2x8x2x2xf64>
// CHECK-NEXT: return %[[RESHAPE1]] : tensor<2x8x2x2xf64>
// CHECK-LABEL: func.func @init(
// CHECK-SAME: %[[SEED:[^:]+]]: tensor<2xi32> {hybrid.name = "seed"}
// CHECK-NEXT: return
func.func @forward(%x: tensor<?x?x4xf32> {hybrid.dims = ["B", "L", 4]}) -> tensor<?x?x2x2xf32> {
  %t = hybrid.iota ["L"] from 0.0 step 1.0 of f32 : tensor<?xf32>
  %c = hybrid.reshape %t to ["L", 1] : tensor<?xf32> -> tensor<?x1xf32>
  %y = hybrid.binary mul %x, %c : tensor<?x?x4xf32>, tensor<?x1xf32>
  %h = hybrid.reshape %y to ["B", "L", 2, 2] : tensor<?x?x4xf32> -> tensor<?x?x2x2xf32>
  return %h : tensor<?x?x2x2xf32>
}

// -----

// A value that two parameters start from is computed once; a parameter without an initial value is not drawn.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
// CHECK-NEXT: %[[RANDOM:.+]] = hybrid.random normal(0.000000e+00, 1.000000e+00) "a" : tensor<4xf64>
// CHECK-NEXT: %[[ABS:.+]] = hybrid.unary abs %[[RANDOM]] : tensor<4xf64>
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "a" : tensor<4xf64>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "b" : tensor<4xf64>
// CHECK-NEXT: %[[PARAMETER2:.+]] = hybrid.parameter "c" {trainable = false} : tensor<4xf64>
// CHECK-NEXT: return %[[PARAMETER]], %[[PARAMETER1]], %[[PARAMETER2]] : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
// CHECK-LABEL: func.func @init(
// CHECK-SAME: %[[SEED:[^:]+]]: tensor<2xi32> {hybrid.name = "seed"}
// CHECK-NEXT: %[[RANDOM:.+]] = hybrid.random normal(0.000000e+00, 1.000000e+00) "a" : tensor<4xf64>
// CHECK-NEXT: hybrid.assign "a", %[[RANDOM]] : tensor<4xf64>
// CHECK-NEXT: %[[ABS:.+]] = hybrid.unary abs %[[RANDOM]] : tensor<4xf64>
// CHECK-NEXT: hybrid.assign "b", %[[ABS]] : tensor<4xf64>
// CHECK-NEXT: return
func.func @forward() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = hybrid.random normal(0.0, 1.0) "a" : tensor<4xf32>
  %1 = hybrid.unary abs %0 : tensor<4xf32>
  %a = hybrid.parameter "a" initial(%0 : tensor<4xf32>) : tensor<4xf32>
  %b = hybrid.parameter "b" initial(%1 : tensor<4xf32>) : tensor<4xf32>
  %c = hybrid.parameter "c" {trainable = false} : tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// What counts from the end of the length counts from its start then, and sizes may be those of the length and a number.
// CHECK-LABEL: func.func @forward(
// CHECK-NEXT: %[[LAST:.+]] = hybrid.slice %{{.+}} from [0, 6] size [2, 2] : tensor<2x8xf64> -> tensor<2x2xf64>
// CHECK-NEXT: %[[LATER:.+]] = hybrid.slice %{{.+}} from [0, 1] size [2, 7] : tensor<2x8xf64> -> tensor<2x7xf64>
func.func @forward(%x: tensor<?x?xf32> {hybrid.dims = ["B", "L"]}) -> (tensor<?x2xf32>, tensor<?x?xf32>) {
  %0 = hybrid.slice %x from [0, -2] size ["B", 2] : tensor<?x?xf32> -> tensor<?x2xf32>
  %1 = hybrid.slice %x from [0, 1] size ["B", "L - 1"] : tensor<?x?xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<?x2xf32>, tensor<?x?xf32>
}
