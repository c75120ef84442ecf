// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// A function that does not exist is named with those that do.
func.func @unary_kind(%x: tensor<4xf32>) {
  // expected-error@+2 {{to be one of: abs, cos, elu}}
  // expected-error@+1 {{failed to parse}}
  %0 = hybrid.unary cosh %x : tensor<4xf32>
  return
}

// -----

// Elementwise functions are of floating point values.
func.func @unary_integer(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %0 = hybrid.unary neg %x : tensor<4xi32>
  return
}

// -----

// binary C1: the shapes broadcast.
func.func @binary_shapes(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{the shapes [4, 8] and [4] do not fit together}}
  %0 = hybrid.binary add %a, %b : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

// Both operands have one precision.
func.func @binary_precision(%a: tensor<8xf32>, %b: tensor<8xf64>) {
  // expected-error@+1 {{operand 1 is 'tensor<8xf64>', but the first tensor has elements of 'f32'}}
  %0 = hybrid.binary add %a, %b : tensor<8xf32>, tensor<8xf64>
  return
}

// -----

// reduce C1: axes are ascending.
func.func @reduce_order(%x: tensor<4x8x3xf32>) {
  // expected-error@+2 {{reduce: axis 0 of [4, 8, 3]: axes must be ascending and within the rank}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.reduce sum %x over [1, 0] : tensor<4x8x3xf32> -> tensor<3xf32>
  return
}

// -----

// reduce C1: axes are dimensions of x.
func.func @reduce_range(%x: tensor<4x8x3xf32>) {
  // expected-error@+2 {{reduce: axis 3 of [4, 8, 3]: axes must be ascending and within the rank}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.reduce sum %x over [0, 3] : tensor<4x8x3xf32> -> tensor<8xf32>
  return
}

// -----

// fused C1: the body takes the operands.
func.func @fused_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{operands are for a body of ('tensor<4xf32>'), but the body takes ('tensor<8xf32>')}}
  %0 = hybrid.fused(%x) : (tensor<4xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    hybrid.yield %a : tensor<8xf32>
  }
  return
}

// -----

// fused C2: the body yields the results.
func.func @fused_yield(%x: tensor<4xf32>) {
  // expected-error@+1 {{results are of types ('tensor<8xf32>'), but the body yields ('tensor<4xf32>')}}
  %0 = hybrid.fused(%x) : (tensor<4xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<4xf32>):
    hybrid.yield %a : tensor<4xf32>
  }
  return
}

// -----

// fused C2: there is a yield.
func.func @fused_unfinished(%x: tensor<4xf32>) {
  // expected-error@+1 {{body must end with hybrid.yield}}
  %0 = hybrid.fused(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %b = hybrid.unary neg %a : tensor<4xf32>
  }
  return
}

// -----

// fused C3: elementwise ops and constants only.
func.func @fused_body(%x: tensor<4xf32>) {
  // expected-error@+1 {{body holds 'hybrid.reduce', expected elementwise ops and constants only}}
  %0 = hybrid.fused(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    // expected-note@+1 {{the op is here}}
    %s = hybrid.reduce sum %a over [0] : tensor<4xf32> -> tensor<f32>
    %y = hybrid.binary mul %a, %s : tensor<4xf32>, tensor<f32>
    hybrid.yield %y : tensor<4xf32>
  }
  return
}

// -----

// fused C4: there is a result.
func.func @fused_nothing(%x: tensor<4xf32>) {
  // expected-error@+1 {{has no result}}
  hybrid.fused(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    "hybrid.yield"() : () -> ()
  }
  return
}

// -----

// fused C4: the results have one shape.
func.func @fused_shapes(%x: tensor<4xf32>, %z: tensor<2x4xf32>) {
  // expected-error@+1 {{has results of shapes [4] and [2, 4], expected one shape}}
  %0:2 = hybrid.fused(%x, %z) : (tensor<4xf32>, tensor<2x4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<2x4xf32>):
    %s = hybrid.unary neg %a : tensor<4xf32>
    %t = hybrid.binary mul %s, %b : tensor<4xf32>, tensor<2x4xf32>
    hybrid.yield %s, %t : tensor<4xf32>, tensor<2x4xf32>
  }
  return
}

