// RUN: not hybrid-opt %s --split-input-file --hybrid-schedule-cuda=rounds=true 2>&1 | FileCheck %s
// RUN: not hybrid-opt %s --split-input-file --hybrid-schedule-cpu 2>&1 | FileCheck %s --check-prefix=CPU

// CPU: error: 'hybrid.product_chain' op has no CPU lowering: hybrid-chain-products is for CUDA
// CHECK: error: has rows of 8, 64 between and 32 behind; expected multiples of 16, a multiple of 32, and 32, 64 or 128, that fit the shared memory of a block (
func.func @forward(%x: tensor<32x8xbf16>, %w: tensor<64x8xbf16>, %v: tensor<32x64xbf16>) -> tensor<32x32xf32> {
  %0 = hybrid.product_chain(%x, %w, %v) : (tensor<32x8xbf16>, tensor<64x8xbf16>, tensor<32x64xbf16>) -> tensor<32x32xf32> {
  ^bb0(%a: tensor<32x8xbf16>, %b: tensor<64x8xbf16>, %c: tensor<32x64xbf16>):
    %p = hybrid.linear %a, %b : tensor<32x8xbf16>, tensor<64x8xbf16> -> tensor<32x64xf32>
    %f = hybrid.fused(%p) : (tensor<32x64xf32>) -> tensor<32x64xf32> {
    ^bb0(%e: tensor<32x64xf32>):
      %s = hybrid.unary silu %e : tensor<32x64xf32>
      hybrid.yield %s : tensor<32x64xf32>
    }
    %r = hybrid.round %f : tensor<32x64xf32> -> tensor<32x64xbf16>
    %q = hybrid.linear %r, %c : tensor<32x64xbf16>, tensor<32x64xbf16> -> tensor<32x32xf32>
    hybrid.yield %q : tensor<32x32xf32>
  }
  return %0 : tensor<32x32xf32>
}

// -----

// CHECK: error: has 4 first products, the kernel takes up to 3
func.func @forward(%x: tensor<32x16xbf16>, %w: tensor<64x16xbf16>, %v: tensor<32x64xbf16>) -> tensor<32x32xf32> {
  %0 = hybrid.product_chain(%x, %w, %v) : (tensor<32x16xbf16>, tensor<64x16xbf16>, tensor<32x64xbf16>) -> tensor<32x32xf32> {
  ^bb0(%a: tensor<32x16xbf16>, %b: tensor<64x16xbf16>, %c: tensor<32x64xbf16>):
    %p = hybrid.linear %a, %b : tensor<32x16xbf16>, tensor<64x16xbf16> -> tensor<32x64xf32>
    %p1 = hybrid.linear %a, %b : tensor<32x16xbf16>, tensor<64x16xbf16> -> tensor<32x64xf32>
    %p2 = hybrid.linear %a, %b : tensor<32x16xbf16>, tensor<64x16xbf16> -> tensor<32x64xf32>
    %p3 = hybrid.linear %a, %b : tensor<32x16xbf16>, tensor<64x16xbf16> -> tensor<32x64xf32>
    %f = hybrid.fused(%p, %p1, %p2, %p3) : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32> {
    ^bb0(%e: tensor<32x64xf32>, %e1: tensor<32x64xf32>, %e2: tensor<32x64xf32>, %e3: tensor<32x64xf32>):
      %s = hybrid.binary add %e, %e3 : tensor<32x64xf32>, tensor<32x64xf32>
      hybrid.yield %s : tensor<32x64xf32>
    }
    %r = hybrid.round %f : tensor<32x64xf32> -> tensor<32x64xbf16>
    %q = hybrid.linear %r, %c : tensor<32x64xbf16>, tensor<32x64xbf16> -> tensor<32x32xf32>
    hybrid.yield %q : tensor<32x32xf32>
  }
  return %0 : tensor<32x32xf32>
}
