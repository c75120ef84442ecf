// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// A function is a word in front of its operand.
// CHECK-LABEL: func.func @unary(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xf32>
// CHECK-SAME: -> tensor<4x8xf32>
// CHECK-NEXT: %[[NEG:.+]] = hybrid.unary neg %[[X]] : tensor<4x8xf32>
// CHECK-NEXT: %[[EXP:.+]] = hybrid.unary exp %[[NEG]] : tensor<4x8xf32>
// CHECK-NEXT: %[[LOG:.+]] = hybrid.unary log %[[EXP]] : tensor<4x8xf32>
// CHECK-NEXT: %[[SIN:.+]] = hybrid.unary sin %[[LOG]] : tensor<4x8xf32>
// CHECK-NEXT: %[[COS:.+]] = hybrid.unary cos %[[SIN]] : tensor<4x8xf32>
// CHECK-NEXT: %[[TANH:.+]] = hybrid.unary tanh %[[COS]] : tensor<4x8xf32>
// CHECK-NEXT: %[[SIGMOID:.+]] = hybrid.unary sigmoid %[[TANH]] : tensor<4x8xf32>
// CHECK-NEXT: %[[SILU:.+]] = hybrid.unary silu %[[SIGMOID]] : tensor<4x8xf32>
// CHECK-NEXT: %[[GELU:.+]] = hybrid.unary gelu %[[SILU]] : tensor<4x8xf32>
// CHECK-NEXT: %[[GELU_TANH:.+]] = hybrid.unary gelu_tanh %[[GELU]] : tensor<4x8xf32>
// CHECK-NEXT: %[[RELU:.+]] = hybrid.unary relu %[[GELU_TANH]] : tensor<4x8xf32>
// CHECK-NEXT: %[[SOFTPLUS:.+]] = hybrid.unary softplus %[[RELU]] : tensor<4x8xf32>
// CHECK-NEXT: %[[SQRT:.+]] = hybrid.unary sqrt %[[SOFTPLUS]] : tensor<4x8xf32>
// CHECK-NEXT: %[[RSQRT:.+]] = hybrid.unary rsqrt %[[SQRT]] : tensor<4x8xf32>
// CHECK-NEXT: %[[ABS:.+]] = hybrid.unary abs %[[RSQRT]] : tensor<4x8xf32>
// CHECK-NEXT: %[[SQUARE:.+]] = hybrid.unary square %[[ABS]] : tensor<4x8xf32>
// CHECK-NEXT: %[[SIGN:.+]] = hybrid.unary sign %[[SQUARE]] : tensor<4x8xf32>
// CHECK-NEXT: %[[LOG_SIGMOID:.+]] = hybrid.unary log_sigmoid %[[SIGN]] : tensor<4x8xf32>
// CHECK-NEXT: %[[ERF:.+]] = hybrid.unary erf %[[LOG_SIGMOID]] : tensor<4x8xf32>
// CHECK-NEXT: %[[RECIPROCAL:.+]] = hybrid.unary reciprocal %[[ERF]] : tensor<4x8xf32>
// CHECK-NEXT: %[[ELU:.+]] = hybrid.unary elu %[[RECIPROCAL]] : tensor<4x8xf32>
// CHECK-NEXT: %[[EXPM1:.+]] = hybrid.unary expm1 %[[ELU]] : tensor<4x8xf32>
// CHECK-NEXT: %[[LOG1P:.+]] = hybrid.unary log1p %[[EXPM1]] : tensor<4x8xf32>
// CHECK-NEXT: return %[[LOG1P]] : tensor<4x8xf32>
func.func @unary(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = hybrid.unary neg %x : tensor<4x8xf32>
  %1 = hybrid.unary exp %0 : tensor<4x8xf32>
  %2 = hybrid.unary log %1 : tensor<4x8xf32>
  %3 = hybrid.unary sin %2 : tensor<4x8xf32>
  %4 = hybrid.unary cos %3 : tensor<4x8xf32>
  %5 = hybrid.unary tanh %4 : tensor<4x8xf32>
  %6 = hybrid.unary sigmoid %5 : tensor<4x8xf32>
  %7 = hybrid.unary silu %6 : tensor<4x8xf32>
  %8 = hybrid.unary gelu %7 : tensor<4x8xf32>
  %9 = hybrid.unary gelu_tanh %8 : tensor<4x8xf32>
  %10 = hybrid.unary relu %9 : tensor<4x8xf32>
  %11 = hybrid.unary softplus %10 : tensor<4x8xf32>
  %12 = hybrid.unary sqrt %11 : tensor<4x8xf32>
  %13 = hybrid.unary rsqrt %12 : tensor<4x8xf32>
  %14 = hybrid.unary abs %13 : tensor<4x8xf32>
  %15 = hybrid.unary square %14 : tensor<4x8xf32>
  %16 = hybrid.unary sign %15 : tensor<4x8xf32>
  %17 = hybrid.unary log_sigmoid %16 : tensor<4x8xf32>
  %18 = hybrid.unary erf %17 : tensor<4x8xf32>
  %19 = hybrid.unary reciprocal %18 : tensor<4x8xf32>
  %20 = hybrid.unary elu %19 : tensor<4x8xf32>
  %21 = hybrid.unary expm1 %20 : tensor<4x8xf32>
  %22 = hybrid.unary log1p %21 : tensor<4x8xf32>
  return %22 : tensor<4x8xf32>
}

