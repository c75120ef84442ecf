// RUN: hybrid-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(hybrid-expand-experts))'

// Rows are counted when compiling.
func.func @free(%x: tensor<?x4xf32>, %i: tensor<?x1xi32>, %w: tensor<?x1xf32>) {
  // expected-error@+1 {{has free dimensions: specialize it first}}
  %y = hybrid.routed_experts %x to %i weighted %w among 2 : tensor<?x4xf32>, tensor<?x1xi32>, tensor<?x1xf32> -> tensor<?x4xf32> {
  ^bb0(%e: tensor<?x4xf32>):
    hybrid.yield %e : tensor<?x4xf32>
  }
  return
}

// -----

// An expert that sees every position has no rows to count.
func.func @capacity(%x: tensor<2x8x4xf32>, %i: tensor<2x8x1xi32>, %w: tensor<2x8x1xf32>) {
  // expected-error@+1 {{a capacity limits the rows of an expert, but this expert needs more than single rows: leave it out}}
  %y = hybrid.routed_experts %x to %i weighted %w among 2 {capacity_factor = 1.0 : f64} : tensor<2x8x4xf32>, tensor<2x8x1xi32>, tensor<2x8x1xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    // expected-note@+1 {{'hybrid.reverse' is here}}
    %r = hybrid.reverse %e along 1 : tensor<2x8x4xf32>
    hybrid.yield %r : tensor<2x8x4xf32>
  }
  return
}

// -----

// Each expert that mixes is a copy of its body.
func.func @many(%x: tensor<2x8x4xf32>, %i: tensor<2x8x1xi32>, %w: tensor<2x8x1xf32>) {
  // expected-error@+1 {{2000000000 experts of 2 operations are too many to write out, as an expert that needs more than single rows is: expected at most 200000 operations in all}}
  %y = hybrid.routed_experts %x to %i weighted %w among 2000000000 : tensor<2x8x4xf32>, tensor<2x8x1xi32>, tensor<2x8x1xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    // expected-note@+1 {{'hybrid.reverse' is here}}
    %r = hybrid.reverse %e along 1 : tensor<2x8x4xf32>
    hybrid.yield %r : tensor<2x8x4xf32>
  }
  return
}
