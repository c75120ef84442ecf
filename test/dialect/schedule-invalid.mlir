// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// program C3: what stands in a program before its arena is planned.
schedule.program @body {
  // expected-error@+1 {{is in a program, expected steps, buffers, views and outputs}}
  %0 = hybrid.constant 1.0 : tensor<f32>
}

// -----

// buffer C1: a buffer is dense.
schedule.program @strided {
  // expected-error@+1 {{is 'memref<4x8xf32, strided<[16, 1]>>', expected elements that lie densely}}
  %0 = schedule.buffer arena : memref<4x8xf32, strided<[16, 1]>>
}

// -----

// buffer C2: a temporary is no input.
schedule.program @ids {
  // expected-error@+1 {{has ids, expected an input of i32}}
  %0 = schedule.buffer arena ids<below 4> : memref<4x8xi32>
}

// -----

// view C1: a view ends inside of its buffer.
schedule.program @outside {
  %0 = schedule.buffer arena : memref<4x8xf32>
  // expected-error@+1 {{shows 'memref<4x8xf32, strided<[8, 1], offset: 1>>' of 'memref<4x8xf32>', expected a part of a buffer}}
  %1 = schedule.view %0 : memref<4x8xf32> as memref<4x8xf32, strided<[8, 1], offset: 1>>
}

// -----

// view C1, the type of its elements.
schedule.program @element {
  %0 = schedule.buffer arena : memref<4x8xf32>
  // expected-error@+1 {{expected a part of a buffer}}
  %1 = schedule.view %0 : memref<4x8xf32> as memref<4x8xi32>
}

// -----

// compute C1: one shape.
schedule.program @shapes {
  %0 = schedule.buffer arena : memref<4x8xf32>
  %1 = schedule.buffer arena : memref<4x4xf32>
  // expected-error@+1 {{has views of [4, 8] and [4, 4], expected one shape}}
  schedule.compute for "x" (%0) -> (%1) : (memref<4x8xf32>) -> memref<4x4xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    schedule.yield %a : tensor<4x8xf32>
  }
}

// -----

// compute C2: a value for each output.
schedule.program @yields {
  %0 = schedule.buffer arena : memref<4x8xf32>
  // expected-error@+1 {{has a region of 1 arguments, expected one of 1 that yields 1 values}}
  schedule.compute for "x" (%0) -> (%0) : (memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    schedule.yield
  }
}

// -----

// copy C1: one shape.
schedule.program @copies {
  %0 = schedule.buffer arena : memref<4x8xf32>
  %1 = schedule.buffer arena : memref<8x4xf32>
  // expected-error@+1 {{has views of [4, 8] and [8, 4], expected one shape}}
  schedule.copy for "x" %0 to %1 : memref<4x8xf32>, memref<8x4xf32>
}

// -----

// reduce C1: axes are dimensions.
schedule.program @axes {
  %0 = schedule.buffer arena : memref<4x8xf32>
  %1 = schedule.buffer arena : memref<4xf32>
  // expected-error@+1 {{reduces dimension 2 of 'memref<4x8xf32>'}}
  schedule.reduce sum for "x" (%0) over [2] to %1 : (memref<4x8xf32>) -> memref<4xf32>
}

// -----

// reduce C2: several inputs need a region.
schedule.program @loads {
  %0 = schedule.buffer arena : memref<4x8xf32>
  %1 = schedule.buffer arena : memref<4xf32>
  // expected-error@+1 {{reads 2 views without a region}}
  schedule.reduce sum for "x" (%0, %0) over [1] to %1 : (memref<4x8xf32>, memref<4x8xf32>) -> memref<4xf32>
}

// -----

