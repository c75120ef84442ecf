// RUN: hybrid-opt %s --hybrid-lower-cuda --verify-diagnostics

// There is no kernel for this device, and nothing else takes its place.
func.func @forward(%x: tensor<2x8x4xf32> {hybrid.name = "x"}) -> (tensor<2x8x4xf32> {hybrid.name = "y"}) {
  // expected-error@+1 {{has no CUDA kernel yet: a recurrence runs on the CPU only (--target=cpu)}}
  %y = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) -> tensor<2x8x4xf32> step {
  ^bb0(%h: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %h, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %y : tensor<2x8x4xf32>
}
