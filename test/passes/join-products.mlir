// RUN: hybrid-opt %s --hybrid-join-products --split-input-file | FileCheck %s --enable-var-scope

// The sum of three products is one, of activations that lie side by side before they are rounded, and of weights that do behind that. Products for gradients of weights read
// their parts, and one that stood in front of the last activation follows it.
// CHECK-LABEL: func.func @three
// CHECK-SAME: (%[[G:.+]]: tensor<2x8x16xf32>, %[[H:.+]]: tensor<2x8x24xf32>, %[[X:.+]]: tensor<2x8x4xbf16>, %[[REST:.+]]: tensor<2x8x4xf32>)
// CHECK-DAG: %[[W:.+]] = hybrid.round %{{.+}} : tensor<16x4xf32>
// CHECK-DAG: %[[V:.+]] = hybrid.round %{{.+}} : tensor<24x4xf32>
// CHECK-DAG: %[[U:.+]] = hybrid.round %{{.+}} : tensor<16x4xf32>
// CHECK: %[[A:.+]] = hybrid.unary silu %[[G]]
// CHECK: %[[B:.+]] = hybrid.unary silu %[[H]]
// CHECK: %[[C:.+]] = hybrid.unary neg %[[G]]
// CHECK-NEXT: %[[ALL:.+]] = hybrid.concat %[[A]], %[[B]], %[[C]] along 2 : tensor<2x8x16xf32>, tensor<2x8x24xf32>, tensor<2x8x16xf32> -> tensor<2x8x56xf32>
// CHECK-NEXT: %[[R:.+]] = hybrid.round %[[ALL]] : tensor<2x8x56xf32> -> tensor<2x8x56xbf16>
// CHECK-NEXT: %[[PARTS:.+]]:3 = hybrid.split %[[R]] along 2 sizes [16, 24, 16]
// CHECK: hybrid.matmul %[[PARTS]]#0, %[[X]] {transpose_a}
// CHECK: hybrid.matmul %[[PARTS]]#1, %[[X]] {transpose_a}
// CHECK: %[[WEIGHTS:.+]] = hybrid.concat %[[W]], %[[V]], %[[U]] along 0 : tensor<16x4xbf16>, tensor<24x4xbf16>, tensor<16x4xbf16> -> tensor<56x4xbf16>
// CHECK-NEXT: %[[SUM:.+]] = hybrid.matmul %[[R]], %[[WEIGHTS]] : tensor<2x8x56xbf16>, tensor<56x4xbf16> -> tensor<2x8x4xf32>
// CHECK-NEXT: hybrid.binary add %[[SUM]], %[[REST]]
// CHECK-NOT: hybrid.matmul
func.func @three(%g: tensor<2x8x16xf32>, %h: tensor<2x8x24xf32>, %x: tensor<2x8x4xbf16>, %rest: tensor<2x8x4xf32>)
    -> (tensor<2x8x4xf32>, tensor<16x4xf32>, tensor<24x4xf32>) {
  %pw = hybrid.parameter "w" : tensor<16x4xf32>
  %pv = hybrid.parameter "v" : tensor<24x4xf32>
  %pu = hybrid.parameter "u" : tensor<16x4xf32>
  %w = hybrid.round %pw : tensor<16x4xf32> -> tensor<16x4xbf16>
  %v = hybrid.round %pv : tensor<24x4xf32> -> tensor<24x4xbf16>
  %u = hybrid.round %pu : tensor<16x4xf32> -> tensor<16x4xbf16>
  %a = hybrid.unary silu %g : tensor<2x8x16xf32>
  %ra = hybrid.round %a : tensor<2x8x16xf32> -> tensor<2x8x16xbf16>
  %ofw = hybrid.matmul %ra, %x {transpose_a} : tensor<2x8x16xbf16>, tensor<2x8x4xbf16> -> tensor<16x4xf32>
  %b = hybrid.unary silu %h : tensor<2x8x24xf32>
  %rb = hybrid.round %b : tensor<2x8x24xf32> -> tensor<2x8x24xbf16>
  %c = hybrid.unary neg %g : tensor<2x8x16xf32>
  %rc = hybrid.round %c : tensor<2x8x16xf32> -> tensor<2x8x16xbf16>
  %ofv = hybrid.matmul %rb, %x {transpose_a} : tensor<2x8x24xbf16>, tensor<2x8x4xbf16> -> tensor<24x4xf32>
  %p = hybrid.matmul %ra, %w : tensor<2x8x16xbf16>, tensor<16x4xbf16> -> tensor<2x8x4xf32>
  %q = hybrid.matmul %rb, %v : tensor<2x8x24xbf16>, tensor<24x4xbf16> -> tensor<2x8x4xf32>
  %s = hybrid.matmul %rc, %u : tensor<2x8x16xbf16>, tensor<16x4xbf16> -> tensor<2x8x4xf32>
  %0 = hybrid.binary add %p, %rest : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %1 = hybrid.binary add %0, %q : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %2 = hybrid.binary add %1, %s : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %2, %ofw, %ofv : tensor<2x8x4xf32>, tensor<16x4xf32>, tensor<24x4xf32>
}

