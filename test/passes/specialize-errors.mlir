// RUN: hybrid-opt %s --split-input-file --verify-diagnostics --hybrid-specialize='batch=2 length=8'
// RUN: not hybrid-opt %s --split-input-file --hybrid-specialize='length=0' 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: not hybrid-opt %s --split-input-file --hybrid-specialize='batch=-1' 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not hybrid-opt %s --split-input-file --hybrid-specialize='precision=f16' 2>&1 | FileCheck %s --check-prefix=PRECISION

// Sizes and precision are checked first.
// LENGTH: error: {{.*}}batch 1 and length 0: expected at least 1
// BATCH: error: {{.*}}batch -1 and length 128: expected at least 1
// PRECISION: error: {{.*}}precision 'f16' is not known: expected f32 or f64

// There is nothing to specialize.
// expected-error@+1 {{has no function @forward to specialize}}
module {
  func.func @backward() {
    return
  }
}

// -----

// A dimension of another name.
// expected-error@+1 {{free dimension 'N' has no size: only B (batch) and L (length) are bound when compiling}}
func.func @forward(%x: tensor<?x4xf32> {hybrid.dims = ["N", 4]}) {
  return
}

// -----

// The same in a shape attribute.
func.func @forward(%x: tensor<4xf32>) {
  // expected-error@+1 {{free dimension 'N' has no size: only B (batch) and L (length) are bound when compiling}}
  %0 = hybrid.broadcast %x to ["N", 4] : tensor<4xf32> -> tensor<?x4xf32>
  return
}

// -----

// A free dimension without a name.
// expected-error@+1 {{input 0 is 'tensor<?x4xf32>', but has no hybrid.dims to name its free dimensions}}
func.func @forward(%x: tensor<?x4xf32>) {
  return
}

// -----

// A shape that fits no longer once sizes are known.
func.func @forward(%x: tensor<?x?x4xf32> {hybrid.dims = ["B", "L", 4]}) -> tensor<?x3x4xf32> {
  // expected-error@+1 {{cannot make [2, 3, 4] of [2, 8, 4]: the number of elements differs}}
  %0 = hybrid.reshape %x to ["B", 3, 4] : tensor<?x?x4xf32> -> tensor<?x3x4xf32>
  return %0 : tensor<?x3x4xf32>
}

// -----

// A filter longer than the sequence.
func.func @forward(%x: tensor<?x?x4xf32> {hybrid.dims = ["B", "L", 4]}, %h: tensor<16x4xf32>) -> tensor<?x?x4xf32> {
  // expected-error@+1 {{filter has 16 taps, but x only 8 positions: cut it to the length}}
  %0 = hybrid.fftconv %x, %h : tensor<?x?x4xf32>, tensor<16x4xf32> -> tensor<?x?x4xf32>
  return %0 : tensor<?x?x4xf32>
}

// -----

// Types that disagree once they are known; the messages of type inference name the op.
func.func @forward(%x: tensor<?x?xf32> {hybrid.dims = ["B", "L"]}, %w: tensor<3x4xf32>) {
  // expected-error@+1 {{linear: weight takes 4 channels, but x is [2, 8]}}
  %0 = hybrid.linear %x, %w : tensor<?x?xf32>, tensor<3x4xf32> -> tensor<?x3xf32>
  return
}

// -----

// An initial value that would need data.
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hybrid.unary abs %x : tensor<4xf32>
  // expected-error@+1 {{initial value of 'w' depends on an input of the model, expected constants and random values only}}
  %w = hybrid.parameter "w" initial(%0 : tensor<4xf32>) : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

// An initial value that is data.
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{initial value of 'w' depends on an input of the model, expected constants and random values only}}
  %w = hybrid.parameter "w" initial(%x : tensor<4xf32>) : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

// Values of other kinds.
// expected-error@+1 {{has an argument of type 'f32', expected ranked tensors of numbers}}
func.func @forward(%x: f32) {
  return
}

// -----

// The same for values inside.
func.func @forward() {
  // expected-error@+1 {{has a result of type 'index', expected ranked tensors of numbers}}
  %0 = arith.constant 1 : index
  return
}

// -----

// A declaration.
// expected-error@+1 {{@forward has 0 blocks, expected a body of one}}
func.func private @forward(tensor<4xf32>)

// -----

// A table that is too short for the length.
func.func @forward(%x: tensor<?x?xf32> {hybrid.dims = ["B", "L"]}, %table: tensor<6x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{too long: L = 8 positions are taken of 6. Compile for a shorter length, or make this longer where it is declared (l_max, in the layers of the library)}}
  %0 = hybrid.slice %table from [0, 0] size ["L", 4] : tensor<6x4xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A part of the sequence that is longer than it.
func.func @forward(%x: tensor<?x?xf32> {hybrid.dims = ["B", "L"]}) -> tensor<?x2xf32> {
  // expected-error@+1 {{too short: 9 positions are needed, but there are 8. Compile for a longer length}}
  %0 = hybrid.slice %x from [0, -9] size ["B", 2] : tensor<?x?xf32> -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

// Nothing is left of it.
func.func @forward(%x: tensor<?x?xf32> {hybrid.dims = ["B", "L"]}) -> tensor<?x?xf32> {
  // expected-error@+1 {{too short: L - 8 is 0 here. Compile for a longer length}}
  %0 = hybrid.slice %x from [0, 8] size ["B", "L - 8"] : tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Elements are counted once sizes are known, of inputs,
module {
  // expected-error@+1 {{a tensor [2, 8, 1099511627776] is too large: more than 2^40 elements. Compile with a smaller --batch or --length}}
  func.func @forward(%x: tensor<?x?x1099511627776xf32> {hybrid.dims = ["B", "L", 1099511627776]}) {
    return
  }
}

// -----

// and of what is made of them.
module {
  func.func @forward(%x: tensor<?x4x1xf32> {hybrid.dims = ["L", 4, 1]}) -> tensor<?x?x4x34359738368xf32> {
    // expected-error@+1 {{a tensor [2, 8, 4, 34359738368] is too large: more than 2^40 elements}}
    %y = hybrid.broadcast %x to ["B", "L", 4, 34359738368] : tensor<?x4x1xf32> -> tensor<?x?x4x34359738368xf32>
    return %y : tensor<?x?x4x34359738368xf32>
  }
}

// -----

// Tensors have elements, in bodies as well, and not too many.
// expected-error@+1 {{has an argument of type 'tensor<0x4xf32>', expected at least one element}}
func.func @forward(%x: tensor<0x4xf32>) {
  return
}

// -----

func.func @forward(%x: tensor<2x4xf32>, %i: tensor<2x1xi32>, %w: tensor<2x1xf32>) {
  %y = hybrid.routed_experts %x to %i weighted %w among 2 : tensor<2x4xf32>, tensor<2x1xi32>, tensor<2x1xf32> -> tensor<2x4xf32> {
  ^bb0(%e: tensor<2x4xf32>):
    // expected-error@+1 {{has a result of type 'tensor<2x0xf32>', expected at least one element}}
    %p = hybrid.slice %e from [0, 0] size [2, 0] : tensor<2x4xf32> -> tensor<2x0xf32>
    hybrid.yield %e : tensor<2x4xf32>
  }
  return
}

// -----

// expected-error@+1 {{has an argument of type 'tensor<4194304x4194304xf32>', expected at most 2^40 elements}}
func.func @forward(%x: tensor<4194304x4194304xf32>) {
  return
}
