// RUN: hybrid-opt %s --hybrid-schedule-cpu --split-input-file --verify-diagnostics

// expected-error @below {{has no function @forward to schedule}}
module {}

// -----

func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has no CPU lowering (run hybrid-fuse-elementwise first)}}
  %y = hybrid.unary silu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @forward() -> tensor<4xf32> {
  // expected-error @below {{draws values outside of an initial value}}
  %y = hybrid.random normal(0.0, 1.0) "w" : tensor<4xf32>
  return %y : tensor<4xf32>
}
