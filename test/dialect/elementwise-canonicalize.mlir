// RUN: hybrid-opt %s --canonicalize | FileCheck %s

// Two negations cancel.
// CHECK-LABEL: func.func @neg_neg(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<4xf32>
// CHECK-NEXT: return %[[X]] : tensor<4xf32>
func.func @neg_neg(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hybrid.unary neg %x : tensor<4xf32>
  %1 = hybrid.unary neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// One negation stays.
// CHECK-LABEL: func.func @neg(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<4xf32>
// CHECK-NEXT: %[[NEG:.+]] = hybrid.unary neg %[[X]] : tensor<4xf32>
// CHECK-NEXT: return %[[NEG]] : tensor<4xf32>
func.func @neg(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hybrid.unary neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Neutral elements on the right disappear.
// CHECK-LABEL: func.func @neutral_right(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<4xf32>
// CHECK-NEXT: return %[[X]] : tensor<4xf32>
func.func @neutral_right(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = hybrid.constant 0.0 : tensor<f32>
  %one = hybrid.constant 1.0 : tensor<4xf32>
  %0 = hybrid.binary add %x, %zero : tensor<4xf32>, tensor<f32>
  %1 = hybrid.binary sub %0, %zero : tensor<4xf32>, tensor<f32>
  %2 = hybrid.binary mul %1, %one : tensor<4xf32>, tensor<4xf32>
  %3 = hybrid.binary div %2, %one : tensor<4xf32>, tensor<4xf32>
  return %3 : tensor<4xf32>
}

// On the left only where the operation commutes: 1 / x and 0 - x are not x.
// CHECK-LABEL: func.func @neutral_left(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<4xf32>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 0.000000e+00 : tensor<f32>
// CHECK-NEXT: %[[CONSTANT1:.+]] = hybrid.constant 1.000000e+00 : tensor<f32>
// CHECK-NEXT: %[[SUB:.+]] = hybrid.binary sub %[[CONSTANT]], %[[X]] : tensor<f32>, tensor<4xf32>
// CHECK-NEXT: %[[DIV:.+]] = hybrid.binary div %[[CONSTANT1]], %[[SUB]] : tensor<f32>, tensor<4xf32>
// CHECK-NEXT: return %[[DIV]] : tensor<4xf32>
func.func @neutral_left(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = hybrid.constant 0.0 : tensor<f32>
  %one = hybrid.constant 1.0 : tensor<f32>
  %0 = hybrid.binary add %zero, %x : tensor<f32>, tensor<4xf32>
  %1 = hybrid.binary mul %one, %0 : tensor<f32>, tensor<4xf32>
  %2 = hybrid.binary sub %zero, %1 : tensor<f32>, tensor<4xf32>
  %3 = hybrid.binary div %one, %2 : tensor<f32>, tensor<4xf32>
  return %3 : tensor<4xf32>
}

// Kept: the neutral element also repeats x to a larger shape.
// CHECK-LABEL: func.func @neutral_broadcast(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<2x4xf32>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 1.000000e+00 : tensor<2x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[X]], %[[CONSTANT]] : tensor<4xf32>, tensor<2x4xf32>
// CHECK-NEXT: return %[[MUL]] : tensor<2x4xf32>
func.func @neutral_broadcast(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  %one = hybrid.constant 1.0 : tensor<2x4xf32>
  %0 = hybrid.binary mul %x, %one : tensor<4xf32>, tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Kept: the maximum has no neutral element here.
// CHECK-LABEL: func.func @max(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<4xf32>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 0.000000e+00 : tensor<f32>
// CHECK-NEXT: %[[MAX:.+]] = hybrid.binary max %[[X]], %[[CONSTANT]] : tensor<4xf32>, tensor<f32>
// CHECK-NEXT: return %[[MAX]] : tensor<4xf32>
func.func @max(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = hybrid.constant 0.0 : tensor<f32>
  %0 = hybrid.binary max %x, %zero : tensor<4xf32>, tensor<f32>
  return %0 : tensor<4xf32>
}

// What was widened is rounded to what it was; what was rounded is not what it had been.
// CHECK-LABEL: func.func @round_widen(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xbf16>
// CHECK-SAME: %[[Y:[^:]+]]: tensor<4xf32>
// CHECK-NEXT: %[[ROUND:.+]] = hybrid.round %[[Y]]
// CHECK-NEXT: %[[WIDE:.+]] = hybrid.widen %[[ROUND]]
// CHECK-NEXT: return %[[X]], %[[WIDE]]
func.func @round_widen(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %0 = hybrid.widen %x : tensor<4xbf16> -> tensor<4xf32>
  %1 = hybrid.round %0 : tensor<4xf32> -> tensor<4xbf16>
  %2 = hybrid.round %y : tensor<4xf32> -> tensor<4xbf16>
  %3 = hybrid.widen %2 : tensor<4xbf16> -> tensor<4xf32>
  return %1, %3 : tensor<4xbf16>, tensor<4xf32>
}
