// RUN: hybrid-opt %s --hybrid-specialize="batch=2 length=8" 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING < %t.err
// A parameter that no output depends on is left out, with a word to its author; what it was computed with goes too.

// WARNING: warning: parameter 'spare' does not reach any output: it is left out
// WARNING-NOT: 'weight'

// CHECK-LABEL: func.func @forward
// CHECK: hybrid.parameter "weight"
// CHECK-NOT: spare
// CHECK-LABEL: func.func @init
// CHECK: hybrid.assign "weight"
// CHECK-NOT: spare
func.func @forward(%x: tensor<?x4xf32> {hybrid.name = "x", hybrid.dims = ["B", 4]}) -> (tensor<?x4xf32> {hybrid.name = "y"}) {
  %one = hybrid.constant 1.0 : tensor<4xf32>
  %w = hybrid.parameter "weight" initial(%one : tensor<4xf32>) : tensor<4xf32>
  %u = hybrid.parameter "spare" initial(%one : tensor<4xf32>) : tensor<4xf32>
  %dead = hybrid.binary mul %x, %u : tensor<?x4xf32>, tensor<4xf32>
  %y = hybrid.binary mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
  return %y : tensor<?x4xf32>
}
