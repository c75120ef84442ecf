// RUN: hybrid-opt %s --hybrid-graph-pipeline --mlir-disable-threading --mlir-print-ir-after-all 2>&1 >/dev/null | FileCheck %s --check-prefix=ORDER
// RUN: hybrid-opt %s --hybrid-graph-pipeline | FileCheck %s

// The order of events: sizes first, gates before differentiation so that the backward pass is fused as well, elementwise regions last.
// ORDER: IR Dump After {{.*}}hybrid-specialize
// ORDER: IR Dump After {{.*}}canonicalize
// ORDER: IR Dump After {{.*}}cse
// ORDER: IR Dump After {{.*}}hybrid-fuse-gates
// ORDER: IR Dump After {{.*}}hybrid-attach-loss
// ORDER: IR Dump After {{.*}}hybrid-differentiate
// ORDER: IR Dump After {{.*}}canonicalize
// ORDER: IR Dump After {{.*}}cse
// ORDER: IR Dump After {{.*}}hybrid-fuse-elementwise
// ORDER: IR Dump After {{.*}}cse

// A gated convolution and a gated unit, from free dimensions to six functions. Nothing is left free.
// CHECK-NOT: ?x
// The forward pass: both gates in the convolution, the unit's product in a region; the draws are gone.
// CHECK-LABEL: func.func @forward(
// CHECK-NOT: hybrid.random
// CHECK: hybrid.fftconv {{.*}} gate_in({{.*}} gate_out(
// CHECK: hybrid.fused(
// CHECK-NEXT: ^bb0
// CHECK-NEXT: hybrid.unary silu
// CHECK-NEXT: hybrid.binary mul
// CHECK-NEXT: hybrid.yield
// CHECK: return
// With cotangents: the gradients of the gates come from the convolution's own gradient.
// CHECK-LABEL: func.func @vjp(
// CHECK: hybrid.fftconv_grad {{.*}} gate_in({{.*}} gate_out(
// The evaluation.
// CHECK-LABEL: func.func @eval(
// CHECK: hybrid.cross_entropy
// CHECK-NOT: _grad
// The training step: forward, loss, backward; silu is computed again in the backward pass, from the saved projection.
// CHECK-LABEL: func.func @train(
// CHECK: hybrid.cross_entropy
// CHECK: hybrid.cross_entropy_grad
// CHECK: hybrid.unary silu
// CHECK: hybrid.unary sigmoid
// CHECK: hybrid.fftconv_grad {{.*}} gate_in({{.*}} gate_out(
// CHECK: hybrid.embedding_grad
// The optimizer, over the parameters in the order of declaration.
// CHECK-LABEL: func.func @update(
// CHECK: hybrid.adamw {{.*}} parameters ["embed", "in", "filter", "gate", "up", "down"]
// The initial values.
// CHECK-LABEL: func.func @init(
// CHECK-COUNT-6: hybrid.assign
func.func @forward(%tokens: tensor<?x?xi32> {hybrid.dims = ["B", "L"], hybrid.name = "tokens"}) -> (tensor<?x?x16xf32> {hybrid.name = "logits"}) {
  %0 = hybrid.random normal(0.0, 0.02) "embed" : tensor<16x4xf32>
  %embed = hybrid.parameter "embed" initial(%0 : tensor<16x4xf32>) : tensor<16x4xf32>
  %1 = hybrid.random uniform(-0.5, 0.5) "in" : tensor<12x4xf32>
  %in = hybrid.parameter "in" initial(%1 : tensor<12x4xf32>) : tensor<12x4xf32>
  %2 = hybrid.random normal(0.0, 1.0) "filter" : tensor<128x4xf32>
  %filter = hybrid.parameter "filter" initial(%2 : tensor<128x4xf32>) {decay = false} : tensor<128x4xf32>
  %3 = hybrid.random uniform(-0.5, 0.5) "gate" : tensor<8x4xf32>
  %gate = hybrid.parameter "gate" initial(%3 : tensor<8x4xf32>) : tensor<8x4xf32>
  %4 = hybrid.random uniform(-0.5, 0.5) "up" : tensor<8x4xf32>
  %up = hybrid.parameter "up" initial(%4 : tensor<8x4xf32>) : tensor<8x4xf32>
  %5 = hybrid.random uniform(-0.5, 0.5) "down" : tensor<16x8xf32>
  %down = hybrid.parameter "down" initial(%5 : tensor<16x8xf32>) : tensor<16x8xf32>

  %x = hybrid.embedding %embed, %tokens : tensor<16x4xf32>, tensor<?x?xi32> -> tensor<?x?x4xf32>
  %p = hybrid.linear %x, %in : tensor<?x?x4xf32>, tensor<12x4xf32> -> tensor<?x?x12xf32>
  %g0, %g1, %v = hybrid.split %p along 2 sizes [4, 4, 4] : tensor<?x?x12xf32> -> tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
  %w = hybrid.binary mul %v, %g1 : tensor<?x?x4xf32>, tensor<?x?x4xf32>
  %c = hybrid.fftconv %w, %filter : tensor<?x?x4xf32>, tensor<128x4xf32> -> tensor<?x?x4xf32>
  %y = hybrid.binary mul %g0, %c : tensor<?x?x4xf32>, tensor<?x?x4xf32>
  %a = hybrid.linear %y, %gate : tensor<?x?x4xf32>, tensor<8x4xf32> -> tensor<?x?x8xf32>
  %b = hybrid.linear %y, %up : tensor<?x?x4xf32>, tensor<8x4xf32> -> tensor<?x?x8xf32>
  %s = hybrid.unary silu %a : tensor<?x?x8xf32>
  %h = hybrid.binary mul %s, %b : tensor<?x?x8xf32>, tensor<?x?x8xf32>
  %logits = hybrid.linear %h, %down : tensor<?x?x8xf32>, tensor<16x8xf32> -> tensor<?x?x16xf32>
  return %logits : tensor<?x?x16xf32>
}
