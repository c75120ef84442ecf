// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// reshape C1: the number of elements is the same.
func.func @reshape(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{cannot make [3, 5] of [2, 8]: the number of elements differs}}
  %0 = hybrid.reshape %x to [3, 5] : tensor<2x8xf32> -> tensor<3x5xf32>
  return
}

// -----

// A shape is made of sizes and names.
func.func @reshape_shape(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{attribute 'shape' failed to satisfy constraint: shape of integers and free dimension names}}
  %0 = hybrid.reshape %x to [16, 1.0] : tensor<2x8xf32> -> tensor<16x1xf32>
  return
}

// -----

// transpose C1: no dimension twice.
func.func @transpose_repeated(%x: tensor<2x8x4xf32>) {
  // expected-error@+2 {{transpose: permutation = [0, 1, 1], but x is [2, 8, 4]: expected each of its axes once}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.transpose %x by [0, 1, 1] : tensor<2x8x4xf32> -> tensor<2x8x8xf32>
  return
}

// -----

// transpose C1: no dimension that x has not.
func.func @transpose_range(%x: tensor<2x8xf32>) {
  // expected-error@+2 {{transpose: permutation = [0, -1], but x is [2, 8]: expected each of its axes once}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.transpose %x by [0, -1] : tensor<2x8xf32> -> tensor<2x8xf32>
  return
}

// -----

// transpose C1: every dimension.
func.func @transpose_missing(%x: tensor<2x8x4xf32>) {
  // expected-error@+2 {{transpose: permutation = [1, 0], but x is [2, 8, 4]: expected each of its axes once}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.transpose %x by [1, 0] : tensor<2x8x4xf32> -> tensor<8x2xf32>
  return
}

// -----

// broadcast C1: sizes other than 1 stay.
func.func @broadcast_size(%x: tensor<3x1xf32>) {
  // expected-error@+1 {{[3, 1] cannot be repeated to [4, 4]: sizes must be equal or 1, counted from the last}}
  %0 = hybrid.broadcast %x to [4, 4] : tensor<3x1xf32> -> tensor<4x4xf32>
  return
}

// -----

// broadcast C1: nothing shrinks.
func.func @broadcast_shrink(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{[2, 4] cannot be repeated to [4]: sizes must be equal or 1, counted from the last}}
  %0 = hybrid.broadcast %x to [4] : tensor<2x4xf32> -> tensor<4xf32>
  return
}

// -----

// broadcast C1: a size cannot become 1.
func.func @broadcast_one(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{[2, 4] cannot be repeated to [2, 1]: sizes must be equal or 1, counted from the last}}
  %0 = hybrid.broadcast %x to [2, 1] : tensor<2x4xf32> -> tensor<2x1xf32>
  return
}

// -----

// repeat_channels C1: there is a dimension to repeat along.
func.func @repeat_number(%x: tensor<f32>) {
  // expected-error@+2 {{repeat_channels: x has no dimension to repeat along}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.repeat_channels %x times 2 : tensor<f32> -> tensor<f32>
  return
}

// -----

// repeat_channels C2: it is there once or more often.
func.func @repeat_never(%x: tensor<2x8xf32>) {
  // expected-error@+2 {{repeat_channels: times = 0, expected 1 or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.repeat_channels %x times 0 : tensor<2x8xf32> -> tensor<2x0xf32>
  return
}

// -----

// split C1: the parts make up the whole.
func.func @split_sum(%x: tensor<2x8xf32>) {
  // expected-error@+2 {{split: sizes = [4, 3] are 7 in all, but x is [2, 8] with 8 along dimension 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = hybrid.split %x along 1 sizes [4, 3] : tensor<2x8xf32> -> tensor<2x4xf32>, tensor<2x3xf32>
  return
}

// -----

// split C2: the axis is a dimension.
func.func @split_axis(%x: tensor<2x8xf32>) {
  // expected-error@+2 {{split: axis 2 is not a dimension of [2, 8]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = hybrid.split %x along 2 sizes [4, 4] : tensor<2x8xf32> -> tensor<2x4xf32>, tensor<2x4xf32>
  return
}

// -----

// concat C1: the other sizes are equal.
func.func @concat_sizes(%a: tensor<2x8xf32>, %b: tensor<3x8xf32>) {
  // expected-error@+2 {{concat: the shape [3, 8] of parts[1] does not continue [2, 8], that of parts[0], along dimension 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.concat %a, %b along 1 : tensor<2x8xf32>, tensor<3x8xf32> -> tensor<2x16xf32>
  return
}

// -----

// concat C1: so are the element types.
func.func @concat_elements(%a: tensor<2x8xf32>, %b: tensor<2x8xi32>) {
  // expected-error@+2 {{concat: parts have elements of 'f32' and 'i32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.concat %a, %b along 1 : tensor<2x8xf32>, tensor<2x8xi32> -> tensor<2x16xf32>
  return
}

// -----

// concat C2: there is a part.
func.func @concat_empty() {
  // expected-error@+2 {{concat: nothing to put together}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "hybrid.concat"() {axis = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

// concat C2: the axis is a dimension.
func.func @concat_axis(%a: tensor<2x8xf32>) {
  // expected-error@+2 {{concat: axis -1 is not a dimension of [2, 8]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.concat %a, %a along -1 : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x16xf32>
  return
}

// -----

// slice C1: the part ends inside x.
func.func @slice_end(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{part [2, 4] from [0, 5] is not inside [2, 8]}}
  %0 = hybrid.slice %x from [0, 5] size [2, 4] : tensor<2x8xf32> -> tensor<2x4xf32>
  return
}

// -----

// slice C1: a start that would overflow when the size is added.
func.func @slice_overflow(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{part [2, 4] from [0, 9223372036854775807] is not inside [2, 8]}}
  %0 = hybrid.slice %x from [0, 9223372036854775807] size [2, 4] : tensor<2x8xf32> -> tensor<2x4xf32>
  return
}

// -----

// slice C1: one start for each dimension.
func.func @slice_rank(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{part [2, 4] from [0] is not inside [2, 8]}}
  %0 = hybrid.slice %x from [0] size [2, 4] : tensor<2x8xf32> -> tensor<2x4xf32>
  return
}

// -----

// pad C1: x fits.
func.func @pad(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{[2, 4] at [0, 5] does not fit in [2, 8]}}
  %0 = hybrid.pad %x at [0, 5] in [2, 8] : tensor<2x4xf32> -> tensor<2x8xf32>
  return
}

// -----

// pad C1: nothing starts before the beginning.
func.func @pad_start(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{[2, 4] at [-1, 0] does not fit in [2, 8]}}
  %0 = hybrid.pad %x at [-1, 0] in [2, 8] : tensor<2x4xf32> -> tensor<2x8xf32>
  return
}

// -----

// reverse C1: an axis of x.
func.func @reverse_axis(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{axis = 2, but x is [2, 8]}}
  %0 = hybrid.reverse %x along 2 : tensor<2x8xf32>
  return
}