// Operands of other shapes are repeated: a vector, a scalar, dimensions of size 1 on both sides, free sizes.
// CHECK-LABEL: func.func @binary(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<8xf32>
// CHECK-SAME: %[[S:[^:]+]]: tensor<f32>
// CHECK-SAME: %[[C:[^:]+]]: tensor<4x1xf32>
// CHECK-SAME: %[[F:[^:]+]]: tensor<?x8xf32>
// CHECK-SAME: -> tensor<?x8xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[X]], %[[V]] : tensor<4x8xf32>, tensor<8xf32>
// CHECK-NEXT: %[[SUB:.+]] = hybrid.binary sub %[[S]], %[[ADD]] : tensor<f32>, tensor<4x8xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[V]], %[[C]] : tensor<8xf32>, tensor<4x1xf32>
// CHECK-NEXT: %[[DIV:.+]] = hybrid.binary div %[[SUB]], %[[MUL]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: %[[MAX:.+]] = hybrid.binary max %[[F]], %[[V]] : tensor<?x8xf32>, tensor<8xf32>
// CHECK-NEXT: %[[MIN:.+]] = hybrid.binary min %[[MAX]], %[[S]] : tensor<?x8xf32>, tensor<f32>
// CHECK-NEXT: %[[EQUAL:.+]] = hybrid.binary equal %[[MIN]], %[[MAX]] : tensor<?x8xf32>, tensor<?x8xf32>
// CHECK-NEXT: %[[LESS:.+]] = hybrid.binary less %[[EQUAL]], %[[F]] : tensor<?x8xf32>, tensor<?x8xf32>
// CHECK-NEXT: return %[[LESS]] : tensor<?x8xf32>
func.func @binary(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %s: tensor<f32>, %c: tensor<4x1xf32>, %f: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = hybrid.binary add %x, %v : tensor<4x8xf32>, tensor<8xf32>
  %1 = hybrid.binary sub %s, %0 : tensor<f32>, tensor<4x8xf32>
  %2 = hybrid.binary mul %v, %c : tensor<8xf32>, tensor<4x1xf32>
  %3 = hybrid.binary div %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
  %4 = hybrid.binary max %f, %v : tensor<?x8xf32>, tensor<8xf32>
  %5 = hybrid.binary min %4, %s : tensor<?x8xf32>, tensor<f32>
  %6 = hybrid.binary equal %5, %4 : tensor<?x8xf32>, tensor<?x8xf32>
  %7 = hybrid.binary less %6, %f : tensor<?x8xf32>, tensor<?x8xf32>
  return %7 : tensor<?x8xf32>
}

// Dimensions are removed, or kept with size 1.
// CHECK-LABEL: func.func @reduce(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8x3xf32>
// CHECK-SAME: -> tensor<f32>
// CHECK-NEXT: %[[REDUCE:.+]] = hybrid.reduce sum %[[X]] over [0, 1] : tensor<4x8x3xf32> -> tensor<3xf32>
// CHECK-NEXT: %[[REDUCE1:.+]] = hybrid.reduce mean %[[X]] over [2] {keep} : tensor<4x8x3xf32> -> tensor<4x8x1xf32>
// CHECK-NEXT: %[[REDUCE2:.+]] = hybrid.reduce max %[[X]] over [0, 1, 2] : tensor<4x8x3xf32> -> tensor<f32>
// CHECK-NEXT: return %[[REDUCE2]] : tensor<f32>
func.func @reduce(%x: tensor<4x8x3xf32>) -> tensor<f32> {
  %0 = hybrid.reduce sum %x over [0, 1] : tensor<4x8x3xf32> -> tensor<3xf32>
  %1 = hybrid.reduce mean %x over [2] {keep} : tensor<4x8x3xf32> -> tensor<4x8x1xf32>
  %2 = hybrid.reduce max %x over [0, 1, 2] : tensor<4x8x3xf32> -> tensor<f32>
  return %2 : tensor<f32>
}

