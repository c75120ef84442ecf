// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// program C1: an arena has a size.
// expected-error@+1 {{has an arena of -64 bytes}}
hybrid.program @arena arena -64 inputs [] outputs [] {
}

// -----

// program C2: launches and library calls only.
hybrid.program @body arena 64 inputs [] outputs [] {
  // expected-error@+1 {{is in a program, expected launches and library calls only}}
  %0 = hybrid.constant 1.0 : tensor<f32>
}

// -----

// program C2: buffers end inside the arena.
hybrid.program @outside arena 128 inputs [] outputs [] {
  // expected-error@+1 {{uses 128 bytes at offset 64, but the arena has 128 bytes}}
  hybrid.launch "copy" for "x" grid 1 buffers [#hybrid.buffer<arena, 0, 64>, #hybrid.buffer<arena, 64, 128>]
}

// -----

// program C2, with an end that would overflow.
hybrid.program @overflow arena 128 inputs [] outputs [] {
  // expected-error@+1 {{uses 64 bytes at offset 9223372036854775807, but the arena has 128 bytes}}
  hybrid.launch "copy" for "x" grid 1 buffers [#hybrid.buffer<arena, 9223372036854775807, 64>]
}

// -----

// launch C1: work items are counted.
func.func @grid() {
  // expected-error@+1 {{has a grid of -1 and 0 bytes of scratch: neither can be negative}}
  hybrid.launch "copy" for "x" grid -1 buffers []
  return
}

// -----

// Buffers are places in a space.
func.func @buffers() {
  // expected-error@+1 {{attribute 'buffers' failed to satisfy constraint: buffers}}
  hybrid.launch "copy" for "x" grid 1 buffers ["arena"]
  return
}

// -----

// A buffer starts inside its space.
func.func @negative() {
  // expected-error@+1 {{buffer at offset -8 with 64 bytes: neither can be negative}}
  hybrid.launch "copy" for "x" grid 1 buffers [#hybrid.buffer<arena, -8, 64>]
  return
}

// -----

// library_matmul C1: a, b and c.
func.func @two() {
  // expected-error@+1 {{has 2 buffers, expected a, b, c and optionally bias}}
  hybrid.library_matmul 1 x 1 x 1 of f32 for "x" buffers [#hybrid.buffer<arena, 0, 4>, #hybrid.buffer<arena, 4, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64}
  return
}

// -----

// library_matmul C2: sizes.
func.func @sizes() {
  // expected-error@+1 {{multiplies 1 x -2 x 1: sizes cannot be negative}}
  hybrid.library_matmul 1 x -2 x 1 of f32 for "x" buffers [#hybrid.buffer<arena, 0, 4>, #hybrid.buffer<arena, 4, 4>, #hybrid.buffer<arena, 8, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64}
  return
}

// -----

// library_matmul C2: groups.
func.func @groups() {
  // expected-error@+1 {{has -1 groups, expected none or some}}
  hybrid.library_matmul 1 x 2 x 1 of f32 for "x" buffers [#hybrid.buffer<arena, 0, 4>, #hybrid.buffer<arena, 4, 4>, #hybrid.buffer<arena, 8, 4>, #hybrid.buffer<arena, 12, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, groups = -1 : i64}
  return
}

// -----

// library_matmul C1: groups need their offsets.
func.func @offsets() {
  // expected-error@+1 {{has 3 buffers, expected a, b, c and offsets}}
  hybrid.library_matmul 1 x 2 x 1 of f32 for "x" buffers [#hybrid.buffer<arena, 0, 4>, #hybrid.buffer<arena, 4, 4>, #hybrid.buffer<arena, 8, 4>] {lda = 1 : i64, ldb = 1 : i64, ldc = 1 : i64, groups = 2 : i64}
  return
}
