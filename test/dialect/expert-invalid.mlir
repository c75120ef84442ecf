// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// top_k C1: there is a dimension.
func.func @f(%x: tensor<f32>) {
  // expected-error@+2 {{x is a single number}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "hybrid.top_k"(%x) {k = 1 : i64} : (tensor<f32>) -> tensor<1xi32>
  return
}

// -----

// top_k C2: k is within the dimension.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+2 {{k = 5, but x is [2, 4]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.top_k %x of 5 : tensor<2x4xf32> -> tensor<2x5xi32>
  return
}

// -----

// top_k C2: at least one.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+2 {{k = 0, but x is [2, 4]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.top_k %x of 0 : tensor<2x4xf32> -> tensor<2x0xi32>
  return
}

// -----

// top_k C2: places are 32 bits.
func.func @f(%x: tensor<2x4294967296xf32>) {
  // expected-error@+2 {{top_k: x is [2, 4294967296], but places reach 2^31 - 1 values only}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.top_k %x of 1 : tensor<2x4294967296xf32> -> tensor<2x1xi32>
  return
}

// -----

// take C1: leading dimensions.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+2 {{x is [2, 4] and indices [3, 1]: expected equal sizes but the last}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.take %x at %i : tensor<2x4xf32>, tensor<3x1xi32> -> tensor<3x1xf32>
  return
}

// -----

// take C2: indices are 32 bits.
func.func @f(%x: tensor<2x4294967296xf32>, %i: tensor<2x1xi32>) {
  // expected-error@+2 {{take: x is [2, 4294967296], but indices reach 2^31 - 1 values only}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.take %x at %i : tensor<2x4294967296xf32>, tensor<2x1xi32> -> tensor<2x1xf32>
  return
}

// -----

// scatter C1: one shape.
func.func @f(%x: tensor<2x2xf32>, %i: tensor<2x1xi32>) {
  // expected-error@+2 {{x is [2, 2] and indices [2, 1]: expected the same shape}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.scatter %x at %i into 4 : tensor<2x2xf32>, tensor<2x1xi32> -> tensor<2x4xf32>
  return
}

// -----

// scatter C2: a size.
func.func @f(%x: tensor<2x2xf32>, %i: tensor<2x2xi32>) {
  // expected-error@+2 {{size = 0, expected 1 to 2^31 - 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.scatter %x at %i into 0 : tensor<2x2xf32>, tensor<2x2xi32> -> tensor<2x0xf32>
  return
}

// -----

// route C1: there is a dimension.
func.func @f(%i: tensor<i32>) {
  // expected-error@+2 {{choices is a single number}}
  // expected-error@+1 {{failed to infer returned types}}
  %0, %1 = hybrid.route %i among 4 : tensor<i32> -> tensor<i32>, tensor<5xi32>
  return
}

// -----

// route C2: an expert.
func.func @f(%i: tensor<4xi32>) {
  // expected-error@+2 {{experts = 0, expected 1 to 2^31 - 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0, %1 = hybrid.route %i among 0 : tensor<4xi32> -> tensor<4xi32>, tensor<1xi32>
  return
}

// -----

// route C3: a capacity.
func.func @f(%i: tensor<4xi32>) {
  // expected-error@+1 {{capacity_factor = -1, expected at least 0}}
  %0, %1 = hybrid.route %i among 2 {capacity_factor = -1.0 : f64} : tensor<4xi32> -> tensor<4xi32>, tensor<3xi32>
  return
}

// -----

// dispatch C1: a slot a row.
func.func @f(%x: tensor<2x3x4xf32>, %s: tensor<2x2xi32>) {
  // expected-error@+2 {{x is [2, 3, 4] and slots [2, 2]: expected a slot for every row of x}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.dispatch %x by %s : tensor<2x3x4xf32>, tensor<2x2xi32> -> tensor<2x3x4xf32>
  return
}

// -----

// collect C1: a slot a row.
func.func @f(%x: tensor<2x3x4xf32>, %s: tensor<6xi32>) {
  // expected-error@+2 {{x is [2, 3, 4] and slots [6]: expected a slot for every row of x}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.collect %x by %s : tensor<2x3x4xf32>, tensor<6xi32> -> tensor<2x3x4xf32>
  return
}

// -----

// grouped_linear C1: channels.
func.func @f(%x: tensor<2x3xf32>, %w: tensor<4x8x5xf32>, %o: tensor<5xi32>) {
  // expected-error@+2 {{weight takes 5 channels, but x is [2, 3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.grouped_linear %x, %w, %o : tensor<2x3xf32>, tensor<4x8x5xf32>, tensor<5xi32> -> tensor<2x8xf32>
  return
}

// -----

// grouped_linear C1: rows.
func.func @f(%x: tensor<5xf32>, %w: tensor<4x8x5xf32>, %o: tensor<5xi32>) {
  // expected-error@+2 {{weight takes 5 channels, but x is [5]: expected [..., 5]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.grouped_linear %x, %w, %o : tensor<5xf32>, tensor<4x8x5xf32>, tensor<5xi32> -> tensor<8xf32>
  return
}

// -----

// grouped_linear C2: a weight an expert.
func.func @f(%x: tensor<2x3xf32>, %w: tensor<8x3xf32>, %o: tensor<5xi32>) {
  // expected-error@+1 {{weight is [8, 3], expected [experts, out, in]}}
  %0 = hybrid.grouped_linear %x, %w, %o : tensor<2x3xf32>, tensor<8x3xf32>, tensor<5xi32> -> tensor<2x8xf32>
  return
}

// -----

