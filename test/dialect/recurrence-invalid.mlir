// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// recurrence C1: inputs are sequences of one batch and length.
func.func @f(%x: tensor<2x8x4xf32>, %z: tensor<2x7x4xf32>) {
  // expected-error@+1 {{an input is [2, 7, 4], expected [batch, length, ...] as the first, which is [2, 8, 4]}}
  %0 = hybrid.recurrence inputs(%x, %z : tensor<2x8x4xf32>, tensor<2x7x4xf32>) -> tensor<2x8x4xf32> step {
  ^bb0(%h: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>):
    hybrid.yield %a, %b : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence C2: the step sees a position.
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{operands are for a body of ('tensor<4xf32>', 'tensor<4xf32>'), but the body takes ('tensor<4xf32>', 'tensor<8xf32>')}}
  %0 = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) -> tensor<2x8x8xf32> step {
  ^bb0(%h: tensor<4xf32>, %a: tensor<8xf32>):
    hybrid.yield %h, %a : tensor<4xf32>, tensor<8xf32>
  }
  return
}

// -----

// recurrence C3: a state keeps its type.
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{results are of types ('tensor<2xf32>', 'tensor<4xf32>'), but the body yields ('tensor<4xf32>', 'tensor<4xf32>')}}
  %0 = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) -> tensor<2x8x4xf32> step {
  ^bb0(%h: tensor<2xf32>, %a: tensor<4xf32>):
    hybrid.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence C4: what a position can be computed with.
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{step holds 'hybrid.rmsnorm', expected elementwise ops, linear, matmul, reductions and what moves elements, of numbers and of known sizes}}
  %0 = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) -> tensor<2x8x4xf32> step {
  ^bb0(%h: tensor<4xf32>, %a: tensor<4xf32>):
    // expected-note@+1 {{the op is here}}
    %n = hybrid.rmsnorm %a : tensor<4xf32> -> tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence C5: ids of all positions.
func.func @f(%x: tensor<2x8x4xf32>, %s: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but the input is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) segments(%s : tensor<2x7xi32>) -> tensor<2x8x4xf32> step {
  ^bb0(%ha: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %ha, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence C6: a row of all states.
func.func @f(%x: tensor<2x8x4xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{initial_state is [2, 3], expected [2, 4] ([batch, elements of all states])}}
  %0 = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) initial_state(%s : tensor<2x3xf32>) -> tensor<2x8x4xf32> step {
  ^bb0(%ha: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %ha, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence_grad C1: inputs are sequences of one batch and length.
func.func @f(%x: tensor<2x8x4xf32>, %z: tensor<2x7x4xf32>) {
  // expected-error@+1 {{an input is [2, 7, 4], expected [batch, length, ...] as the first, which is [2, 8, 4]}}
  %0 = hybrid.recurrence_grad %x inputs(%x, %z : tensor<2x8x4xf32>, tensor<2x7x4xf32>) sums 0 : tensor<2x8x4xf32> -> tensor<2x8x4xf32> step {
  ^bb0(%h: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>):
    hybrid.yield %a, %b : tensor<4xf32>, tensor<4xf32>
  } gradient {
  ^bb0(%hb: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %dn: tensor<4xf32>, %dy: tensor<4xf32>):
    hybrid.yield %dn, %dn : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence_grad C2: the step sees a position.
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{operands are for a body of ('tensor<4xf32>', 'tensor<4xf32>'), but the body takes ('tensor<4xf32>', 'tensor<8xf32>')}}
  %0 = hybrid.recurrence_grad %x inputs(%x : tensor<2x8x4xf32>) sums 0 : tensor<2x8x4xf32> -> tensor<2x8x4xf32> step {
  ^bb0(%h: tensor<4xf32>, %a: tensor<8xf32>):
    hybrid.yield %h, %a : tensor<4xf32>, tensor<8xf32>
  } gradient {
  ^bb0(%hb: tensor<4xf32>, %xb: tensor<4xf32>, %dn: tensor<4xf32>, %dy: tensor<4xf32>):
    %d = hybrid.binary add %dn, %dy : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %d, %d : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence_grad C3: a state keeps its type.
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{results are of types ('tensor<2xf32>', 'tensor<4xf32>'), but the body yields ('tensor<4xf32>', 'tensor<4xf32>')}}
  %0 = hybrid.recurrence_grad %x inputs(%x : tensor<2x8x4xf32>) sums 0 : tensor<2x8x4xf32> -> tensor<2x8x4xf32> step {
  ^bb0(%h: tensor<2xf32>, %a: tensor<4xf32>):
    hybrid.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  } gradient {
  ^bb0(%hb: tensor<4xf32>, %xb: tensor<4xf32>, %dn: tensor<4xf32>, %dy: tensor<4xf32>):
    %d = hybrid.binary add %dn, %dy : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %d, %d : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence_grad C4: what a position can be computed with.
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{step holds 'hybrid.rmsnorm', expected elementwise ops, linear, matmul, reductions and what moves elements, of numbers and of known sizes}}
  %0 = hybrid.recurrence_grad %x inputs(%x : tensor<2x8x4xf32>) sums 0 : tensor<2x8x4xf32> -> tensor<2x8x4xf32> step {
  ^bb0(%ha: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %ha, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } gradient {
  ^bb0(%hb: tensor<4xf32>, %xb: tensor<4xf32>, %dn: tensor<4xf32>, %dy: tensor<4xf32>):
    // expected-note@+1 {{the op is here}}
    %d = hybrid.rmsnorm %dn : tensor<4xf32> -> tensor<4xf32>
    hybrid.yield %d, %d : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence_grad C5: ids of all positions.
func.func @f(%x: tensor<2x8x4xf32>, %s: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but the input is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.recurrence_grad %x inputs(%x : tensor<2x8x4xf32>) segments(%s : tensor<2x7xi32>) sums 0 : tensor<2x8x4xf32> -> tensor<2x8x4xf32> step {
  ^bb0(%ha: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %ha, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } gradient {
  ^bb0(%hb: tensor<4xf32>, %xb: tensor<4xf32>, %dn: tensor<4xf32>, %dy: tensor<4xf32>):
    %d = hybrid.binary add %dn, %dy : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %d, %d : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence_grad C6: a row of all states.
func.func @f(%x: tensor<2x8x4xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{state_cotangent is [2, 3], expected [2, 4] ([batch, elements of all states])}}
  %0 = hybrid.recurrence_grad %x inputs(%x : tensor<2x8x4xf32>) state_cotangent(%s : tensor<2x3xf32>) sums 0 : tensor<2x8x4xf32> -> tensor<2x8x4xf32> step {
  ^bb0(%ha: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %ha, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } gradient {
  ^bb0(%hb: tensor<4xf32>, %xb: tensor<4xf32>, %dn: tensor<4xf32>, %dy: tensor<4xf32>):
    %d = hybrid.binary add %dn, %dy : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %d, %d : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence_grad C7: the cotangent is that of the result.
func.func @f(%x: tensor<2x8x4xf32>, %c: tensor<2x8x5xf32>) {
  // expected-error@+1 {{cotangent is 'tensor<2x8x5xf32>', expected 'tensor<2x8x4xf32>'}}
  %0 = hybrid.recurrence_grad %c inputs(%x : tensor<2x8x4xf32>) sums 0 : tensor<2x8x5xf32> -> tensor<2x8x4xf32> step {
  ^bb0(%ha: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %ha, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } gradient {
  ^bb0(%hb: tensor<4xf32>, %xb: tensor<4xf32>, %dn: tensor<4xf32>, %dy: tensor<4xf32>):
    %d = hybrid.binary add %dn, %dy : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %d, %d : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// recurrence_grad C8: gradients of the states come first.
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{gradient takes ('tensor<4xf32>', 'tensor<4xf32>', 'tensor<4xf32>') and yields ('tensor<4xf32>', 'tensor<4xf32>'), expected ('tensor<4xf32>', 'tensor<4xf32>', 'tensor<4xf32>', 'tensor<4xf32>') and first ('tensor<4xf32>')}}
  %0 = hybrid.recurrence_grad %x inputs(%x : tensor<2x8x4xf32>) sums 0 : tensor<2x8x4xf32> -> tensor<2x8x4xf32> step {
  ^bb0(%ha: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %ha, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } gradient {
  ^bb0(%hb: tensor<4xf32>, %dn: tensor<4xf32>, %dy: tensor<4xf32>):
    hybrid.yield %dn, %dy : tensor<4xf32>, tensor<4xf32>
  }
  return
}
