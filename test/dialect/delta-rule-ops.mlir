// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// Every optional operand, and every shape of the decay.
// CHECK-LABEL: func.func @delta_rule(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[K:[^:]+]]: tensor<2x8x8xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x6xf32>
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x2xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x2x2x3xf32>
// CHECK-NEXT: %[[O:.+]] = hybrid.delta_rule %[[Q]], %[[Q]], %[[V]], %[[Q]] heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
// CHECK-NEXT: %[[O1:.+]] = hybrid.delta_rule %[[Q]], %[[Q]], %[[O]], %[[Q]] heads 2 b(%[[Q]] : tensor<2x8x4xf32>) decay(%[[Q]] : tensor<2x8x4xf32>) segments(%[[IDS]] : tensor<2x8xi32>) {scale = 5.000000e-01 : f64} :
// CHECK-NEXT: %[[O2:.+]] = hybrid.delta_rule %[[Q]], %[[K]], %[[O1]], %[[K]] heads 1 {steps = 2 : i64} : tensor<2x8x4xf32>, tensor<2x8x8xf32>, tensor<2x8x6xf32>, tensor<2x8x8xf32> -> tensor<2x8x3xf32>
// CHECK-NEXT: %[[O3:.+]], %[[F:.+]] = hybrid.delta_rule %[[Q]], %[[Q]], %[[O]], %[[Q]] heads 2 decay(%[[G]] : tensor<2x8x2xf32>) initial_state(%[[STATE]] : tensor<2x2x2x3xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
// CHECK-NEXT: return %[[O2]], %[[O3]], %[[F]] : tensor<2x8x3xf32>, tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
func.func @delta_rule(%q: tensor<2x8x4xf32>, %k: tensor<2x8x8xf32>, %v: tensor<2x8x6xf32>, %g: tensor<2x8x2xf32>, %ids: tensor<2x8xi32>, %s: tensor<2x2x2x3xf32>) -> (tensor<2x8x3xf32>, tensor<2x8x6xf32>, tensor<2x2x2x3xf32>) {
  %0 = hybrid.delta_rule %q, %q, %v, %q heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  %1 = hybrid.delta_rule %q, %q, %0, %q heads 2 b(%q : tensor<2x8x4xf32>) decay(%q : tensor<2x8x4xf32>) segments(%ids : tensor<2x8xi32>) {scale = 0.5} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  %2 = hybrid.delta_rule %q, %k, %1, %k heads 1 {steps = 2} : tensor<2x8x4xf32>, tensor<2x8x8xf32>, tensor<2x8x6xf32>, tensor<2x8x8xf32> -> tensor<2x8x3xf32>
  %3, %f = hybrid.delta_rule %q, %q, %0, %q heads 2 decay(%g : tensor<2x8x2xf32>) initial_state(%s : tensor<2x2x2x3xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
  return %2, %3, %f : tensor<2x8x3xf32>, tensor<2x8x6xf32>, tensor<2x2x2x3xf32>
}

// Its gradient: a result more for b, for a decay, and for an initial state.
// CHECK-LABEL: func.func @delta_rule_grad(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x6xf32>
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x2xf32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x2x2x3xf32>
// CHECK-NEXT: %[[DQ:.+]], %{{.+}}, %{{.+}}, %{{.+}} = hybrid.delta_rule_grad %[[Q]], %[[Q]], %[[V]], %[[Q]], %[[V]] heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[REST:.+]]:3 = hybrid.delta_rule_grad %[[Q]], %[[Q]], %[[V]], %[[Q]], %[[V]] heads 2 b(%[[Q]] : tensor<2x8x4xf32>) decay(%[[G]] : tensor<2x8x2xf32>) initial_state(%[[STATE]] : tensor<2x2x2x3xf32>) state_cotangent(%[[STATE]] : tensor<2x2x2x3xf32>) {scale = 5.000000e-01 : f64} :
// CHECK-NEXT: return %[[DQ]], %[[REST]]#0, %[[REST]]#1, %[[REST]]#2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x2x2x3xf32>
func.func @delta_rule_grad(%q: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %g: tensor<2x8x2xf32>, %s: tensor<2x2x2x3xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x2x2x3xf32>) {
  %0:4 = hybrid.delta_rule_grad %q, %q, %v, %q, %v heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  %1:7 = hybrid.delta_rule_grad %q, %q, %v, %q, %v heads 2 b(%q : tensor<2x8x4xf32>) decay(%g : tensor<2x8x2xf32>) initial_state(%s : tensor<2x2x2x3xf32>) state_cotangent(%s : tensor<2x2x2x3xf32>) {scale = 0.5} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x2x2x3xf32>
  return %0#0, %1#4, %1#5, %1#6 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x2x2x3xf32>
}