// -----

// yield C1: it ends the body of an op that runs one, and nothing else.
func.func @yield_outside(%x: tensor<4xf32>) {
  // expected-error@+1 {{stands in 'func.func', which is no op that runs a body}}
  hybrid.yield %x : tensor<4xf32>
}

// -----

// widen C1: it changes no shape.
func.func @widen_shape(%x: tensor<4x8xbf16>) {
  // expected-error@+1 {{x is [4, 8], but the result is [8, 4]}}
  %0 = hybrid.widen %x : tensor<4x8xbf16> -> tensor<8x4xf32>
  return
}

// -----

// round C1: it changes no shape.
func.func @round_shape(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{x is [4, 8], but the result is [8, 4]}}
  %0 = hybrid.round %x : tensor<4x8xf32> -> tensor<8x4xbf16>
  return
}

// -----

// row_tiles C1: the body takes what the op is given.
func.func @tiles_arguments(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{operands are for a body of ('tensor<8x4xf32>'), but the body takes ()}}
  %0 = hybrid.row_tiles(%x) rows 8 tile 4 : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    %c = hybrid.constant 1.0 : tensor<8x4xf32>
    hybrid.yield %c : tensor<8x4xf32>
  }
  return
}

// -----

// row_tiles C2: and yields what the op gives.
func.func @tiles_results(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{results are of types ('tensor<8x5xf32>'), but the body yields ('tensor<8x4xf32>')}}
  %0 = hybrid.row_tiles(%x) rows 8 tile 4 : (tensor<8x4xf32>) -> tensor<8x5xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %n = hybrid.rmsnorm %a : tensor<8x4xf32> -> tensor<8x4xf32>
    hybrid.yield %n : tensor<8x4xf32>
  }
  return
}

// -----

// row_tiles C3: an op that mixes positions does not work row by row.
func.func @tiles_mixer(%x: tensor<2x8x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{body holds 'hybrid.short_conv', expected ops that work on 16 rows, and constants}}
  %0 = hybrid.row_tiles(%x, %w) rows 16 tile 4 : (tensor<2x8x4xf32>, tensor<4x3xf32>) -> tensor<2x8x4xf32> {
  ^bb0(%a: tensor<2x8x4xf32>, %b: tensor<4x3xf32>):
    // expected-note@+1 {{the op is here}}
    %n = hybrid.short_conv %a, %b : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
    hybrid.yield %n : tensor<2x8x4xf32>
  }
  return
}

// -----

// row_tiles C4: a tile is a part of the rows.
func.func @tiles_size(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{has tiles of 9 rows of 8}}
  %0 = hybrid.row_tiles(%x) rows 8 tile 9 : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %n = hybrid.rmsnorm %a : tensor<8x4xf32> -> tensor<8x4xf32>
    hybrid.yield %n : tensor<8x4xf32>
  }
  return
}

// -----

// row_tiles C5: a sum that grows needs tiles in order.
func.func @tiles_parallel_sum(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{has tiles in parallel, but 'hybrid.matmul' accumulates over rows: make it sequential}}
  %0 = hybrid.row_tiles(%x) rows 8 tile 4 : (tensor<8x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %m = hybrid.matmul %a, %a {transpose_a} : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
    hybrid.yield %m : tensor<4x4xf32>
  }
  return
}

// -----

// row_tiles C5: and is not complete inside.
func.func @tiles_incomplete(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{uses a sum over rows of 'hybrid.matmul' inside the body, where it is not complete}}
  %0 = hybrid.row_tiles(%x) rows 8 tile 4 sequential : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %m = hybrid.matmul %a, %a {transpose_a} : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
    %l = hybrid.linear %a, %m : tensor<8x4xf32>, tensor<4x4xf32> -> tensor<8x4xf32>
    hybrid.yield %l : tensor<8x4xf32>
  }
  return
}

