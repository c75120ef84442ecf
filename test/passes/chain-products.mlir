// RUN: hybrid-opt %s --hybrid-chain-products=ungated=true --split-input-file | FileCheck %s --enable-var-scope
// RUN: hybrid-opt %s --hybrid-chain-products --split-input-file | FileCheck %s --check-prefix=GATED

// What lies between two projections is in memory no more; but what is made of one product stays there if not asked for.
// GATED-LABEL: func.func @forward
// GATED-NOT: product_chain
// GATED-LABEL: func.func @gradient
// GATED: hybrid.product_chain(
// GATED: hybrid.product_chain(
// GATED-LABEL: func.func @kept
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[X:.*]]: tensor<4x8x16xf32>, %[[W:.*]]: tensor<64x16xf32>, %[[V:.*]]: tensor<32x64xf32>)
func.func @forward(%x: tensor<4x8x16xf32>, %w: tensor<64x16xf32>, %v: tensor<32x64xf32>) -> tensor<4x8x32xf32> {
  // CHECK: %[[XR:.*]] = hybrid.round %[[X]]
  // CHECK: %[[WR:.*]] = hybrid.round %[[W]]
  // CHECK: %[[VR:.*]] = hybrid.round %[[V]]
  // CHECK-NEXT: %[[Y:.*]] = hybrid.product_chain(%[[XR]], %[[WR]], %[[VR]])
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4x8x16xbf16>, %[[B:.*]]: tensor<64x16xbf16>, %[[C:.*]]: tensor<32x64xbf16>):
  // CHECK-NEXT: %[[P:.*]] = hybrid.linear %[[A]], %[[B]]
  // CHECK-NEXT: %[[F:.*]] = hybrid.fused(%[[P]])
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: hybrid.unary silu
  // CHECK-NEXT: hybrid.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[R:.*]] = hybrid.round %[[F]]
  // CHECK-NEXT: %[[Q:.*]] = hybrid.linear %[[R]], %[[C]]
  // CHECK-NEXT: hybrid.yield %[[Q]]
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[Y]]
  %xr = hybrid.round %x : tensor<4x8x16xf32> -> tensor<4x8x16xbf16>
  %wr = hybrid.round %w : tensor<64x16xf32> -> tensor<64x16xbf16>
  %vr = hybrid.round %v : tensor<32x64xf32> -> tensor<32x64xbf16>
  %p = hybrid.linear %xr, %wr : tensor<4x8x16xbf16>, tensor<64x16xbf16> -> tensor<4x8x64xf32>
  %s = hybrid.unary silu %p : tensor<4x8x64xf32>
  %r = hybrid.round %s : tensor<4x8x64xf32> -> tensor<4x8x64xbf16>
  %y = hybrid.linear %r, %vr : tensor<4x8x64xbf16>, tensor<32x64xbf16> -> tensor<4x8x32xf32>
  return %y : tensor<4x8x32xf32>
}

// -----

