// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// Every optional operand, and every shape of the decay.
// CHECK-LABEL: func.func @linear_scan(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x6xf32>
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x2xf32>
// CHECK-SAME: %[[C:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<2xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x2x2x3xf32>
// CHECK-NEXT: %[[O:.+]] = hybrid.linear_scan %[[Q]], %[[Q]], %[[V]] heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
// CHECK-NEXT: %[[O1:.+]] = hybrid.linear_scan %[[Q]], %[[Q]], %[[O]] heads 2 decay(%[[Q]] : tensor<2x8x4xf32>) segments(%[[IDS]] : tensor<2x8xi32>) {exclusive, scale = 5.000000e-01 : f64} :
// CHECK-NEXT: %[[O2:.+]] = hybrid.linear_scan %[[Q]], %[[Q]], %[[O1]] heads 2 decay(%[[G]] : tensor<2x8x2xf32>) :
// CHECK-NEXT: %[[O3:.+]] = hybrid.linear_scan %[[Q]], %[[Q]], %[[O2]] heads 2 decay(%[[C]] : tensor<4xf32>) :
// CHECK-NEXT: %[[O4:.+]], %[[F:.+]] = hybrid.linear_scan %[[Q]], %[[Q]], %[[O3]] heads 2 decay(%[[H]] : tensor<2xf32>) initial_state(%[[STATE]] : tensor<2x2x2x3xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
// CHECK-NEXT: return %[[O4]], %[[F]] : tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
func.func @linear_scan(%q: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %g: tensor<2x8x2xf32>, %c: tensor<4xf32>, %h: tensor<2xf32>, %ids: tensor<2x8xi32>, %s: tensor<2x2x2x3xf32>) -> (tensor<2x8x6xf32>, tensor<2x2x2x3xf32>) {
  %0 = hybrid.linear_scan %q, %q, %v heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  %1 = hybrid.linear_scan %q, %q, %0 heads 2 decay(%q : tensor<2x8x4xf32>) segments(%ids : tensor<2x8xi32>) {exclusive, scale = 0.5} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  %2 = hybrid.linear_scan %q, %q, %1 heads 2 decay(%g : tensor<2x8x2xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  %3 = hybrid.linear_scan %q, %q, %2 heads 2 decay(%c : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  %4, %f = hybrid.linear_scan %q, %q, %3 heads 2 decay(%h : tensor<2xf32>) initial_state(%s : tensor<2x2x2x3xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
  return %4, %f : tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
}

// Its gradient: a result more for a decay, and one for an initial state.
// CHECK-LABEL: func.func @linear_scan_grad(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x6xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<2xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x2x2x3xf32>
// CHECK-NEXT: %{{.+}}, %{{.+}}, %{{.+}} = hybrid.linear_scan_grad %[[Q]], %[[Q]], %[[V]], %[[V]] heads 2 segments(%[[IDS]] : tensor<2x8xi32>) {exclusive} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>
// CHECK-NEXT: %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]], %[[REST:.+]]:2 = hybrid.linear_scan_grad %[[Q]], %[[Q]], %[[V]], %[[V]] heads 2 decay(%[[H]] : tensor<2xf32>) initial_state(%[[STATE]] : tensor<2x2x2x3xf32>) state_cotangent(%[[STATE]] : tensor<2x2x2x3xf32>) {scale = 5.000000e-01 : f64} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2xf32>, tensor<2x2x2x3xf32>
// CHECK-NEXT: return %[[REST]]#0, %[[REST]]#1 : tensor<2xf32>, tensor<2x2x2x3xf32>
func.func @linear_scan_grad(%q: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %h: tensor<2xf32>, %ids: tensor<2x8xi32>, %s: tensor<2x2x2x3xf32>) -> (tensor<2xf32>, tensor<2x2x2x3xf32>) {
  %0:3 = hybrid.linear_scan_grad %q, %q, %v, %v heads 2 segments(%ids : tensor<2x8xi32>) {exclusive} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>
  %1:5 = hybrid.linear_scan_grad %q, %q, %v, %v heads 2 decay(%h : tensor<2xf32>) initial_state(%s : tensor<2x2x2x3xf32>) state_cotangent(%s : tensor<2x2x2x3xf32>) {scale = 0.5} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2xf32>, tensor<2x2x2x3xf32>
  return %1#3, %1#4 : tensor<2xf32>, tensor<2x2x2x3xf32>
}
