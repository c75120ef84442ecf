// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// Odd and even numbers of points, and lengths known and free.

// CHECK-LABEL: func.func @transforms
// CHECK: %[[RE:.+]], %[[IM:.+]] = hybrid.rfft %{{.+}} : tensor<9x4xf32> -> tensor<5x4xf32>, tensor<5x4xf32>
// CHECK: hybrid.irfft %[[RE]], %[[IM]] to 9 {weighted} : tensor<5x4xf32>, tensor<5x4xf32> -> tensor<9x4xf32>
// CHECK: hybrid.irfft %[[RE]], %[[IM]] to 8 : tensor<5x4xf32>, tensor<5x4xf32> -> tensor<8x4xf32>
func.func @transforms(%x: tensor<9x4xf32>) {
  %re, %im = hybrid.rfft %x : tensor<9x4xf32> -> tensor<5x4xf32>, tensor<5x4xf32>
  %y = hybrid.irfft %re, %im to 9 {weighted} : tensor<5x4xf32>, tensor<5x4xf32> -> tensor<9x4xf32>
  %z = hybrid.irfft %re, %im to 8 : tensor<5x4xf32>, tensor<5x4xf32> -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @filters
// CHECK: hybrid.modal_filter %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} to [64] : tensor<4x8xf32> -> tensor<64x8xf32>
// CHECK: %[[H:.+]] = hybrid.modal_filter %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} to ["L"] : tensor<4x8xf32> -> tensor<?x8xf32>
// CHECK: hybrid.modal_filter_grad %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<?x8xf32>
func.func @filters(%a: tensor<4x8xf32>) {
  %h = hybrid.modal_filter %a, %a, %a, %a to [64] : tensor<4x8xf32> -> tensor<64x8xf32>
  %f = hybrid.modal_filter %a, %a, %a, %a to ["L"] : tensor<4x8xf32> -> tensor<?x8xf32>
  %d:4 = hybrid.modal_filter_grad %a, %a, %a, %a, %f : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<?x8xf32>
  return
}