// A region of elementwise ops with its own arguments, and two results.
// CHECK-LABEL: func.func @fused(
// CHECK-SAME: %[[G:[^:]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[U:[^:]+]]: tensor<8xf32>
// CHECK-SAME: -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: %[[FUSED:.+]]:2 = hybrid.fused(%[[G]], %[[U]]) : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT: ^bb0(%[[IN_ARG2:[^:]+]]: tensor<4x8xf32>, %[[IN_ARG3:[^:]+]]: tensor<8xf32>):
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 2.000000e+00 : tensor<f32>
// CHECK-NEXT: %[[SILU:.+]] = hybrid.unary silu %[[IN_ARG2]] : tensor<4x8xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[SILU]], %[[IN_ARG3]] : tensor<4x8xf32>, tensor<8xf32>
// CHECK-NEXT: %[[MUL1:.+]] = hybrid.binary mul %[[MUL]], %[[CONSTANT]] : tensor<4x8xf32>, tensor<f32>
// CHECK-NEXT: hybrid.yield %[[SILU]], %[[MUL1]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[FUSED]]#0, %[[FUSED]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
func.func @fused(%g: tensor<4x8xf32>, %u: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0:2 = hybrid.fused(%g, %u) : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<8xf32>):
    %c = hybrid.constant 2.0 : tensor<f32>
    %s = hybrid.unary silu %a : tensor<4x8xf32>
    %p = hybrid.binary mul %s, %b : tensor<4x8xf32>, tensor<8xf32>
    %d = hybrid.binary mul %p, %c : tensor<4x8xf32>, tensor<f32>
    hybrid.yield %s, %d : tensor<4x8xf32>, tensor<4x8xf32>
  }
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Rounded values are what matrix products multiply.
// CHECK-LABEL: func.func @round(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xf32>
// CHECK-NEXT: %[[ROUND:.+]] = hybrid.round %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK-NEXT: return %[[ROUND]] : tensor<4x8xbf16>
func.func @round(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %0 = hybrid.round %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// Ops that run tile of rows by tile of rows.
// CHECK-LABEL: func.func @row_tiles(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<4x4xf32>
// CHECK-NEXT: %[[T:.+]] = hybrid.row_tiles(%[[X]], %[[W]]) rows 16 tile 8 sequential : (tensor<2x8x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
// CHECK-NEXT: ^bb0(%[[A:[^:]+]]: tensor<2x8x4xf32>, %[[B:[^:]+]]: tensor<4x4xf32>):
// CHECK-NEXT: %[[L:.+]] = hybrid.linear %[[A]], %[[B]]
// CHECK-NEXT: %[[M:.+]] = hybrid.matmul %[[L]], %[[A]] {transpose_a}
// CHECK-NEXT: hybrid.yield %[[M]] : tensor<4x4xf32>
// CHECK-NEXT: }
func.func @row_tiles(%x: tensor<2x8x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = hybrid.row_tiles(%x, %w) rows 16 tile 8 sequential : (tensor<2x8x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<2x8x4xf32>, %b: tensor<4x4xf32>):
    %l = hybrid.linear %a, %b : tensor<2x8x4xf32>, tensor<4x4xf32> -> tensor<2x8x4xf32>
    %m = hybrid.matmul %l, %a {transpose_a} : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<4x4xf32>
    hybrid.yield %m : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @widen(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xbf16>
// CHECK-NEXT: %[[WIDE:.+]] = hybrid.widen %[[X]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK-NEXT: return %[[WIDE]]
func.func @widen(%x: tensor<4x8xbf16>) -> tensor<4x8xf32> {
  %0 = hybrid.widen %x : tensor<4x8xbf16> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @product_chain
func.func @product_chain(%x: tensor<2x8x4xbf16>, %w: tensor<16x4xbf16>, %v: tensor<4x16xbf16>) -> (tensor<2x8x4xf32>, tensor<2x8x16xbf16>) {
  // CHECK: %[[C:.*]]:2 = hybrid.product_chain(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x8x4xbf16>, tensor<16x4xbf16>, tensor<4x16xbf16>) -> (tensor<2x8x4xf32>, tensor<2x8x16xbf16>) {
  // CHECK-NEXT: ^bb0(
  // CHECK-NEXT: hybrid.linear
  // CHECK-NEXT: hybrid.fused
  // CHECK: hybrid.round
  // CHECK-NEXT: hybrid.matmul {{.*}} {transpose_b}
  // CHECK-NEXT: hybrid.yield
  %0:2 = hybrid.product_chain(%x, %w, %v) : (tensor<2x8x4xbf16>, tensor<16x4xbf16>, tensor<4x16xbf16>) -> (tensor<2x8x4xf32>, tensor<2x8x16xbf16>) {
  ^bb0(%a: tensor<2x8x4xbf16>, %b: tensor<16x4xbf16>, %c: tensor<4x16xbf16>):
    %p = hybrid.linear %a, %b : tensor<2x8x4xbf16>, tensor<16x4xbf16> -> tensor<2x8x16xf32>
    %f = hybrid.fused(%p) : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
    ^bb0(%e: tensor<2x8x16xf32>):
      %s = hybrid.unary silu %e : tensor<2x8x16xf32>
      hybrid.yield %s : tensor<2x8x16xf32>
    }
    %r = hybrid.round %f : tensor<2x8x16xf32> -> tensor<2x8x16xbf16>
    %q = hybrid.matmul %r, %c {transpose_b} : tensor<2x8x16xbf16>, tensor<4x16xbf16> -> tensor<2x8x4xf32>
    hybrid.yield %q, %r : tensor<2x8x4xf32>, tensor<2x8x16xbf16>
  }
  return %0#0, %0#1 : tensor<2x8x4xf32>, tensor<2x8x16xbf16>
}