// grouped_linear C3: offsets.
func.func @f(%x: tensor<2x3xf32>, %w: tensor<4x8x3xf32>, %o: tensor<4xi32>) {
  // expected-error@+1 {{offsets is [4], but there are 4 experts: expected [5]}}
  %0 = hybrid.grouped_linear %x, %w, %o : tensor<2x3xf32>, tensor<4x8x3xf32>, tensor<4xi32> -> tensor<2x8xf32>
  return
}

// -----

// grouped_linear_grad C1: leading dimensions.
func.func @f(%x: tensor<2x3xf32>, %dy: tensor<4x8xf32>, %o: tensor<5xi32>) {
  // expected-error@+2 {{x is [2, 3] and the cotangent [4, 8]: expected equal sizes but the last}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.grouped_linear_grad %x, %dy, %o : tensor<2x3xf32>, tensor<4x8xf32>, tensor<5xi32> -> tensor<4x8x3xf32>
  return
}

// -----

// grouped_linear_grad C2: offsets.
func.func @f(%x: tensor<2x3xf32>, %dy: tensor<2x8xf32>, %o: tensor<1xi32>) {
  // expected-error@+2 {{offsets is [1], expected one more element than there are experts}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.grouped_linear_grad %x, %dy, %o : tensor<2x3xf32>, tensor<2x8xf32>, tensor<1xi32> -> tensor<0x8x3xf32>
  return
}

// -----

// routed_experts C1: x has channels.
func.func @f(%x: tensor<f32>, %i: tensor<2xi32>, %w: tensor<2xf32>) {
  // expected-error@+1 {{x is a single number, expected [..., channels]}}
  %0 = hybrid.routed_experts %x to %i weighted %w among 4 : tensor<f32>, tensor<2xi32>, tensor<2xf32> -> tensor<f32> {
  ^bb0(%e: tensor<f32>):
    hybrid.yield %e : tensor<f32>
  }
  return
}

// -----

// routed_experts C2: choices of each token.
func.func @f(%x: tensor<2x8x4xf32>, %i: tensor<2x7x2xi32>, %w: tensor<2x7x2xf32>) {
  // expected-error@+1 {{choices is [2, 7, 2], but x is [2, 8, 4]: expected its leading dimensions and the choices of a token}}
  %0 = hybrid.routed_experts %x to %i weighted %w among 4 : tensor<2x8x4xf32>, tensor<2x7x2xi32>, tensor<2x7x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    hybrid.yield %e : tensor<2x8x4xf32>
  }
  return
}

// -----

// routed_experts C3: a weight for each choice.
func.func @f(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x3xf32>) {
  // expected-error@+1 {{weights is [2, 8, 3], but choices is [2, 8, 2]: expected equal shapes}}
  %0 = hybrid.routed_experts %x to %i weighted %w among 4 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    hybrid.yield %e : tensor<2x8x4xf32>
  }
  return
}

// -----

// routed_experts C4: there are experts.
func.func @f(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>) {
  // expected-error@+1 {{experts = 0, expected at least 1}}
  %0 = hybrid.routed_experts %x to %i weighted %w among 0 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    hybrid.yield %e : tensor<2x8x4xf32>
  }
  return
}

// -----

// routed_experts C4: what is their own has them as first dimension.
func.func @f(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>, %o: tensor<3x4xf32>) {
  // expected-error@+1 {{an own tensor is [3, 4], but there are 4 experts: expected them as its first dimension}}
  %0 = hybrid.routed_experts %x to %i weighted %w own(%o : tensor<3x4xf32>) among 4 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>, %a: tensor<4xf32>):
    hybrid.yield %e : tensor<2x8x4xf32>
  }
  return
}

// -----

// routed_experts C4: and so has a dimension.
func.func @f(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>, %o: tensor<f32>) {
  // expected-error@+1 {{an own tensor is [], but there are 4 experts: expected them as its first dimension}}
  %0 = hybrid.routed_experts %x to %i weighted %w own(%o : tensor<f32>) among 4 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>, %a: tensor<f32>):
    hybrid.yield %e : tensor<2x8x4xf32>
  }
  return
}

// -----

// routed_experts C5: the body takes a part of it.
func.func @f(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>, %o: tensor<4x4xf32>) {
  // expected-error@+1 {{operands are for a body of ('tensor<2x8x4xf32>', 'tensor<4xf32>'), but the body takes ('tensor<2x8x4xf32>', 'tensor<4x4xf32>')}}
  %0 = hybrid.routed_experts %x to %i weighted %w own(%o : tensor<4x4xf32>) among 4 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>, %a: tensor<4x4xf32>):
    hybrid.yield %e : tensor<2x8x4xf32>
  }
  return
}

// -----

// routed_experts C6: one value.
func.func @f(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>) {
  // expected-error@+1 {{results are of types ('tensor<2x8x4xf32>'), but the body yields ('tensor<2x8x4xf32>', 'tensor<2x8x4xf32>')}}
  %0 = hybrid.routed_experts %x to %i weighted %w among 4 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    hybrid.yield %e, %e : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  }
  return
}

// -----

// routed_experts C6: of each token.
func.func @f(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>, %v: tensor<4xf32>) {
  // expected-error@+1 {{the body yields [4], but x is [2, 8, 4]: expected its leading dimensions}}
  %0 = hybrid.routed_experts %x to %i weighted %w among 4 : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    hybrid.yield %v : tensor<4xf32>
  }
  return
}

// -----

// routed_experts C7: a limit or none.
func.func @f(%x: tensor<2x8x4xf32>, %i: tensor<2x8x2xi32>, %w: tensor<2x8x2xf32>) {
  // expected-error@+1 {{capacity_factor = -1.000000e+00, expected at least 0 (0: no limit)}}
  %0 = hybrid.routed_experts %x to %i weighted %w among 4 {capacity_factor = -1.0 : f64} : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    hybrid.yield %e : tensor<2x8x4xf32>
  }
  return
}