// The gradient of a gated layer: two sums of products are one chain, which multiplies what it needs of the forward pass again and saves what the
// gradients of the three weights read. Two of those are columns of one value, in the order of the parameters.
// CHECK-LABEL: func.func @gradient
// CHECK: %[[X:.*]] = hybrid.round %arg0
// CHECK: %[[Y:.*]] = hybrid.product_chain(%[[X]], {{[^:]*}}) : {{.*}} -> tensor<32x32xf32> {
// CHECK: %[[SLICE:.*]] = hybrid.slice %[[Y]]
// CHECK-NEXT: %[[D:.*]] = hybrid.round %[[SLICE]]
// CHECK: %[[C:.*]]:4 = hybrid.product_chain(%[[X]], {{.*}}, {{.*}}, %[[D]], {{.*}}) : {{.*}} -> (tensor<32x32xf32>, tensor<32x64xbf16>, tensor<32x64xbf16>, tensor<32x64xbf16>) {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<32x32xbf16>, %[[V1:.*]]: tensor<64x32xbf16>, %[[V2:.*]]: tensor<64x32xbf16>, %[[B:.*]]: tensor<32x16xbf16>, %[[V3:.*]]: tensor<16x64xbf16>):
// CHECK-NEXT: %[[P1:.*]] = hybrid.linear %[[A]], %[[V1]]
// CHECK-NEXT: %[[P2:.*]] = hybrid.linear %[[A]], %[[V2]]
// CHECK-NEXT: %[[P3:.*]] = hybrid.matmul %[[B]], %[[V3]]
// CHECK-NEXT: %[[F:.*]]:3 = hybrid.fused(%[[P1]], %[[P2]], %[[P3]])
// CHECK: %[[R2:.*]] = hybrid.round %[[F]]#0
// CHECK-NEXT: %[[R1:.*]] = hybrid.round %[[F]]#1
// CHECK-NEXT: %[[R3:.*]] = hybrid.round %[[F]]#2
// CHECK-NEXT: %[[Q2:.*]] = hybrid.matmul %[[R2]], %[[V2]]
// CHECK-NEXT: %[[Q1:.*]] = hybrid.matmul %[[R1]], %[[V1]]
// CHECK-NEXT: %[[S:.*]] = hybrid.binary add %[[Q2]], %[[Q1]]
// CHECK-NEXT: hybrid.yield %[[S]]
// CHECK: %[[BOTH:.*]] = hybrid.concat %[[C]]#[[#]], %[[C]]#[[#]] along 1
// CHECK-NEXT: %[[SPLIT:.*]]:2 = hybrid.split %[[BOTH]] along 1 sizes [64, 64]
// CHECK: hybrid.matmul %[[D]], %[[C]]#{{.}} {transpose_a}
// CHECK: %[[G2:.*]] = hybrid.matmul %[[SPLIT]]#1, %[[X]] {transpose_a}
// CHECK: %[[G1:.*]] = hybrid.matmul %[[SPLIT]]#0, %[[X]] {transpose_a}
// CHECK-NOT: tensor<32x64xf32>
// CHECK: hybrid.binary add %[[C]]#0, %arg1
func.func @gradient(%x: tensor<32x32xf32>, %residual: tensor<32x32xf32>)
    -> (tensor<16x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<32x32xf32>) {
  %w1 = hybrid.parameter "w1" : tensor<64x32xf32>
  %w2 = hybrid.parameter "w2" : tensor<64x32xf32>
  %w3 = hybrid.parameter "w3" : tensor<16x64xf32>
  %o = hybrid.parameter "o" : tensor<32x64xf32>
  %xr = hybrid.round %x : tensor<32x32xf32> -> tensor<32x32xbf16>
  %w1r = hybrid.round %w1 : tensor<64x32xf32> -> tensor<64x32xbf16>
  %w2r = hybrid.round %w2 : tensor<64x32xf32> -> tensor<64x32xbf16>
  %w3r = hybrid.round %w3 : tensor<16x64xf32> -> tensor<16x64xbf16>
  %or = hybrid.round %o : tensor<32x64xf32> -> tensor<32x64xbf16>
  %a = hybrid.linear %xr, %w1r : tensor<32x32xbf16>, tensor<64x32xbf16> -> tensor<32x64xf32>
  %b = hybrid.linear %xr, %w2r : tensor<32x32xbf16>, tensor<64x32xbf16> -> tensor<32x64xf32>
  %s = hybrid.unary silu %a : tensor<32x64xf32>
  %h = hybrid.binary mul %s, %b : tensor<32x64xf32>, tensor<32x64xf32>
  %hr = hybrid.round %h : tensor<32x64xf32> -> tensor<32x64xbf16>
  %y = hybrid.linear %hr, %or : tensor<32x64xbf16>, tensor<32x64xbf16> -> tensor<32x32xf32>
  %d = hybrid.slice %y from [0, 0] size [32, 16] : tensor<32x32xf32> -> tensor<32x16xf32>
  %dr = hybrid.round %d : tensor<32x16xf32> -> tensor<32x16xbf16>
  %dh = hybrid.matmul %dr, %w3r : tensor<32x16xbf16>, tensor<16x64xbf16> -> tensor<32x64xf32>
  %g3 = hybrid.matmul %dr, %hr {transpose_a} : tensor<32x16xbf16>, tensor<32x64xbf16> -> tensor<16x64xf32>
  %db = hybrid.binary mul %dh, %s : tensor<32x64xf32>, tensor<32x64xf32>
  %dbr = hybrid.round %db : tensor<32x64xf32> -> tensor<32x64xbf16>
  %x2 = hybrid.matmul %dbr, %w2r : tensor<32x64xbf16>, tensor<64x32xbf16> -> tensor<32x32xf32>
  %g2 = hybrid.matmul %dbr, %xr {transpose_a} : tensor<32x64xbf16>, tensor<32x32xbf16> -> tensor<64x32xf32>
  %one = hybrid.constant 1.0 : tensor<f32>
  %t = hybrid.binary mul %dh, %b : tensor<32x64xf32>, tensor<32x64xf32>
  %u = hybrid.binary add %a, %one : tensor<32x64xf32>, tensor<f32>
  %da = hybrid.binary mul %t, %u : tensor<32x64xf32>, tensor<32x64xf32>
  %dar = hybrid.round %da : tensor<32x64xf32> -> tensor<32x64xbf16>
  %x1 = hybrid.matmul %dar, %w1r : tensor<32x64xbf16>, tensor<64x32xbf16> -> tensor<32x32xf32>
  %g1 = hybrid.matmul %dar, %xr {transpose_a} : tensor<32x64xbf16>, tensor<32x32xbf16> -> tensor<64x32xf32>
  %dx = hybrid.binary add %x2, %x1 : tensor<32x32xf32>, tensor<32x32xf32>
  %sum = hybrid.binary add %residual, %dx : tensor<32x32xf32>, tensor<32x32xf32>
  return %g3, %g2, %g1, %sum : tensor<16x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<32x32xf32>
}

