// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// program C1: an arena has a size.
// expected-error@+1 {{has an arena of -64 bytes}}
schedule.program @arena arena -64 inputs [] outputs [] {
}

// -----

// program C2: launches, library calls and loops over tiles only.
schedule.program @body arena 64 inputs [] outputs [] {
  // expected-error@+1 {{is in a program, expected launches, library calls, steps over ranks and loops over tiles only}}
  %0 = hybrid.constant 1.0 : tensor<f32>
}

// -----

// program C2: buffers end inside the arena.
schedule.program @outside arena 128 inputs [] outputs [] {
  // expected-error@+1 {{uses 128 bytes at offset 64, but the arena has 128 bytes}}
  schedule.launch "copy" for "x" grid 1 buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 128>]
}

// -----

// program C2, with an end that would overflow.
schedule.program @overflow arena 128 inputs [] outputs [] {
  // expected-error@+1 {{uses 64 bytes at offset 9223372036854775807, but the arena has 128 bytes}}
  schedule.launch "copy" for "x" grid 1 buffers [#schedule.buffer<arena, 9223372036854775807, 64>]
}

// -----

// launch C1: work items are counted.
func.func @grid() {
  // expected-error@+1 {{has a grid of -1, 0 bytes of scratch and 0 items a tile: none can be negative}}
  schedule.launch "copy" for "x" grid -1 buffers []
  return
}

// -----

// Buffers are places in a space.
func.func @buffers() {
  // expected-error@+1 {{attribute 'buffers' failed to satisfy constraint: buffers}}
  schedule.launch "copy" for "x" grid 1 buffers ["arena"]
  return
}

// -----

// A buffer starts inside its space.
func.func @negative() {
  // expected-error@+1 {{buffer at offset -8 with 64 bytes: neither can be negative}}
  schedule.launch "copy" for "x" grid 1 buffers [#schedule.buffer<arena, -8, 64>]
  return
}

// -----

// library_matmul C1: a, b and c.
func.func @two() {
  // expected-error@+1 {{has 2 buffers, expected a, b, c and optionally bias}}
  schedule.library_matmul 1 x 1 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>, #schedule.buffer<arena, 4, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64}
  return
}

// -----

// library_matmul C2: sizes.
func.func @sizes() {
  // expected-error@+1 {{multiplies 1 x -2 x 1: sizes cannot be negative}}
  schedule.library_matmul 1 x -2 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>, #schedule.buffer<arena, 4, 4>, #schedule.buffer<arena, 8, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64}
  return
}

// -----

// library_matmul C2: groups.
func.func @groups() {
  // expected-error@+1 {{has -1 groups, expected none or some}}
  schedule.library_matmul 1 x 2 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>, #schedule.buffer<arena, 4, 4>, #schedule.buffer<arena, 8, 4>, #schedule.buffer<arena, 12, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, groups = -1 : i64}
  return
}

// -----

// library_matmul C5: how far the matrices of a batch are apart.
func.func @batch_strides() {
  // expected-error@+1 {{is 2 products with strides [1, -1, 1], expected 3, none negative, of more than one}}
  schedule.library_matmul 1 x 1 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 8>, #schedule.buffer<arena, 8, 8>, #schedule.buffer<arena, 16, 8>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, batch = 2 : i64, batch_strides = array<i64: 1, -1, 1>}
  return
}

// -----

// library_matmul C5: a batch is of plain products.
func.func @batch_bias() {
  // expected-error@+1 {{is a batch, and has groups, tiles, a bias or an addend}}
  schedule.library_matmul 1 x 1 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 8>, #schedule.buffer<arena, 8, 8>, #schedule.buffer<arena, 16, 8>, #schedule.buffer<arena, 24, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, batch = 2 : i64, batch_strides = array<i64: 1, 1, 1>}
  return
}

// -----

// library_matmul C6: sums are rounded of bf16 alone, and when all of them is there.
func.func @rounds_f32() {
  // expected-error@+1 {{rounds its result, expected a product of bf16 that is not added to anything}}
  schedule.library_matmul 1 x 1 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>, #schedule.buffer<arena, 4, 4>, #schedule.buffer<arena, 8, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, rounds_result}
  return
}

// -----

func.func @rounds_sum() {
  // expected-error@+1 {{rounds its result, expected a product of bf16 that is not added to anything}}
  schedule.library_matmul 1 x 1 x 1 of bf16 for "x" buffers [#schedule.buffer<arena, 0, 2>, #schedule.buffer<arena, 4, 2>, #schedule.buffer<arena, 8, 2>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, rounds_result, accumulate}
  return
}

// -----

// library_matmul C1: the addend has a buffer.
func.func @addend_buffer() {
  // expected-error@+1 {{has 3 buffers, expected a, b, c and optionally bias, then the addend}}
  schedule.library_matmul 1 x 1 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>, #schedule.buffer<arena, 4, 4>, #schedule.buffer<arena, 8, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, ld_addend = 1 : i64}
  return
}

// -----

// library_matmul C2: rows of the addend.
func.func @addend_rows() {
  // expected-error@+1 {{has an addend whose rows are -1 apart}}
  schedule.library_matmul 1 x 1 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>, #schedule.buffer<arena, 4, 4>, #schedule.buffer<arena, 8, 4>, #schedule.buffer<arena, 12, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, ld_addend = -1 : i64}
  return
}

// -----

// library_matmul C3: one place to add to.
func.func @addend_place() {
  // expected-error@+1 {{has an addend, and groups or another place that it accumulates in}}
  schedule.library_matmul 1 x 1 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>, #schedule.buffer<arena, 4, 4>, #schedule.buffer<arena, 8, 4>, #schedule.buffer<arena, 12, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, ld_addend = 1 : i64, accumulate}
  return
}

// -----

// library_matmul C1: groups need their offsets.
func.func @offsets() {
  // expected-error@+1 {{has 3 buffers, expected a, b, c and offsets}}
  schedule.library_matmul 1 x 2 x 1 of f32 for "x" buffers [#schedule.buffer<arena, 0, 4>, #schedule.buffer<arena, 4, 4>, #schedule.buffer<arena, 8, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, groups = 2 : i64}
  return
}

// -----

// launch C2: the distance of rows of every buffer, or of none.
func.func @row_bytes() {
  // expected-error@+1 {{has row_bytes for 1 of its 2 buffers}}
  schedule.launch "copy" for "x" grid 1 buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<tile, 0, 64>] {row_bytes = array<i64: 0>}
  return
}

// -----

// program C2, inside of a loop.
schedule.program @loop_outside arena 64 inputs [] outputs [] {
  schedule.tile_loop 8 by 4 for "x" {
    // expected-error@+1 {{uses 128 bytes at offset 0, but the arena has 64 bytes}}
    schedule.launch "copy" for "x" grid 8 buffers [#schedule.buffer<arena, 0, 128>] {items_per_tile = 4 : i64}
  }
}

// -----

// tile_loop C1: a tile is a part of the rows.
func.func @tile() {
  // expected-error@+1 {{has tiles of 9 rows of 8 in 0 bytes}}
  schedule.tile_loop 8 by 9 for "x" {
  }
  return
}

// -----

// tile_loop C2: every step says what belongs to a tile.
func.func @uncut() {
  schedule.tile_loop 8 by 4 for "x" {
    // expected-error@+1 {{is in a loop over tiles, but does not say how it is cut}}
    schedule.launch "copy" for "x" grid 8 buffers [#schedule.buffer<arena, 0, 128>]
  }
  return
}

// -----

// tile_loop C2: buffers of a tile end inside it.
func.func @tile_buffer() {
  schedule.tile_loop 8 by 4 for "x" attributes {tile_bytes = 64 : i64} {
    // expected-error@+1 {{uses 64 bytes at offset 16, but a tile has 64 bytes}}
    schedule.launch "copy" for "x" grid 8 buffers [#schedule.buffer<tile, 16, 64>] {items_per_tile = 4 : i64, row_bytes = array<i64: 16>}
  }
  return
}

// -----

// tile_loop C3: a sum grows tile after tile.
func.func @parallel_sum() {
  schedule.tile_loop 8 by 4 for "x" {
    // expected-error@+1 {{sums over tiles that run in parallel}}
    schedule.library_matmul 4 x 4 x 8 of f32 for "x" buffers [#schedule.buffer<arena, 0, 128>, #schedule.buffer<arena, 128, 128>, #schedule.buffer<arena, 256, 64>] {lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, transpose_a, tile_sum}
  }
  return
}

// -----

// launch C3: where the store goes is among the buffers.
schedule.program @forward arena 64 inputs [] outputs [] {
  // expected-error@+1 {{stores to 2 of its 1 buffers}}
  schedule.launch "rmsnormForward" for "rmsnorm" grid 1 buffers [#schedule.buffer<arena, 0, 64>] {store_buffers = 2 : i64}
}

// -----

// library_attention C1: room for the gradients.
func.func @few_buffers() {
  // expected-error@+1 {{has 5 buffers, expected 10}}
  schedule.library_attention heads 1 kv_heads 1 of 8 batch 1 queries 4 keys 4 for "x" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>, #schedule.buffer<arena, 128, 64>, #schedule.buffer<arena, 192, 64>, #schedule.buffer<arena, 256, 64>] {backward, scale = 1.0 : f64, strides = array<i64: 32, 8, 8, 32, 8, 8, 32, 8, 8, 32, 8, 8>}
  return
}

// -----

// library_attention C2: sizes.
func.func @no_batch() {
  // expected-error@+1 {{has a size of 0, expected positive sizes}}
  schedule.library_attention heads 1 kv_heads 1 of 8 batch 0 queries 4 keys 4 for "x" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>, #schedule.buffer<arena, 128, 64>, #schedule.buffer<arena, 192, 64>, #schedule.buffer<arena, 256, 64>] {scale = 1.0 : f64, strides = array<i64: 32, 8, 8, 32, 8, 8, 32, 8, 8, 32, 8, 8>}
  return
}

// -----

// library_attention C2: heads share keys evenly.
func.func @uneven_heads() {
  // expected-error@+1 {{has 3 heads, no multiple of its 2 heads of keys}}
  schedule.library_attention heads 3 kv_heads 2 of 8 batch 1 queries 4 keys 4 for "x" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>, #schedule.buffer<arena, 128, 64>, #schedule.buffer<arena, 192, 64>, #schedule.buffer<arena, 256, 64>] {scale = 1.0 : f64, strides = array<i64: 32, 8, 8, 32, 8, 8, 32, 8, 8, 32, 8, 8>}
  return
}

// -----

// library_attention C3: three strides a tensor.
func.func @few_strides() {
  // expected-error@+1 {{has strides [32, 8, 8], expected 3 for each of 4 tensors, none negative}}
  schedule.library_attention heads 1 kv_heads 1 of 8 batch 1 queries 4 keys 4 for "x" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>, #schedule.buffer<arena, 128, 64>, #schedule.buffer<arena, 192, 64>, #schedule.buffer<arena, 256, 64>] {scale = 1.0 : f64, strides = array<i64: 32, 8, 8>}
  return
}

// -----

// library_attention C4: a causal mask is square.
func.func @more_keys() {
  // expected-error@+1 {{is causal, but has 4 queries for 5 keys}}
  schedule.library_attention heads 1 kv_heads 1 of 8 batch 1 queries 4 keys 5 for "x" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>, #schedule.buffer<arena, 128, 64>, #schedule.buffer<arena, 192, 64>, #schedule.buffer<arena, 256, 64>] {causal, scale = 1.0 : f64, strides = array<i64: 32, 8, 8, 32, 8, 8, 32, 8, 8, 32, 8, 8>}
  return
}

// -----

// library_fft C1: real numbers and a spectrum.
func.func @no_spectrum() {
  // expected-error@+1 {{has 1 buffers, expected real numbers and a spectrum}}
  schedule.library_fft 15 points x 2 of f32 for "x" buffers [#schedule.buffer<arena, 0, 120>]
  return
}

// -----

// library_fft C2: sizes.
func.func @no_points() {
  // expected-error@+1 {{has 0 points and 2 signals, expected positive sizes}}
  schedule.library_fft 0 points x 2 of f32 for "x" buffers [#schedule.buffer<arena, 0, 120>, #schedule.buffer<arena, 128, 128>]
  return
}

// -----

// library_fft C3: types that the library has.
func.func @integers_transformed() {
  // expected-error@+1 {{is of 'i32', expected f32 or f64}}
  schedule.library_fft 15 points x 2 of i32 for "x" buffers [#schedule.buffer<arena, 0, 120>, #schedule.buffer<arena, 128, 128>]
  return
}

// -----

// all_reduce C1: elements.
func.func @integers() {
  // expected-error@+1 {{reduces elements of 'i32', expected f32 or f64}}
  schedule.all_reduce i32 as i32 for "x" buffers [#schedule.buffer<gradients, 0, 64>]
  return
}

// -----

// all_reduce C1: how they are sent.
func.func @wide() {
  // expected-error@+1 {{sends 'f32' as 'f64', expected 'f32' or bf16}}
  schedule.all_reduce f32 as f64 for "x" buffers [#schedule.buffer<gradients, 0, 64>]
  return
}

// -----

// all_reduce C2: something to reduce.
func.func @only_a_weight() {
  // expected-error@+1 {{has 1 buffers, expected something to reduce and a weight}}
  schedule.all_reduce f32 as f32 for "x" buffers [#schedule.buffer<arena, 0, 4>] {mean}
  return
}

// -----

// all_reduce C2: one weight.
func.func @two_weights() {
  // expected-error@+1 {{has a buffer of 8 bytes, expected one element of 'f32'}}
  schedule.all_reduce f32 as f32 for "x" buffers [#schedule.buffer<gradients, 0, 64>, #schedule.buffer<arena, 0, 8>] {mean}
  return
}

// -----

// all_reduce C2: whole elements.
func.func @half_an_element() {
  // expected-error@+1 {{has a buffer of 6 bytes, expected whole elements of 'f32'}}
  schedule.all_reduce f32 as f32 for "x" buffers [#schedule.buffer<gradients, 0, 6>]
  return
}

// -----

// all_reduce C3: of its type.
schedule.program @other_type {
  %g = schedule.buffer gradients at 0 : memref<8xf64>
  // expected-error@+1 {{reduces 'memref<8xf64>', expected dense elements of 'f32'}}
  schedule.all_reduce f32 as f32 for "x" (%g : memref<8xf64>)
}

// -----

// await C1: operands or places.
schedule.program @both_kinds {
  %g = schedule.buffer gradients at 0 : memref<8xf32>
  // expected-error@+1 {{has 1 operands and 1 places, expected one kind}}
  schedule.await for "x" buffers [#schedule.buffer<gradients, 0, 32>] (%g : memref<8xf32>)
}

// -----

// all_reduce C4: a mean of what is weighted.
func.func @weighted_sum() {
  // expected-error@+1 {{is weighted, but no mean}}
  schedule.all_reduce f32 as f32 for "x" buffers [#schedule.buffer<gradients, 0, 64>] {weighted}
  return
}

// -----

// all_reduce C4: a mean of what is scaled.
func.func @scaled_mean() {
  // expected-error@+1 {{is scaled, and a mean}}
  schedule.all_reduce f32 as f32 for "x" buffers [#schedule.buffer<gradients, 0, 64>, #schedule.buffer<arena, 0, 4>] {mean, scaled}
  return
}

// -----

// all_reduce C2: a factor.
func.func @no_factor() {
  // expected-error@+1 {{has 1 buffers, expected something to reduce and a weight}}
  schedule.all_reduce f32 as f32 for "x" buffers [#schedule.buffer<gradients, 0, 64>] {scaled}
  return
}

// -----

// all_reduce C5: owners of gradients.
func.func @owners() {
  // expected-error@+1 {{to owners, expected gradients}}
  schedule.all_reduce f32 as f32 for "x" buffers [#schedule.buffer<arena, 0, 64>] {to_owners}
  return
}

// -----

// all_reduce C5: what all get is kept.
func.func @released() {
  // expected-error@+1 {{releases what is not reduced to owners}}
  schedule.all_reduce f32 as f32 for "x" buffers [#schedule.buffer<gradients, 0, 64>] {release}
  return
}

// -----

// all_gather C1: something.
func.func @nothing() {
  // expected-error@+1 {{has no buffers, expected parameters}}
  schedule.all_gather for "x"
  return
}

// -----

// all_gather C2: of parameters.
func.func @gathered_moments() {
  // expected-error@+1 {{expected parameters}}
  schedule.all_gather for "x" buffers [#schedule.buffer<moment1, 0, 64>]
  return
}

// -----

// release C1: something.
func.func @nothing_to_release() {
  // expected-error@+1 {{has no buffers, expected parameters}}
  schedule.release for "x"
  return
}

// -----

// release C2: of parameters.
func.func @moments() {
  // expected-error@+1 {{expected parameters}}
  schedule.release for "x" buffers [#schedule.buffer<moment1, 0, 64>]
  return
}

// -----

// launch C6: spans begin with the first item.
func.func @spans() {
  // expected-error@+1 {{has a span from item 1 at byte 0 of 64 bytes an item}}
  schedule.launch "adamw" for "adamw" grid 2 buffers [#schedule.buffer<parameters, 0, 128>] {item_spans = array<i64: 1, 0, 64>}
  return
}

// -----

// launch C6: of three numbers.
func.func @pairs() {
  // expected-error@+1 {{has 2 numbers in item_spans, expected threes}}
  schedule.launch "adamw" for "adamw" grid 2 buffers [#schedule.buffer<parameters, 0, 128>] {item_spans = array<i64: 0, 0>}
  return
}

// -----

// launch C7: activations are among the buffers.
func.func @activations() {
  // expected-error@+1 {{has activations in buffer 1 of 1}}
  schedule.launch "short_conv" for "short_conv" grid 2 buffers [#schedule.buffer<arena, 0, 128>] {rounded = array<i64: 1>}
  return
}

// -----

// launch C8: what rows are a function of is among the buffers.
func.func @row_operand() {
  // expected-error@+1 {{is a function of rows of buffer 1 of 1}}
  schedule.launch "rmsnorm" for "rmsnorm" grid 2 buffers [#schedule.buffer<arena, 0, 128>] {row_operand = 1 : i64}
  return
}

// -----

// launch C8: and so is what a function of rows takes besides.
func.func @row_function_buffers() {
  // expected-error@+1 {{has a row_function of 1 of the buffers in front of 1 of its store, of 1 in all}}
  schedule.launch "rmsnorm" for "rmsnorm" grid 2 buffers [#schedule.buffer<arena, 0, 128>] {row_function = "norm", row_function_buffers = 1 : i64, store_buffers = 1 : i64}
  return
}

// -----

// launch C8: of a function that there is.
func.func @no_row_function() {
  // expected-error@+1 {{has 1 buffers of no row_function}}
  schedule.launch "rmsnorm" for "rmsnorm" grid 2 buffers [#schedule.buffer<arena, 0, 128>] {row_function_buffers = 1 : i64}
  return
}

// -----

// exchange C1: with somebody.
func.func @alone() {
  // expected-error@+1 {{is of 1 ranks, expected at least 2}}
  schedule.exchange to_next of 1 for "x" buffers [#schedule.buffer<arena, 0, 64>]
  return
}

// -----

// exchange C2: one kind.
schedule.program @exchange_of_both {
  %x = schedule.buffer arena : memref<8xf32>
  // expected-error@+1 {{has 1 operands and 1 places, expected one kind}}
  schedule.exchange to_next of 2 for "x" buffers [#schedule.buffer<arena, 0, 32>] (%x : memref<8xf32>)
}

// -----

// exchange C2: what to send, and where to.
func.func @only_sent() {
  // expected-error@+1 {{has 1 buffers, expected 2}}
  schedule.exchange all of 2 for "x" buffers [#schedule.buffer<arena, 0, 64>]
  return
}

// -----

// exchange C3: equal parts.
func.func @parts() {
  // expected-error@+1 {{has buffers of 64 and 64 bytes, expected 3 equal parts in both}}
  schedule.exchange all of 3 for "x" buffers [#schedule.buffer<arena, 0, 64>, #schedule.buffer<arena, 64, 64>]
  return
}

// -----

// exchange C3: a number.
func.func @place() {
  // expected-error@+1 {{writes a place into 8 bytes, expected 4}}
  schedule.exchange place of 2 for "x" buffers [#schedule.buffer<arena, 0, 8>]
  return
}