// -----

// product_chain C1: the body takes what the op is given.
func.func @chain_arguments(%x: tensor<8x4xbf16>, %w: tensor<16x4xbf16>, %v: tensor<4x16xbf16>) {
  // expected-error@+1 {{operands are for a body of ('tensor<8x4xbf16>', 'tensor<16x4xbf16>'), but the body takes ('tensor<8x4xbf16>', 'tensor<16x4xbf16>', 'tensor<4x16xbf16>')}}
  %0 = hybrid.product_chain(%x, %w) : (tensor<8x4xbf16>, tensor<16x4xbf16>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xbf16>, %b: tensor<16x4xbf16>, %c: tensor<4x16xbf16>):
    %p = hybrid.linear %a, %b : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
    %f = hybrid.fused(%p) : (tensor<8x16xf32>) -> tensor<8x16xf32> {
    ^bb0(%e: tensor<8x16xf32>):
      hybrid.yield %e : tensor<8x16xf32>
    }
    %r = hybrid.round %f : tensor<8x16xf32> -> tensor<8x16xbf16>
    %q = hybrid.linear %r, %c : tensor<8x16xbf16>, tensor<4x16xbf16> -> tensor<8x4xf32>
    hybrid.yield %q : tensor<8x4xf32>
  }
  return
}

// -----

// product_chain C2: and yields what the op gives.
func.func @chain_results(%x: tensor<8x4xbf16>, %w: tensor<16x4xbf16>, %v: tensor<4x16xbf16>) {
  // expected-error@+1 {{results are of types ('tensor<8x5xf32>'), but the body yields ('tensor<8x4xf32>')}}
  %0 = hybrid.product_chain(%x, %w, %v) : (tensor<8x4xbf16>, tensor<16x4xbf16>, tensor<4x16xbf16>) -> tensor<8x5xf32> {
  ^bb0(%a: tensor<8x4xbf16>, %b: tensor<16x4xbf16>, %c: tensor<4x16xbf16>):
    %p = hybrid.linear %a, %b : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
    %f = hybrid.fused(%p) : (tensor<8x16xf32>) -> tensor<8x16xf32> {
    ^bb0(%e: tensor<8x16xf32>):
      hybrid.yield %e : tensor<8x16xf32>
    }
    %r = hybrid.round %f : tensor<8x16xf32> -> tensor<8x16xbf16>
    %q = hybrid.linear %r, %c : tensor<8x16xbf16>, tensor<4x16xbf16> -> tensor<8x4xf32>
    hybrid.yield %q : tensor<8x4xf32>
  }
  return
}

// -----

// product_chain C3: what is rounded is what the function gives.
func.func @chain_without_function(%x: tensor<8x4xbf16>, %w: tensor<16x4xbf16>, %v: tensor<4x16xbf16>) {
  // expected-error@+1 {{body holds 'hybrid.round' out of order, expected products of rows from outside, one hybrid.fused of them, hybrid.round of its results, products of those, and their sum}}
  %0 = hybrid.product_chain(%x, %w, %v) : (tensor<8x4xbf16>, tensor<16x4xbf16>, tensor<4x16xbf16>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xbf16>, %b: tensor<16x4xbf16>, %c: tensor<4x16xbf16>):
    %p = hybrid.linear %a, %b : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
    // expected-note@+1 {{the op is here}}
    %r = hybrid.round %p : tensor<8x16xf32> -> tensor<8x16xbf16>
    %q = hybrid.linear %r, %c : tensor<8x16xbf16>, tensor<4x16xbf16> -> tensor<8x4xf32>
    hybrid.yield %q : tensor<8x4xf32>
  }
  return
}

// -----