// -----

// What is read in f32 has to be in memory.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: product_chain
func.func @kept(%xr: tensor<8x16xf32>, %w: tensor<64x16xf32>, %v: tensor<32x64xf32>) -> (tensor<8x32xf32>, tensor<8x64xf32>) {
  %x = hybrid.round %xr : tensor<8x16xf32> -> tensor<8x16xbf16>
  %wr = hybrid.round %w : tensor<64x16xf32> -> tensor<64x16xbf16>
  %vr = hybrid.round %v : tensor<32x64xf32> -> tensor<32x64xbf16>
  %p = hybrid.linear %x, %wr : tensor<8x16xbf16>, tensor<64x16xbf16> -> tensor<8x64xf32>
  %s = hybrid.unary silu %p : tensor<8x64xf32>
  %r = hybrid.round %s : tensor<8x64xf32> -> tensor<8x64xbf16>
  %y = hybrid.linear %r, %vr : tensor<8x64xbf16>, tensor<32x64xbf16> -> tensor<8x32xf32>
  return %y, %s : tensor<8x32xf32>, tensor<8x64xf32>
}

// -----

// What is rounded is saved for others, but not for those in front of the chain.
// CHECK-LABEL: func.func @saved
// CHECK: %[[C:.*]]:2 = hybrid.product_chain
// CHECK: hybrid.matmul %[[C]]#1, %{{.*}} {transpose_a}
func.func @saved(%xr: tensor<8x16xf32>, %w: tensor<64x16xf32>, %v: tensor<32x64xf32>) -> (tensor<8x32xf32>, tensor<64x16xf32>) {
  %x = hybrid.round %xr : tensor<8x16xf32> -> tensor<8x16xbf16>
  %wr = hybrid.round %w : tensor<64x16xf32> -> tensor<64x16xbf16>
  %p = hybrid.linear %x, %wr : tensor<8x16xbf16>, tensor<64x16xbf16> -> tensor<8x64xf32>
  %s = hybrid.unary relu %p : tensor<8x64xf32>
  %r = hybrid.round %s : tensor<8x64xf32> -> tensor<8x64xbf16>
  %vr = hybrid.round %v : tensor<32x64xf32> -> tensor<32x64xbf16>
  %g = hybrid.matmul %r, %x {transpose_a} : tensor<8x64xbf16>, tensor<8x16xbf16> -> tensor<64x16xf32>
  %y = hybrid.linear %r, %vr : tensor<8x64xbf16>, tensor<32x64xbf16> -> tensor<8x32xf32>
  return %y, %g : tensor<8x32xf32>, tensor<64x16xf32>
}

// CHECK-LABEL: func.func @read_before
// CHECK-NOT: product_chain
func.func @read_before(%xr: tensor<8x16xf32>, %w: tensor<64x16xf32>) -> tensor<8x32xf32> {
  %x = hybrid.round %xr : tensor<8x16xf32> -> tensor<8x16xbf16>
  %wr = hybrid.round %w : tensor<64x16xf32> -> tensor<64x16xbf16>
  %p = hybrid.linear %x, %wr : tensor<8x16xbf16>, tensor<64x16xbf16> -> tensor<8x64xf32>
  %s = hybrid.unary relu %p : tensor<8x64xf32>
  %r = hybrid.round %s : tensor<8x64xf32> -> tensor<8x64xbf16>
  %g = hybrid.matmul %r, %r {transpose_a} : tensor<8x64xbf16>, tensor<8x64xbf16> -> tensor<64x64xf32>
  %half = hybrid.slice %g from [0, 0] size [32, 64] : tensor<64x64xf32> -> tensor<32x64xf32>
  %vr = hybrid.round %half : tensor<32x64xf32> -> tensor<32x64xbf16>
  %y = hybrid.linear %r, %vr : tensor<8x64xbf16>, tensor<32x64xbf16> -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}

