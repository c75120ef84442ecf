// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// A projection with and without bias, while batch and length are free.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<16x4xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<16xf32>
// CHECK-SAME: -> (tensor<?x?x16xf32>, tensor<?x?x16xf32>)
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[X]], %[[W]] : tensor<?x?x4xf32>, tensor<16x4xf32> -> tensor<?x?x16xf32>
// CHECK-NEXT: %[[LINEAR1:.+]] = hybrid.linear %[[X]], %[[W]] bias(%[[B]] : tensor<16xf32>) : tensor<?x?x4xf32>, tensor<16x4xf32> -> tensor<?x?x16xf32>
// CHECK-NEXT: return %[[LINEAR]], %[[LINEAR1]] : tensor<?x?x16xf32>, tensor<?x?x16xf32>
func.func @linear(%x: tensor<?x?x4xf32>, %w: tensor<16x4xf32>, %b: tensor<16xf32>) -> (tensor<?x?x16xf32>, tensor<?x?x16xf32>) {
  %0 = hybrid.linear %x, %w : tensor<?x?x4xf32>, tensor<16x4xf32> -> tensor<?x?x16xf32>
  %1 = hybrid.linear %x, %w bias(%b : tensor<16xf32>) : tensor<?x?x4xf32>, tensor<16x4xf32> -> tensor<?x?x16xf32>
  return %0, %1 : tensor<?x?x16xf32>, tensor<?x?x16xf32>
}

// The three products that a projection and its gradient need.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<4x16xf32>
// CHECK-SAME: %[[C:[^:]+]]: tensor<16x4xf32>
// CHECK-SAME: -> tensor<16x4xf32>
// CHECK-NEXT: %[[MATMUL:.+]] = hybrid.matmul %[[A]], %[[B]] : tensor<2x8x4xf32>, tensor<4x16xf32> -> tensor<2x8x16xf32>
// CHECK-NEXT: %[[MATMUL1:.+]] = hybrid.matmul %[[A]], %[[C]] {transpose_b} : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
// CHECK-NEXT: %[[MATMUL2:.+]] = hybrid.matmul %[[MATMUL1]], %[[A]] {transpose_a} : tensor<2x8x16xf32>, tensor<2x8x4xf32> -> tensor<16x4xf32>
// CHECK-NEXT: return %[[MATMUL2]] : tensor<16x4xf32>
func.func @matmul(%a: tensor<2x8x4xf32>, %b: tensor<4x16xf32>, %c: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %0 = hybrid.matmul %a, %b : tensor<2x8x4xf32>, tensor<4x16xf32> -> tensor<2x8x16xf32>
  %1 = hybrid.matmul %a, %c {transpose_b} : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
  %2 = hybrid.matmul %1, %a {transpose_a} : tensor<2x8x16xf32>, tensor<2x8x4xf32> -> tensor<16x4xf32>
  return %2 : tensor<16x4xf32>
}

// A product for each matrix, with rows of any dimensions.
// CHECK-LABEL: func.func @products(
// CHECK: hybrid.matmul %{{.+}}, %{{.+}} : tensor<?x8x3x4xf32>, tensor<?x4x5xf32> -> tensor<?x8x3x5xf32>
// CHECK: hybrid.matmul %{{.+}}, %{{.+}} {transpose_b} : tensor<?x8x3x5xf32>, tensor<?x8x7x5xf32> -> tensor<?x8x3x7xf32>
func.func @products(%a: tensor<?x8x3x4xf32>, %b: tensor<?x4x5xf32>, %c: tensor<?x8x7x5xf32>) -> tensor<?x8x3x7xf32> {
  %0 = hybrid.matmul %a, %b : tensor<?x8x3x4xf32>, tensor<?x4x5xf32> -> tensor<?x8x3x5xf32>
  %1 = hybrid.matmul %0, %c {transpose_b} : tensor<?x8x3x5xf32>, tensor<?x8x7x5xf32> -> tensor<?x8x3x7xf32>
  return %1 : tensor<?x8x3x7xf32>
}