// product_chain C3: a product of rows from outside stands in front of the function.
func.func @chain_late_product(%x: tensor<8x4xbf16>, %w: tensor<16x4xbf16>, %v: tensor<4x16xbf16>) {
  // expected-error@+1 {{body holds 'hybrid.linear' out of order, expected products of rows from outside, one hybrid.fused of them, hybrid.round of its results, products of those, and their sum}}
  %0 = hybrid.product_chain(%x, %w, %v) : (tensor<8x4xbf16>, tensor<16x4xbf16>, tensor<4x16xbf16>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xbf16>, %b: tensor<16x4xbf16>, %c: tensor<4x16xbf16>):
    %p = hybrid.linear %a, %b : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
    %f = hybrid.fused(%p) : (tensor<8x16xf32>) -> tensor<8x16xf32> {
    ^bb0(%e: tensor<8x16xf32>):
      hybrid.yield %e : tensor<8x16xf32>
    }
    // expected-note@+1 {{the op is here}}
    %l = hybrid.linear %a, %b : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
    %r = hybrid.round %f : tensor<8x16xf32> -> tensor<8x16xbf16>
    %q = hybrid.linear %r, %c : tensor<8x16xbf16>, tensor<4x16xbf16> -> tensor<8x4xf32>
    hybrid.yield %q : tensor<8x4xf32>
  }
  return
}

// -----

// product_chain C3: no op but those.
func.func @chain_norm(%x: tensor<8x4xbf16>, %w: tensor<16x4xbf16>, %v: tensor<4x16xbf16>) {
  // expected-error@+1 {{body holds 'hybrid.rmsnorm' out of order, expected products of rows from outside, one hybrid.fused of them, hybrid.round of its results, products of those, and their sum}}
  %0 = hybrid.product_chain(%x, %w, %v) : (tensor<8x4xbf16>, tensor<16x4xbf16>, tensor<4x16xbf16>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xbf16>, %b: tensor<16x4xbf16>, %c: tensor<4x16xbf16>):
    %p = hybrid.linear %a, %b : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
    %f = hybrid.fused(%p) : (tensor<8x16xf32>) -> tensor<8x16xf32> {
    ^bb0(%e: tensor<8x16xf32>):
      hybrid.yield %e : tensor<8x16xf32>
    }
    %r = hybrid.round %f : tensor<8x16xf32> -> tensor<8x16xbf16>
    %q = hybrid.linear %r, %c : tensor<8x16xbf16>, tensor<4x16xbf16> -> tensor<8x4xf32>
    // expected-note@+1 {{the op is here}}
    %n = hybrid.rmsnorm %q : tensor<8x4xf32> -> tensor<8x4xf32>
    hybrid.yield %n : tensor<8x4xf32>
  }
  return
}

// -----

// product_chain C4: the first result is the sum.
func.func @chain_yields(%x: tensor<8x4xbf16>, %w: tensor<16x4xbf16>, %v: tensor<4x16xbf16>) {
  // expected-error@+1 {{yields something else than the sum of the products behind its hybrid.fused, then results of hybrid.round}}
  %0 = hybrid.product_chain(%x, %w, %v) : (tensor<8x4xbf16>, tensor<16x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16> {
  ^bb0(%a: tensor<8x4xbf16>, %b: tensor<16x4xbf16>, %c: tensor<4x16xbf16>):
    %p = hybrid.linear %a, %b : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
    %f = hybrid.fused(%p) : (tensor<8x16xf32>) -> tensor<8x16xf32> {
    ^bb0(%e: tensor<8x16xf32>):
      hybrid.yield %e : tensor<8x16xf32>
    }
    %r = hybrid.round %f : tensor<8x16xf32> -> tensor<8x16xbf16>
    %q = hybrid.linear %r, %c : tensor<8x16xbf16>, tensor<4x16xbf16> -> tensor<8x4xf32>
    hybrid.yield %r : tensor<8x16xbf16>
  }
  return
}