// -----

// Sizes: what lies between is not twice as wide as what comes out, or what goes in is too wide; rows that another value of the function's has.
// CHECK-LABEL: func.func @sizes
// CHECK-NOT: product_chain
func.func @sizes(%xr: tensor<8x32xf32>, %wider: tensor<8x256xf32>, %w: tensor<64x32xf32>, %w2: tensor<512x256xf32>, %v: tensor<64x64xf32>, %v2: tensor<32x512xf32>)
    -> (tensor<8x64xf32>, tensor<8x32xf32>) {
  %x = hybrid.round %xr : tensor<8x32xf32> -> tensor<8x32xbf16>
  %x2 = hybrid.round %wider : tensor<8x256xf32> -> tensor<8x256xbf16>
  %wr = hybrid.round %w : tensor<64x32xf32> -> tensor<64x32xbf16>
  %wr2 = hybrid.round %w2 : tensor<512x256xf32> -> tensor<512x256xbf16>
  %vr = hybrid.round %v : tensor<64x64xf32> -> tensor<64x64xbf16>
  %vr2 = hybrid.round %v2 : tensor<32x512xf32> -> tensor<32x512xbf16>
  %p = hybrid.linear %x, %wr : tensor<8x32xbf16>, tensor<64x32xbf16> -> tensor<8x64xf32>
  %r = hybrid.round %p : tensor<8x64xf32> -> tensor<8x64xbf16>
  %y = hybrid.linear %r, %vr : tensor<8x64xbf16>, tensor<64x64xbf16> -> tensor<8x64xf32>
  %p2 = hybrid.linear %x2, %wr2 : tensor<8x256xbf16>, tensor<512x256xbf16> -> tensor<8x512xf32>
  %r2 = hybrid.round %p2 : tensor<8x512xf32> -> tensor<8x512xbf16>
  %y2 = hybrid.linear %r2, %vr2 : tensor<8x512xbf16>, tensor<32x512xbf16> -> tensor<8x32xf32>
  return %y, %y2 : tensor<8x64xf32>, tensor<8x32xf32>
}

// CHECK-LABEL: func.func @other_operand
// CHECK-NOT: product_chain
func.func @other_operand(%xr: tensor<8x16xf32>, %w: tensor<64x16xf32>, %v: tensor<32x64xf32>, %gate: tensor<8x64xf32>) -> tensor<8x32xf32> {
  %x = hybrid.round %xr : tensor<8x16xf32> -> tensor<8x16xbf16>
  %wr = hybrid.round %w : tensor<64x16xf32> -> tensor<64x16xbf16>
  %vr = hybrid.round %v : tensor<32x64xf32> -> tensor<32x64xbf16>
  %p = hybrid.linear %x, %wr : tensor<8x16xbf16>, tensor<64x16xbf16> -> tensor<8x64xf32>
  %s = hybrid.binary mul %p, %gate : tensor<8x64xf32>, tensor<8x64xf32>
  %r = hybrid.round %s : tensor<8x64xf32> -> tensor<8x64xbf16>
  %y = hybrid.linear %r, %vr : tensor<8x64xbf16>, tensor<32x64xbf16> -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}

// -----

