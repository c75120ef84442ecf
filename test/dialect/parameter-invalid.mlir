// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// parameter C1: the shape is static.
func.func @parameter_free() {
  // expected-error@+1 {{'w' has a free dimension: 'tensor<?x4xf32>'}}
  %0 = hybrid.parameter "w" : tensor<?x4xf32>
  return
}

// -----

// parameter C2: the initial value has the parameter's type.
func.func @parameter_initial(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'w' is 'tensor<8x4xf32>', but its initial value is 'tensor<4x8xf32>'}}
  %0 = hybrid.parameter "w" initial(%x : tensor<4x8xf32>) : tensor<8x4xf32>
  return
}

// -----

// A parameter holds floating point values.
func.func @parameter_integer() {
  // expected-error@+1 {{result #0 must be ranked tensor of bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %0 = hybrid.parameter "w" : tensor<4xi32>
  return
}

// -----

// random C1: the shape is static.
func.func @random_free() {
  // expected-error@+1 {{has a free dimension: 'tensor<?xf32>', expected a static shape}}
  %0 = hybrid.random normal(0.0, 1.0) "w" : tensor<?xf32>
  return
}

// -----

// constant C1: the shape is static.
func.func @constant_free() {
  // expected-error@+1 {{has a free dimension: 'tensor<?xf32>', expected a static shape}}
  %0 = hybrid.constant 1.0 : tensor<?xf32>
  return
}

// -----

// iota C1: one length.
func.func @iota_lengths() {
  // expected-error@+2 {{iota: length has 2 entries, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.iota [4, 4] from 0.0 step 1.0 of f32 : tensor<4x4xf32>
  return
}

// -----

// iota C2: floating point elements.
func.func @iota_integers() {
  // expected-error@+2 {{iota: element type is 'i32', expected f32 or f64}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.iota [4] from 0.0 step 1.0 of i32 : tensor<4xf32>
  return
}

// -----

// embedding C1: the table is a matrix.
func.func @embedding_table(%table: tensor<16xf32>, %ids: tensor<2x8xi32>) {
  // expected-error@+2 {{embedding: table is [16], expected [classes, width]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.embedding %table, %ids : tensor<16xf32>, tensor<2x8xi32> -> tensor<2x8x16xf32>
  return
}

// -----

// The result type follows from the operands.
func.func @embedding_result(%table: tensor<16x4xf32>, %ids: tensor<2x8xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<2x8x4xf32>' are incompatible with return type(s) of operation 'tensor<2x8x16xf32>'}}
  %0 = hybrid.embedding %table, %ids : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x16xf32>
  return
}

// -----

// embedding_grad C1: one row of the cotangent for each id.
func.func @embedding_grad_rows(%ids: tensor<2x8xi32>, %dy: tensor<2x7x4xf32>) {
  // expected-error@+1 {{cotangent is [2, 7, 4], but ids are [2, 8]: expected their dimensions and one for the width}}
  %0 = hybrid.embedding_grad %ids, %dy classes 16 : tensor<2x8xi32>, tensor<2x7x4xf32> -> tensor<16x4xf32>
  return
}

// -----

// embedding_grad C1, with a scalar cotangent.
func.func @embedding_grad_scalar(%ids: tensor<i32>, %dy: tensor<f32>) {
  // expected-error@+1 {{cotangent is [], but ids are []: expected their dimensions and one for the width}}
  %0 = hybrid.embedding_grad %ids, %dy classes 16 : tensor<i32>, tensor<f32> -> tensor<16x1xf32>
  return
}

// -----

// embedding_grad C2: at least one class.
func.func @embedding_grad_classes(%ids: tensor<8xi32>, %dy: tensor<8x4xf32>) {
  // expected-error@+2 {{embedding_grad: classes = -1, expected at least 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.embedding_grad %ids, %dy classes -1 : tensor<8xi32>, tensor<8x4xf32> -> tensor<16x4xf32>
  return
}

// -----

// hybrid.name of an argument is a string.
// expected-error@+1 {{hybrid.name is 3 : i64, expected a string}}
func.func @name(%x: tensor<2xf32> {hybrid.name = 3 : i64}) {
  return
}

// -----

// hybrid.dims has an entry for each dimension.
// expected-error@+1 {{hybrid.dims is ["B"], expected a list of one size or name for each dimension of 'tensor<?x?xi32>'}}
func.func @dims_rank(%x: tensor<?x?xi32> {hybrid.dims = ["B"]}) {
  return
}

// -----

// hybrid.dims names the free dimensions only.
// expected-error@+1 {{hybrid.dims has "L" for dimension 1 of 'tensor<?x8xi32>': a name stands for a free dimension, an integer for a known size}}
func.func @dims_known(%x: tensor<?x8xi32> {hybrid.dims = ["B", "L"]}) {
  return
}

// -----

// hybrid.dims holds names and sizes only.
// expected-error@+1 {{hybrid.dims has 1.000000e+00 : f64 for dimension 0, expected an integer or a name}}
func.func @dims_float(%x: tensor<?xi32> {hybrid.dims = [1.0]}) {
  return
}

// -----

// hybrid.ids is a range.
// expected-error@+1 {{hybrid.ids is 16 : i64, expected a range as #hybrid.ids<below 16>}}
func.func @ids(%x: tensor<2xi32> {hybrid.ids = 16 : i64}) {
  return
}

// -----

// expected-error@+1 {{ids below 0 or 0, expected a bound of at least 1 and 32-bit integers}}
func.func @ids_bound(%x: tensor<2xi32> {hybrid.ids = #hybrid.ids<below 0>}) {
  return
}
