// RUN: hybrid-opt %s --hybrid-schedule-cuda --verify-diagnostics
// RUN: not hybrid-opt %s --hybrid-schedule-cpu 2>&1 | FileCheck %s
// CHECK: error: 'hybrid.repeat_channels' op has no CPU lowering: hybrid-share-repeats is for CUDA

// Channels that are in memory once are for readers that know: another op would read behind them.
func.func @forward(%x: tensor<2x33x16xf32>) -> tensor<2x33x32xf32> {
  // expected-error@+1 {{is read by hybrid.unary: only a short convolution can read channels again and again}}
  %r = hybrid.repeat_channels %x times 2 : tensor<2x33x16xf32> -> tensor<2x33x32xf32>
  %y = hybrid.unary exp %r : tensor<2x33x32xf32>
  return %y : tensor<2x33x32xf32>
}