// Each value that a gradient's chain saves may have as many ops of its own as one that is multiplied.
// CHECK-LABEL: func.func @long_saved
// CHECK: hybrid.product_chain
// CHECK-COUNT-40: hybrid.unary relu
// CHECK-COUNT-40: hybrid.unary tanh
// CHECK: hybrid.product_chain
// CHECK-COUNT-40: hybrid.unary relu
// CHECK-COUNT-40: hybrid.unary tanh
// CHECK: hybrid.yield %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x32xf32>, tensor<8x64xbf16>, tensor<8x64xbf16>
func.func @long_saved(%xr: tensor<8x16xf32>, %w: tensor<64x16xf32>, %v: tensor<32x64xf32>, %u: tensor<32x64xf32>, %t: tensor<16x64xf32>)
    -> (tensor<8x32xf32>, tensor<16x64xf32>, tensor<16x64xf32>) {
  %x = hybrid.round %xr : tensor<8x16xf32> -> tensor<8x16xbf16>
  %wr = hybrid.round %w : tensor<64x16xf32> -> tensor<64x16xbf16>
  %vr = hybrid.round %v : tensor<32x64xf32> -> tensor<32x64xbf16>
  %ur = hybrid.round %u : tensor<32x64xf32> -> tensor<32x64xbf16>
  %tr = hybrid.round %t : tensor<16x64xf32> -> tensor<16x64xbf16>
  %p = hybrid.linear %x, %wr : tensor<8x16xbf16>, tensor<64x16xbf16> -> tensor<8x64xf32>
  %a0 = hybrid.unary relu %p : tensor<8x64xf32>
  %a1 = hybrid.unary relu %a0 : tensor<8x64xf32>
  %a2 = hybrid.unary relu %a1 : tensor<8x64xf32>
  %a3 = hybrid.unary relu %a2 : tensor<8x64xf32>
  %a4 = hybrid.unary relu %a3 : tensor<8x64xf32>
  %a5 = hybrid.unary relu %a4 : tensor<8x64xf32>
  %a6 = hybrid.unary relu %a5 : tensor<8x64xf32>
  %a7 = hybrid.unary relu %a6 : tensor<8x64xf32>
  %a8 = hybrid.unary relu %a7 : tensor<8x64xf32>
  %a9 = hybrid.unary relu %a8 : tensor<8x64xf32>
  %a10 = hybrid.unary relu %a9 : tensor<8x64xf32>
  %a11 = hybrid.unary relu %a10 : tensor<8x64xf32>
  %a12 = hybrid.unary relu %a11 : tensor<8x64xf32>
  %a13 = hybrid.unary relu %a12 : tensor<8x64xf32>
  %a14 = hybrid.unary relu %a13 : tensor<8x64xf32>
  %a15 = hybrid.unary relu %a14 : tensor<8x64xf32>
  %a16 = hybrid.unary relu %a15 : tensor<8x64xf32>
  %a17 = hybrid.unary relu %a16 : tensor<8x64xf32>
  %a18 = hybrid.unary relu %a17 : tensor<8x64xf32>
  %a19 = hybrid.unary relu %a18 : tensor<8x64xf32>
  %a20 = hybrid.unary relu %a19 : tensor<8x64xf32>
  %a21 = hybrid.unary relu %a20 : tensor<8x64xf32>
  %a22 = hybrid.unary relu %a21 : tensor<8x64xf32>
  %a23 = hybrid.unary relu %a22 : tensor<8x64xf32>
  %a24 = hybrid.unary relu %a23 : tensor<8x64xf32>
  %a25 = hybrid.unary relu %a24 : tensor<8x64xf32>
  %a26 = hybrid.unary relu %a25 : tensor<8x64xf32>
  %a27 = hybrid.unary relu %a26 : tensor<8x64xf32>
  %a28 = hybrid.unary relu %a27 : tensor<8x64xf32>
  %a29 = hybrid.unary relu %a28 : tensor<8x64xf32>
  %a30 = hybrid.unary relu %a29 : tensor<8x64xf32>
  %a31 = hybrid.unary relu %a30 : tensor<8x64xf32>
  %a32 = hybrid.unary relu %a31 : tensor<8x64xf32>
  %a33 = hybrid.unary relu %a32 : tensor<8x64xf32>
  %a34 = hybrid.unary relu %a33 : tensor<8x64xf32>
  %a35 = hybrid.unary relu %a34 : tensor<8x64xf32>
  %a36 = hybrid.unary relu %a35 : tensor<8x64xf32>
  %a37 = hybrid.unary relu %a36 : tensor<8x64xf32>
  %a38 = hybrid.unary relu %a37 : tensor<8x64xf32>
  %a39 = hybrid.unary relu %a38 : tensor<8x64xf32>
  %ar = hybrid.round %a39 : tensor<8x64xf32> -> tensor<8x64xbf16>
  %ay = hybrid.linear %ar, %vr : tensor<8x64xbf16>, tensor<32x64xbf16> -> tensor<8x32xf32>
  %b0 = hybrid.unary tanh %p : tensor<8x64xf32>
  %b1 = hybrid.unary tanh %b0 : tensor<8x64xf32>
  %b2 = hybrid.unary tanh %b1 : tensor<8x64xf32>
  %b3 = hybrid.unary tanh %b2 : tensor<8x64xf32>
  %b4 = hybrid.unary tanh %b3 : tensor<8x64xf32>
  %b5 = hybrid.unary tanh %b4 : tensor<8x64xf32>
  %b6 = hybrid.unary tanh %b5 : tensor<8x64xf32>
  %b7 = hybrid.unary tanh %b6 : tensor<8x64xf32>
  %b8 = hybrid.unary tanh %b7 : tensor<8x64xf32>
  %b9 = hybrid.unary tanh %b8 : tensor<8x64xf32>
  %b10 = hybrid.unary tanh %b9 : tensor<8x64xf32>
  %b11 = hybrid.unary tanh %b10 : tensor<8x64xf32>
  %b12 = hybrid.unary tanh %b11 : tensor<8x64xf32>
  %b13 = hybrid.unary tanh %b12 : tensor<8x64xf32>
  %b14 = hybrid.unary tanh %b13 : tensor<8x64xf32>
  %b15 = hybrid.unary tanh %b14 : tensor<8x64xf32>
  %b16 = hybrid.unary tanh %b15 : tensor<8x64xf32>
  %b17 = hybrid.unary tanh %b16 : tensor<8x64xf32>
  %b18 = hybrid.unary tanh %b17 : tensor<8x64xf32>
  %b19 = hybrid.unary tanh %b18 : tensor<8x64xf32>
  %b20 = hybrid.unary tanh %b19 : tensor<8x64xf32>
  %b21 = hybrid.unary tanh %b20 : tensor<8x64xf32>
  %b22 = hybrid.unary tanh %b21 : tensor<8x64xf32>
  %b23 = hybrid.unary tanh %b22 : tensor<8x64xf32>
  %b24 = hybrid.unary tanh %b23 : tensor<8x64xf32>
  %b25 = hybrid.unary tanh %b24 : tensor<8x64xf32>
  %b26 = hybrid.unary tanh %b25 : tensor<8x64xf32>
  %b27 = hybrid.unary tanh %b26 : tensor<8x64xf32>
  %b28 = hybrid.unary tanh %b27 : tensor<8x64xf32>
  %b29 = hybrid.unary tanh %b28 : tensor<8x64xf32>
  %b30 = hybrid.unary tanh %b29 : tensor<8x64xf32>
  %b31 = hybrid.unary tanh %b30 : tensor<8x64xf32>
  %b32 = hybrid.unary tanh %b31 : tensor<8x64xf32>
  %b33 = hybrid.unary tanh %b32 : tensor<8x64xf32>
  %b34 = hybrid.unary tanh %b33 : tensor<8x64xf32>
  %b35 = hybrid.unary tanh %b34 : tensor<8x64xf32>
  %b36 = hybrid.unary tanh %b35 : tensor<8x64xf32>
  %b37 = hybrid.unary tanh %b36 : tensor<8x64xf32>
  %b38 = hybrid.unary tanh %b37 : tensor<8x64xf32>
  %b39 = hybrid.unary tanh %b38 : tensor<8x64xf32>
  %br = hybrid.round %b39 : tensor<8x64xf32> -> tensor<8x64xbf16>
  %by = hybrid.linear %br, %ur : tensor<8x64xbf16>, tensor<32x64xbf16> -> tensor<8x32xf32>
  %y = hybrid.binary add %ay, %by : tensor<8x32xf32>, tensor<8x32xf32>
  %d = hybrid.slice %y from [0, 0] size [8, 16] : tensor<8x32xf32> -> tensor<8x16xf32>
  %dr = hybrid.round %d : tensor<8x16xf32> -> tensor<8x16xbf16>
  %dh = hybrid.matmul %dr, %tr : tensor<8x16xbf16>, tensor<16x64xbf16> -> tensor<8x64xf32>
  %e = hybrid.binary mul %dh, %p : tensor<8x64xf32>, tensor<8x64xf32>
  %er = hybrid.round %e : tensor<8x64xf32> -> tensor<8x64xbf16>
  %dx = hybrid.linear %er, %vr : tensor<8x64xbf16>, tensor<32x64xbf16> -> tensor<8x32xf32>
  %ag = hybrid.matmul %dr, %ar {transpose_a} : tensor<8x16xbf16>, tensor<8x64xbf16> -> tensor<16x64xf32>
  %bg = hybrid.matmul %dr, %br {transpose_a} : tensor<8x16xbf16>, tensor<8x64xbf16> -> tensor<16x64xf32>
  return %dx, %ag, %bg : tensor<8x32xf32>, tensor<16x64xf32>, tensor<16x64xf32>
}
