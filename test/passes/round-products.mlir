// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-round-products))' | FileCheck %s
// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-round-products,hybrid-fuse-elementwise))' | FileCheck %s --check-prefix=FUSED
// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-round-products{most-rows=4}))' | FileCheck %s --check-prefix=FEW

// Each value is rounded once, behind its definition, whatever multiplies it; the bias and what is not multiplied stay f32.
// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<16x4xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<16xf32>
// CHECK-DAG: %[[RX:.+]] = hybrid.round %[[X]] : tensor<8x4xf32> -> tensor<8x4xbf16>
// CHECK-DAG: %[[RW:.+]] = hybrid.round %[[W]] : tensor<16x4xf32> -> tensor<16x4xbf16>
// CHECK: %[[Y:.+]] = hybrid.linear %[[RX]], %[[RW]] bias(%[[B]] : tensor<16xf32>) : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
// CHECK-NEXT: %[[S:.+]] = hybrid.unary silu %[[Y]] : tensor<8x16xf32>
// CHECK-NEXT: %[[RS:.+]] = hybrid.round %[[S]]
// CHECK-NEXT: %[[D:.+]] = hybrid.matmul %[[RS]], %[[RW]] : tensor<8x16xbf16>, tensor<16x4xbf16> -> tensor<8x4xf32>
// CHECK-NEXT: hybrid.matmul %[[RS]], %[[RX]] {transpose_a} : tensor<8x16xbf16>, tensor<8x4xbf16> -> tensor<16x4xf32>

// The rounding joins the kernel that makes the value: nothing else writes it, and the f32 value never reaches memory.
// FUSED-LABEL: func.func @train(
// FUSED: hybrid.fused(%{{.+}}) : (tensor<8x16xf32>) -> tensor<8x16xbf16> {
// FUSED: hybrid.unary silu
// FUSED-NEXT: hybrid.round
// FUSED-NEXT: hybrid.yield
func.func @train(%x: tensor<8x4xf32>, %w: tensor<16x4xf32>, %b: tensor<16xf32>) -> (tensor<8x4xf32>, tensor<16x4xf32>) {
  %y = hybrid.linear %x, %w bias(%b : tensor<16xf32>) : tensor<8x4xf32>, tensor<16x4xf32> -> tensor<8x16xf32>
  %s = hybrid.unary silu %y : tensor<8x16xf32>
  %d = hybrid.matmul %s, %w : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  %g = hybrid.matmul %s, %x {transpose_a} : tensor<8x16xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
  return %d, %g : tensor<8x4xf32>, tensor<16x4xf32>
}

// f64 has no narrower form to be rounded to, and initial values are drawn in f32.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT: hybrid.round
// CHECK-LABEL: func.func @init(
// CHECK-NOT: hybrid.round
func.func @wide(%x: tensor<8x4xf64>, %w: tensor<16x4xf64>) -> tensor<8x16xf64> {
  %y = hybrid.linear %x, %w : tensor<8x4xf64>, tensor<16x4xf64> -> tensor<8x16xf64>
  return %y : tensor<8x16xf64>
}
func.func @init(%x: tensor<8x4xf32>, %w: tensor<16x4xf32>) -> tensor<8x16xf32> {
  %y = hybrid.linear %x, %w : tensor<8x4xf32>, tensor<16x4xf32> -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// What no input reaches is a filter's: its products and those of its gradient stay f32.
// CHECK-LABEL: func.func @filter(
// CHECK: %[[H:.+]] = hybrid.linear %{{.+}}, %{{.+}} : tensor<8x4xf32>, tensor<16x4xf32> -> tensor<8x16xf32>
// CHECK: hybrid.round
// CHECK: hybrid.linear %{{.+}}, %{{.+}} : tensor<8x16xbf16>, tensor<16x16xbf16> -> tensor<8x16xf32>
// CHECK: hybrid.matmul %{{.+}}, %{{.+}} : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
func.func @filter(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  %z = hybrid.parameter "z" : tensor<8x4xf32>
  %w = hybrid.parameter "w" : tensor<16x4xf32>
  %v = hybrid.parameter "v" : tensor<16x16xf32>
  %h = hybrid.linear %z, %w : tensor<8x4xf32>, tensor<16x4xf32> -> tensor<8x16xf32>
  %gated = hybrid.binary mul %x, %h : tensor<8x16xf32>, tensor<8x16xf32>
  %y = hybrid.linear %gated, %v : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
  %dz = hybrid.matmul %gated, %w : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  return %y, %dz : tensor<8x16xf32>, tensor<8x4xf32>
}

// With few rows it is the reading of the weights that takes the time; a product of activations has none.
// CHECK-LABEL: func.func @step(
// FEW-LABEL: func.func @train(
// FEW-NOT: hybrid.round
// FEW-LABEL: func.func @step(
// FEW: hybrid.linear %{{.+}}, %{{.+}} : tensor<4x8xbf16>, tensor<16x8xbf16> -> tensor<4x16xf32>
// FEW: hybrid.linear %{{.+}}, %{{.+}} : tensor<5x8xf32>, tensor<16x8xf32> -> tensor<5x16xf32>
// FEW: hybrid.matmul %{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
func.func @step(%x: tensor<4x8xf32>, %y: tensor<5x8xf32>, %z: tensor<8x4xf32>) -> (tensor<4x16xf32>, tensor<5x16xf32>, tensor<4x4xf32>) {
  %w = hybrid.parameter "w" : tensor<16x8xf32>
  %a = hybrid.linear %x, %w : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  %b = hybrid.linear %y, %w : tensor<5x8xf32>, tensor<16x8xf32> -> tensor<5x16xf32>
  %c = hybrid.matmul %x, %z : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  return %a, %b, %c : tensor<4x16xf32>, tensor<5x16xf32>, tensor<4x4xf32>
}