// -----

// An activation that the next one is made of stays where it was for that.
// CHECK-LABEL: func.func @chained
// CHECK: %[[A:.+]] = hybrid.round %[[X:.+]] : tensor<8x16xf32>
// CHECK: %[[P:.+]] = hybrid.matmul %[[A]], %{{.+}} : tensor<8x16xbf16>, tensor<16x16xbf16> -> tensor<8x16xf32>
// CHECK: hybrid.concat %[[X]], %[[P]] along 1
func.func @chained(%g: tensor<8x16xf32>) -> tensor<8x4xf32> {
  %pw = hybrid.parameter "w" : tensor<16x4xf32>
  %pv = hybrid.parameter "v" : tensor<16x4xf32>
  %pm = hybrid.parameter "m" : tensor<16x16xf32>
  %w = hybrid.round %pw : tensor<16x4xf32> -> tensor<16x4xbf16>
  %v = hybrid.round %pv : tensor<16x4xf32> -> tensor<16x4xbf16>
  %m = hybrid.round %pm : tensor<16x16xf32> -> tensor<16x16xbf16>
  %x = hybrid.unary silu %g : tensor<8x16xf32>
  %a = hybrid.round %x : tensor<8x16xf32> -> tensor<8x16xbf16>
  %y = hybrid.matmul %a, %m : tensor<8x16xbf16>, tensor<16x16xbf16> -> tensor<8x16xf32>
  %b = hybrid.round %y : tensor<8x16xf32> -> tensor<8x16xbf16>
  %p = hybrid.matmul %a, %w : tensor<8x16xbf16>, tensor<16x4xbf16> -> tensor<8x4xf32>
  %q = hybrid.matmul %b, %v : tensor<8x16xbf16>, tensor<16x4xbf16> -> tensor<8x4xf32>
  %s = hybrid.binary add %p, %q : tensor<8x4xf32>, tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// -----

// What stays: products of f32; a product with another use; activations that are a view or of few channels; and a gradient that its own op reads in full.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: hybrid.concat
func.func @stays(%g: tensor<2x8x16xf32>, %h: tensor<2x8x4xf32>, %dy: tensor<2x8x16xf32>, %decay: tensor<2x8x16xf32>)
    -> (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>) {
  %pw = hybrid.parameter "w" : tensor<16x16xf32>
  %pv = hybrid.parameter "v" : tensor<16x16xf32>
  %pu = hybrid.parameter "u" : tensor<4x16xf32>
  %w = hybrid.round %pw : tensor<16x16xf32> -> tensor<16x16xbf16>
  %v = hybrid.round %pv : tensor<16x16xf32> -> tensor<16x16xbf16>
  %u = hybrid.round %pu : tensor<4x16xf32> -> tensor<4x16xbf16>
  %p = hybrid.matmul %g, %pw : tensor<2x8x16xf32>, tensor<16x16xf32> -> tensor<2x8x16xf32>
  %q = hybrid.matmul %dy, %pv : tensor<2x8x16xf32>, tensor<16x16xf32> -> tensor<2x8x16xf32>
  %whole = hybrid.binary add %p, %q : tensor<2x8x16xf32>, tensor<2x8x16xf32>
  %x = hybrid.unary silu %g : tensor<2x8x16xf32>
  %rx = hybrid.round %x : tensor<2x8x16xf32> -> tensor<2x8x16xbf16>
  %y = hybrid.unary neg %h : tensor<2x8x4xf32>
  %ry = hybrid.round %y : tensor<2x8x4xf32> -> tensor<2x8x4xbf16>
  %flat = hybrid.reshape %x to [2, 8, 16] : tensor<2x8x16xf32> -> tensor<2x8x16xf32>
  %rf = hybrid.round %flat : tensor<2x8x16xf32> -> tensor<2x8x16xbf16>
  %a = hybrid.matmul %rx, %w : tensor<2x8x16xbf16>, tensor<16x16xbf16> -> tensor<2x8x16xf32>
  %b = hybrid.matmul %ry, %u : tensor<2x8x4xbf16>, tensor<4x16xbf16> -> tensor<2x8x16xf32>
  %c = hybrid.matmul %rf, %v : tensor<2x8x16xbf16>, tensor<16x16xbf16> -> tensor<2x8x16xf32>
  %ab = hybrid.binary add %a, %b : tensor<2x8x16xf32>, tensor<2x8x16xf32>
  %abc = hybrid.binary add %ab, %c : tensor<2x8x16xf32>, tensor<2x8x16xf32>
  %dq, %dk, %dv, %dg = hybrid.linear_scan_grad %g, %g, %g, %dy heads 2 decay(%decay : tensor<2x8x16xf32>) : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  %rq = hybrid.round %dq : tensor<2x8x16xf32> -> tensor<2x8x16xbf16>
  %rk = hybrid.round %dk : tensor<2x8x16xf32> -> tensor<2x8x16xbf16>
  %d = hybrid.matmul %rq, %w : tensor<2x8x16xbf16>, tensor<16x16xbf16> -> tensor<2x8x16xf32>
  %e = hybrid.matmul %rk, %v : tensor<2x8x16xbf16>, tensor<16x16xbf16> -> tensor<2x8x16xf32>
  %de = hybrid.binary add %d, %e : tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return %whole, %abc, %de, %c : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
}

// -----

// Side by side in the order of the parameters, whatever that of the terms is: so lie the gradients.
// CHECK-LABEL: func.func @order
// CHECK: %[[A:.+]] = hybrid.unary silu
// CHECK: %[[B:.+]] = hybrid.unary neg
// CHECK: hybrid.concat %[[B]], %[[A]] along 1 : tensor<8x24xf32>, tensor<8x16xf32> -> tensor<8x40xf32>
// CHECK: hybrid.concat %[[V:.+]], %[[W:.+]] along 0 : tensor<24x4xbf16>, tensor<16x4xbf16> -> tensor<40x4xbf16>
func.func @order(%g: tensor<8x16xf32>, %h: tensor<8x24xf32>) -> tensor<8x4xf32> {
  %pv = hybrid.parameter "v" : tensor<24x4xf32>
  %pw = hybrid.parameter "w" : tensor<16x4xf32>
  %v = hybrid.round %pv : tensor<24x4xf32> -> tensor<24x4xbf16>
  %w = hybrid.round %pw : tensor<16x4xf32> -> tensor<16x4xbf16>
  %a = hybrid.unary silu %g : tensor<8x16xf32>
  %ra = hybrid.round %a : tensor<8x16xf32> -> tensor<8x16xbf16>
  %b = hybrid.unary neg %h : tensor<8x24xf32>
  %rb = hybrid.round %b : tensor<8x24xf32> -> tensor<8x24xbf16>
  %p = hybrid.matmul %ra, %w : tensor<8x16xbf16>, tensor<16x4xbf16> -> tensor<8x4xf32>
  %q = hybrid.matmul %rb, %v : tensor<8x24xbf16>, tensor<24x4xbf16> -> tensor<8x4xf32>
  %s = hybrid.binary add %p, %q : tensor<8x4xf32>, tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}
