// RUN: hybrid-opt %s --split-input-file --hybrid-specialize='batch=2 length=8 precision=f64' | FileCheck %s

// Functions with hybrid.optimizer become @update: the norm of all gradients, then a region for the stretch of parameters that are treated alike, one for
// that which learns slowly, and one for a matrix with a program of its own, behind its product. The parameter without a program is AdamW's; one that
// the model does not use is gone.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[HYPER:[^:]+]]: tensor<8xf64> {hybrid.name = "hyper"}, %[[RATE:[^:]+]]: tensor<f64> {hybrid.name = "learning_rate"}, %{{[^:]+}}: tensor<f64> {hybrid.name = "weight_decay"}, %{{[^:]+}}: tensor<f64> {hybrid.name = "step"}, %[[CLIP:[^:]+]]: tensor<f64> {hybrid.name = "clip_norm"}
// CHECK: %[[NORM:.+]] = hybrid.adamw %[[HYPER]] parameters ["a", "b", "slow", "matrix", "other"] {hybrid.programmed = ["a", "b", "slow", "matrix"]}
// CHECK: hybrid.binary div %[[CLIP]]
// 3 elements of the first, 5 to the next multiple of 64 bytes, 4 of the second.
// CHECK: %[[P:.+]] = hybrid.parameter "a ... b" {hybrid.parameters = ["a", "b"]} : tensor<12xf64>
// CHECK: %[[G:.+]] = hybrid.parameter "a ... b" {hybrid.parameters = ["a", "b"], hybrid.slot = "gradients"} : tensor<12xf64>
// CHECK: %[[NEXT:.+]] = hybrid.fused(%[[P]], {{.*}}%[[NORM]]) {hybrid.if_finite = {{[0-9]+}} : i64}
// CHECK: hybrid.assign "a ... b", %[[NEXT]] {hybrid.parameters = ["a", "b"]} : tensor<12xf64>
// CHECK: %[[SCALE:.+]] = hybrid.constant 5.000000e-01
// CHECK: %[[SLOW:.+]] = hybrid.binary mul %[[RATE]], %[[SCALE]]
// CHECK: hybrid.assign "slow ... slow", %{{.+}} {hybrid.parameters = ["slow"]} : tensor<4xf64>
// CHECK: hybrid.parameter "matrix" {hybrid.slot = "moment1"} : tensor<2x2xf64>
// CHECK: %[[PRODUCT:.+]] = hybrid.matmul
// CHECK: %[[BOTH:.+]]:2 = hybrid.fused({{.*}}%[[PRODUCT]]
// CHECK: hybrid.assign "matrix", %[[BOTH]]#0 : tensor<2x2xf64>
// CHECK: hybrid.assign "matrix", %[[BOTH]]#1 {hybrid.slot = "moment1"} : tensor<2x2xf64>
// CHECK: return %[[NORM]]
// CHECK-NOT: hybrid.optimizer
func.func @forward(%x: tensor<?x4xf32> {hybrid.dims = ["B", 4], hybrid.name = "x"}) -> (tensor<?x4xf32> {hybrid.name = "y"}) {
  %c3 = hybrid.constant 1.0 : tensor<3xf32>
  %c4 = hybrid.constant 1.0 : tensor<4xf32>
  %c22 = hybrid.constant 1.0 : tensor<2x2xf32>
  %a = hybrid.parameter "a" initial(%c3 : tensor<3xf32>) : tensor<3xf32>
  %b = hybrid.parameter "b" initial(%c4 : tensor<4xf32>) : tensor<4xf32>
  %slow = hybrid.parameter "slow" initial(%c4 : tensor<4xf32>) {lr_scale = 0.5} : tensor<4xf32>
  %matrix = hybrid.parameter "matrix" initial(%c22 : tensor<2x2xf32>) : tensor<2x2xf32>
  %other = hybrid.parameter "other" initial(%c4 : tensor<4xf32>) : tensor<4xf32>
  %unused = hybrid.parameter "unused" initial(%c4 : tensor<4xf32>) : tensor<4xf32>
  %sum = hybrid.reduce sum %a over [0] : tensor<3xf32> -> tensor<f32>
  %sum2 = hybrid.reduce sum %matrix over [0, 1] : tensor<2x2xf32> -> tensor<f32>
  %0 = hybrid.binary mul %x, %sum : tensor<?x4xf32>, tensor<f32>
  %1 = hybrid.binary mul %0, %sum2 : tensor<?x4xf32>, tensor<f32>
  %2 = hybrid.binary mul %1, %b : tensor<?x4xf32>, tensor<4xf32>
  %3 = hybrid.binary mul %2, %slow : tensor<?x4xf32>, tensor<4xf32>
  %4 = hybrid.binary mul %3, %other : tensor<?x4xf32>, tensor<4xf32>
  return %4 : tensor<?x4xf32>
}
func.func @optimizer.0(%p: tensor<?xf32> {hybrid.dims = ["B"]}, %g: tensor<?xf32> {hybrid.dims = ["B"]}, %lr: tensor<f32> {hybrid.dims = []}, %decay: tensor<f32> {hybrid.dims = []}, %step: tensor<f32> {hybrid.dims = []}) -> tensor<?xf32> attributes {hybrid.any_shape, hybrid.optimizer = "descent", hybrid.parameters = ["a", "b", "unused", "slow"]} {
  %0 = hybrid.binary mul %lr, %g : tensor<f32>, tensor<?xf32>
  %1 = hybrid.binary sub %p, %0 : tensor<?xf32>, tensor<?xf32>
  return %1 : tensor<?xf32>
}
func.func @optimizer.1(%p: tensor<2x2xf32> {hybrid.dims = [2, 2]}, %g: tensor<2x2xf32> {hybrid.dims = [2, 2]}, %m: tensor<2x2xf32> {hybrid.dims = [2, 2]}, %lr: tensor<f32> {hybrid.dims = []}, %decay: tensor<f32> {hybrid.dims = []}, %step: tensor<f32> {hybrid.dims = []}) -> (tensor<2x2xf32>, tensor<2x2xf32>) attributes {hybrid.optimizer = "product", hybrid.parameters = ["matrix"]} {
  %0 = hybrid.matmul %m, %g : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %1 = hybrid.binary sub %p, %0 : tensor<2x2xf32>, tensor<2x2xf32>
  %2 = hybrid.binary add %m, %g : tensor<2x2xf32>, tensor<2x2xf32>
  return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
}