// recurrence C1: whole groups of sequences.
schedule.program @sequences {
  %0 = schedule.buffer arena : memref<4x8x2xf32>
  %1 = schedule.buffer arena : memref<2x4xf32>
  // expected-error@+1 {{takes 3 of 4 sequences at once and keeps 1 states}}
  schedule.recurrence for "x" inputs(%0 : memref<4x8x2xf32>) rows(%0 : memref<4x8x2xf32>) frame(%1 : memref<2x4xf32>) batch 4 length 8 by 3 kept 1 step {
  ^bb0(%h: tensor<2xf32>, %x: tensor<2xf32>):
    schedule.yield %h, %x : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// recurrence C2: a step has results.
schedule.program @steps {
  %0 = schedule.buffer arena : memref<4x8x2xf32>
  %1 = schedule.buffer arena : memref<2x4xf32>
  // expected-error@+1 {{has a region that does not end in schedule.yield}}
  schedule.recurrence for "x" inputs(%0 : memref<4x8x2xf32>) rows(%0 : memref<4x8x2xf32>) frame(%1 : memref<2x4xf32>) batch 4 length 8 by 2 kept 1 step {
  ^bb0(%h: tensor<2xf32>, %x: tensor<2xf32>):
    %n = hybrid.binary add %h, %x : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// row_sums C1: a row of the result for each group of rows.
schedule.program @groups {
  %0 = schedule.buffer arena : memref<64x8xf32>
  %1 = schedule.buffer arena : memref<4x8xf32>
  // expected-error@+1 {{sums 8 rows each of 'memref<64x8xf32>' into 'memref<4x8xf32>'}}
  schedule.row_sums for "x" (%0) by 8 scale 1.0 to %1 : (memref<64x8xf32>) -> memref<4x8xf32>
}

// -----

// row_sums C2: the region takes the inputs.
schedule.program @rows {
  %0 = schedule.buffer arena : memref<64x8xf32>
  %1 = schedule.buffer arena : memref<4x8xf32>
  // expected-error@+1 {{has a region of 2 arguments, expected one of 1 that yields 1 values}}
  schedule.row_sums for "x" (%0) by 16 scale 1.0 to %1 : (memref<64x8xf32>) -> memref<4x8xf32> load {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<64x8xf32>):
    schedule.yield %a : tensor<64x8xf32>
  }
}

// -----

// launch C4: operands or places.
schedule.program @both {
  %0 = schedule.buffer arena : memref<4x8xf32>
  // expected-error@+1 {{has 1 operands and 1 places, expected one kind}}
  schedule.launch "x" for "x" grid 1 buffers [#schedule.buffer<arena, 0, 128>] (%0 : memref<4x8xf32>)
}

// -----

// launch C4, what is written.
schedule.program @writes {
  %0 = schedule.buffer arena : memref<4x8xf32>
  // expected-error@+1 {{writes operand 1 of 1}}
  schedule.launch "x" for "x" grid 1 (%0 : memref<4x8xf32>) {writes = array<i64: 1>}
}

// -----

// launch C5: a region for the store's buffers.
schedule.program @storing {
  %0 = schedule.buffer arena : memref<4x8xf32>
  // expected-error@+1 {{has a region for another store than one of 2 buffers}}
  schedule.launch "x" for "x" grid 1 (%0, %0 : memref<4x8xf32>, memref<4x8xf32>) {store_buffers = 2 : i64} storing {
  ^bb0(%v: tensor<4x8xf32>):
    schedule.yield %v : tensor<4x8xf32>
  }
}

// -----

// library_matmul C4: operands or places.
schedule.program @product {
  %0 = schedule.buffer arena : memref<1x1xf32>
  // expected-error@+1 {{has 1 operands and 3 places, expected one kind}}
  schedule.library_matmul 1 x 1 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>, #schedule.buffer<arena, 4, 4>, #schedule.buffer<arena, 8, 4>] (%0 : memref<1x1xf32>) {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64}
}

// -----

// library_fft C4: operands or places.
schedule.program @transform {
  %0 = schedule.buffer arena : memref<1x1xf32>
  // expected-error@+1 {{has 1 operands and 1 places, expected one kind}}
  schedule.library_fft 1 points x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>] (%0 : memref<1x1xf32>)
}

// -----

// library_fft C5: as many elements as the transform has.
schedule.program @transform {
  %0 = schedule.buffer arena : memref<15x2xf32>
  %1 = schedule.buffer arena : memref<7x2x2xf32>
  // expected-error@+1 {{has an operand 'memref<7x2x2xf32>', expected 32 elements of 'f32' that lie densely}}
  schedule.library_fft 15 points x 2 of f32 for "x" (%0, %1 : memref<15x2xf32>, memref<7x2x2xf32>)
}

// -----

// library_attention C5: operands or places.
schedule.program @attention {
  %0 = schedule.buffer arena : memref<1x1xf32>
  // expected-error@+1 {{has 1 operands and 1 places, expected one kind}}
  schedule.library_attention heads 1 kv_heads 1 of 8 batch 1 queries 8 keys 8 for "x" buffers [#schedule.buffer<arena, 0, 4>] (%0 : memref<1x1xf32>) {scale = 1.0 : f64, strides = array<i64>}
}