// Epsilon is printed only when it is not 1e-5.
// CHECK-LABEL: func.func @rmsnorm(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[RMSNORM:.+]] = hybrid.rmsnorm %[[X]] : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[RMSNORM1:.+]] = hybrid.rmsnorm %[[RMSNORM]], %[[W]] : tensor<4xf32> {epsilon = 9.9999999999999995E-7 : f64, epsilon_outside} : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[RMSNORM_GRAD:.+]], %[[RMSNORM_GRAD1:.+]] = hybrid.rmsnorm_grad %[[X]] weight(%[[W]] : tensor<4xf32>), %[[RMSNORM1]] {epsilon = 9.9999999999999995E-7 : f64, epsilon_outside} : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
// CHECK-NEXT: return %[[RMSNORM_GRAD]] : tensor<2x8x4xf32>
func.func @rmsnorm(%x: tensor<2x8x4xf32>, %w: tensor<4xf32>) -> tensor<2x8x4xf32> {
  %0 = hybrid.rmsnorm %x {epsilon = 1.0e-5 : f64} : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  %1 = hybrid.rmsnorm %0, %w : tensor<4xf32> {epsilon = 1.0e-6 : f64, epsilon_outside} : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  %dx, %dw = hybrid.rmsnorm_grad %x weight(%w : tensor<4xf32>), %1 {epsilon = 1.0e-6 : f64, epsilon_outside} : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
  return %dx : tensor<2x8x4xf32>
}

// Weight and bias are optional, each alone.
// CHECK-LABEL: func.func @layernorm(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[LAYERNORM:.+]] = hybrid.layernorm %[[X]] : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[LAYERNORM1:.+]] = hybrid.layernorm %[[LAYERNORM]] weight(%[[W]] : tensor<4xf32>) : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[LAYERNORM2:.+]] = hybrid.layernorm %[[LAYERNORM1]] bias(%[[B]] : tensor<4xf32>) : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[LAYERNORM3:.+]] = hybrid.layernorm %[[LAYERNORM2]] weight(%[[W]] : tensor<4xf32>) bias(%[[B]] : tensor<4xf32>) {epsilon = 9.9999999999999995E-7 : f64} : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[LAYERNORM_GRAD:.+]], %[[LAYERNORM_GRAD1:.+]], %[[LAYERNORM_GRAD2:.+]] = hybrid.layernorm_grad %[[X]], %[[LAYERNORM3]] {epsilon = 1.000000e-05 : f64} : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: return %[[LAYERNORM_GRAD]] : tensor<2x8x4xf32>
func.func @layernorm(%x: tensor<2x8x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x8x4xf32> {
  %0 = hybrid.layernorm %x : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  %1 = hybrid.layernorm %0 weight(%w : tensor<4xf32>) : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  %2 = hybrid.layernorm %1 bias(%b : tensor<4xf32>) : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  %3 = hybrid.layernorm %2 weight(%w : tensor<4xf32>) bias(%b : tensor<4xf32>) {epsilon = 1.0e-6 : f64} : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  %dx, %dw, %db = hybrid.layernorm_grad %x, %3 {epsilon = 1.0e-5 : f64} : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>, tensor<4xf32>
  return %dx : tensor<2x8x4xf32>
}

// Products of bf16 values have f32 sums, and so has the bias.
// CHECK-LABEL: func.func @rounded_products(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x4xbf16>
// CHECK-SAME: %[[W:[^:]+]]: tensor<16x4xbf16>
// CHECK-SAME: %[[B:[^:]+]]: tensor<16xf32>
// CHECK-NEXT: hybrid.linear %[[X]], %[[W]] bias(%[[B]] : tensor<16xf32>) : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
// CHECK-NEXT: hybrid.matmul %[[X]], %[[W]] {transpose_b} : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
func.func @rounded_products(%x: tensor<8x4xbf16>, %w: tensor<16x4xbf16>, %b: tensor<16xf32>) -> tensor<8x16xf32> {
  %0 = hybrid.linear %x, %w bias(%b : tensor<16xf32>) : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
  %1 = hybrid.matmul %x, %w {transpose_b} : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
