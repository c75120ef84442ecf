// RUN: hybrid-opt %s --split-input-file --hybrid-schedule-cuda | FileCheck %s --enable-var-scope
// RUN: hybrid-opt %s --split-input-file --hybrid-schedule-cuda=shared-bytes=101376 | FileCheck %s --check-prefix=SMALL
// RUN: hybrid-opt %s --split-input-file --hybrid-schedule-cuda=rounds=true | FileCheck %s --check-prefix=ROUNDED

// A sector of channels a block, all in shared memory.
// CHECK-LABEL: schedule.program @forward
// CHECK: "fftconvSpectrum<float, FFTConvParams{{.*}}.points = 1024, .lanes = 8
// CHECK: "fftconvForward<float, FFTConvParams{{.*}}.points = 1024, .lanes = 8
// SMALL-LABEL: schedule.program @forward
// SMALL: "fftconvForward<float, FFTConvParams{{.*}}.points = 1024, .lanes = 8
func.func @forward(%x: tensor<64x1024x768xf32>, %h: tensor<1024x768xf32>) -> tensor<64x1024x768xf32> {
  %y = hybrid.fftconv %x, %h : tensor<64x1024x768xf32>, tensor<1024x768xf32> -> tensor<64x1024x768xf32>
  return %y : tensor<64x1024x768xf32>
}

// -----

// A short filter needs half the points: positions behind them are imaginary parts.
// CHECK-LABEL: schedule.program @forward
// CHECK: "fftconvForward<float, FFTConvParams{{.*}}.taps = 20, .points = 512
func.func @forward(%x: tensor<64x1000x768xf32>, %h: tensor<20x768xf32>) -> tensor<64x1000x768xf32> {
  %y = hybrid.fftconv %x, %h : tensor<64x1000x768xf32>, tensor<20x768xf32> -> tensor<64x1000x768xf32>
  return %y : tensor<64x1000x768xf32>
}

// -----

// Four channels a block are half a sector, which is enough; of bf16 they are a quarter, which is not. A GPU with less
// shared memory has room for two only. Then it goes in two passes over memory.
// CHECK-LABEL: schedule.program @forward
// CHECK: "fftconvForward<float, FFTConvParams{{.*}}.points = 4096, .lanes = 4
// SMALL-LABEL: schedule.program @forward
// SMALL: "fftconvSplit<
// ROUNDED: "fftconvSplit<float, FFTConvPartsParams{{.*}}.length = 4096
func.func @forward(%x: tensor<4x4096x768xf32>, %h: tensor<4096x768xf32>) -> tensor<4x4096x768xf32> {
  %y = hybrid.fftconv %x, %h : tensor<4x4096x768xf32>, tensor<4096x768xf32> -> tensor<4x4096x768xf32>
  return %y : tensor<4x4096x768xf32>
}

// -----

// Two channels a block would use a quarter of each sector: two passes. What lies between them is rounded like an activation,
// the filter's part of it is not. Stretches in two rooms have half of the GPU each: no split of the four sequences. Inner
// transforms of 512 points end at remainders of two coefficients, so that what there is to scale by is half as much.
// CHECK-LABEL: schedule.program @forward
// CHECK: "fftconvSplit<
// CHECK: "fftconvInnerForward<
// CHECK: "fftconvMerge<
// CHECK: "fftconvInnerBackward<
// ROUNDED: "fftconvSplitFilter<float, FFTConvPartsParams{{.*}}.length = 8192{{.*}}] {sc
// ROUNDED: "fftconvSplit<{{.*}}rounded = array<i64: 5>
// ROUNDED: "fftconvInnerForward<float, FFTConvInnerParams{.batch = 4, .channels = 64, .parts = 16, .points = 512, .splits = 1, .walks = 1, .scale = 4096}{{.*}}rounded = array<i64: 3>
// ROUNDED: "fftconvMerge<{{.*}}rounded = array<i64: 0>
// ROUNDED: "fftconvInnerBackward<{{.*}}rounded = array<i64: 3, 4>
// ROUNDED: "fftconvInnerGradient<{{.*}}] {scratch_bytes
// ROUNDED: "fftconvMergeFilter<{{.*}}] {sc
func.func @forward(%x: tensor<4x8192x768xf32>, %h: tensor<8192x768xf32>, %dy: tensor<4x8192x768xf32>)
    -> (tensor<4x8192x768xf32>, tensor<4x8192x768xf32>, tensor<8192x768xf32>) {
  %y = hybrid.fftconv %x, %h : tensor<4x8192x768xf32>, tensor<8192x768xf32> -> tensor<4x8192x768xf32>
  %0:2 = hybrid.fftconv_grad %x, %h, %dy : tensor<4x8192x768xf32>, tensor<8192x768xf32>, tensor<4x8192x768xf32> -> tensor<4x8192x768xf32>, tensor<8192x768xf32>
  return %y, %0#0, %0#1 : tensor<4x8192x768xf32>, tensor<4x8192x768xf32>, tensor<8192x768xf32>
}

// -----

// CHECK-LABEL: schedule.program @forward
// CHECK: "fftconvSplitFilter<
// CHECK: "fftconvInnerSpectrum<float, FFTConvInnerParams{{.*}}.parts = 256, .points = 4096
// CHECK: "fftconvSplit<
// CHECK: "fftconvInnerForward<
// CHECK: "fftconvMerge<
func.func @forward(%x: tensor<1x1048576x16xf32>, %h: tensor<1048576x16xf32>) -> tensor<1x1048576x16xf32> {
  %y = hybrid.fftconv %x, %h : tensor<1x1048576x16xf32>, tensor<1048576x16xf32> -> tensor<1x1048576x16xf32>
  return %y : tensor<1x1048576x16xf32>
}

// -----

// Backward two channels of 4096 positions would be a quarter of each sector, as four of 2048 in bf16 would be, and 32 parts have blocks of half the threads.
// CHECK-LABEL: schedule.program @forward
// CHECK: "fftconvInnerBackward<float, FFTConvInnerParams{{.*}}.parts = 8, .points = 512
func.func @forward(%x: tensor<4x4096x768xf32>, %h: tensor<4096x768xf32>, %dy: tensor<4x4096x768xf32>) -> (tensor<4x4096x768xf32>, tensor<4096x768xf32>) {
  %0:2 = hybrid.fftconv_grad %x, %h, %dy : tensor<4x4096x768xf32>, tensor<4096x768xf32>, tensor<4x4096x768xf32> -> tensor<4x4096x768xf32>, tensor<4096x768xf32>
  return %0#0, %0#1 : tensor<4x4096x768xf32>, tensor<4096x768xf32>
}

// -----

// CHECK-LABEL: schedule.program @forward
// CHECK: "fftconvSplit<float, FFTConvPartsParams{{.*}}.parts = 32, .lanes = 32, .tile = 8, .blockThreads = 256
func.func @forward(%x: tensor<1x131072x16xf32>, %h: tensor<131072x16xf32>) -> tensor<1x131072x16xf32> {
  %y = hybrid.fftconv %x, %h : tensor<1x131072x16xf32>, tensor<131072x16xf32> -> tensor<1x131072x16xf32>
  return %y : tensor<1x131072x16xf32>
}

// -----

// CHECK-LABEL: schedule.program @forward
// ROUNDED: "fftconvInnerBackward<float, FFTConvInnerParams{{.*}}.parts = 4, .points = 512
// CHECK: "fftconvBackward<float, FFTConvParams{{.*}}.lanes = 4
func.func @forward(%x: tensor<64x2048x768xf32>, %h: tensor<2048x768xf32>, %dy: tensor<64x2048x768xf32>) -> (tensor<64x2048x768xf32>, tensor<2048x768xf32>) {
  %0:2 = hybrid.fftconv_grad %x, %h, %dy : tensor<64x2048x768xf32>, tensor<2048x768xf32>, tensor<64x2048x768xf32> -> tensor<64x2048x768xf32>, tensor<2048x768xf32>
  return %0#0, %0#1 : tensor<64x2048x768xf32>, tensor<2048x768xf32>
}

// -----

// What lies between the passes stays in L2: 32 channels of a sequence at a time, in two rooms that stretches take turns in. A block
// walks over several of their 512 parts.
// CHECK-LABEL: schedule.program @forward
// ROUNDED-COUNT-8: "fftconvInnerForward<float, FFTConvInnerParams{.batch = 1, .channels = 32, .parts = 16, .points = 4096, .splits = 1, .walks = 4, .scale = 65536}>" for "fftconv" grid 128 
// CHECK: "fftconvSplit<{{.*}}#schedule.buffer<arena, [[FIRST:[0-9]+]], 16777216>]
// CHECK: "fftconvInnerForward<float, FFTConvInnerParams{.batch = 1, .channels = 32, .parts = 16, .points = 4096{{.*}}#schedule.buffer<arena, [[FIRST]], 16777216>]
// CHECK: "fftconvMerge<
// CHECK: "fftconvSplit<{{.*}}#schedule.buffer<arena, [[SECOND:[0-9]+]], 16777216>]
// CHECK: "fftconvMerge<{{.*}}buffers [#schedule.buffer<arena, [[SECOND]], 16777216>
// CHECK: "fftconvSplit<{{.*}}#schedule.buffer<arena, [[FIRST]], 16777216>]
// CHECK: "fftconvMerge<{{.*}}buffers [#schedule.buffer<arena, [[FIRST]], 16777216>
// CHECK: "fftconvSplit<{{.*}}#schedule.buffer<arena, [[SECOND]], 16777216>]
// CHECK-COUNT-5: "fftconvInnerForward<
// CHECK-NOT: "fftconvInnerForward<
func.func @forward(%x: tensor<8x65536x32xf32>, %h: tensor<65536x32xf32>) -> tensor<8x65536x32xf32> {
  %y = hybrid.fftconv %x, %h : tensor<8x65536x32xf32>, tensor<65536x32xf32> -> tensor<8x65536x32xf32>
  return %y : tensor<8x65536x32xf32>
}

// -----

// Backward there are two transforms of each sequence, and the sums of the filter's gradient go on from one
// stretch of the batch to the next.
// CHECK-LABEL: schedule.program @forward
// CHECK: "fill
// CHECK-COUNT-4: "fftconvInnerBackward<float, FFTConvInnerParams{.batch = 1, .channels = 16, {{.*}}.goesOn = 1}
// CHECK: "fftconvInnerGradient<
// CHECK-NOT: "fftconvInnerBackward<
func.func @forward(%x: tensor<4x65536x16xf32>, %h: tensor<65536x16xf32>, %dy: tensor<4x65536x16xf32>)
    -> (tensor<4x65536x16xf32>, tensor<65536x16xf32>) {
  %0:2 = hybrid.fftconv_grad %x, %h, %dy : tensor<4x65536x16xf32>, tensor<65536x16xf32>, tensor<4x65536x16xf32> -> tensor<4x65536x16xf32>, tensor<65536x16xf32>
  return %0#0, %0#1 : tensor<4x65536x16xf32>, tensor<65536x16xf32>
}

// -----

// 384 pairs of channels are two blocks of as many threads, not one of 256 and one that is half idle.
// CHECK-LABEL: schedule.program @forward
// CHECK: "shortConvForward<float, ShortConvParams{{.*}}.taps = 4{{.*}}grid 1024 {{.*}}threads = 192
func.func @forward(%x: tensor<16x1024x768xf32>, %w: tensor<768x4xf32>) -> tensor<16x1024x768xf32> {
  %y = hybrid.short_conv %x, %w : tensor<16x1024x768xf32>, tensor<768x4xf32> -> tensor<16x1024x768xf32>
  return %y : tensor<16x1024x768xf32>
}

// -----

// Channels that a short convolution reads again and again are in memory once, dense: 2 x 33 x 16 values of 4 bytes.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "smallProduct<{{.*}}, #schedule.buffer<arena, [[AT:[0-9]+]], 4224>]
// CHECK: schedule.launch "shortConvForward<float, ShortConvParams{{.*}}.channels = 48, .taps = 3, .xStride = 16, {{.*}}.repeats = 16
// CHECK-SAME: buffers [#schedule.buffer<arena, [[AT]], 4224>
// CHECK: schedule.launch "shortConvBackward<float, ShortConvParams{{.*}}.channels = 48, .taps = 3, .xStride = 16, {{.*}}.repeats = 16
// CHECK-SAME: buffers [#schedule.buffer<arena, [[AT]], 4224>
// CHECK: }
func.func @forward(%x: tensor<2x33x16xf32>, %m: tensor<16x16xf32>, %w: tensor<48x3xf32>, %dy: tensor<2x33x48xf32>) -> (tensor<2x33x48xf32>, tensor<2x33x48xf32>) {
  %a = hybrid.linear %x, %m : tensor<2x33x16xf32>, tensor<16x16xf32> -> tensor<2x33x16xf32>
  %r = hybrid.repeat_channels %a times 3 : tensor<2x33x16xf32> -> tensor<2x33x48xf32>
  %y = hybrid.short_conv %r, %w : tensor<2x33x48xf32>, tensor<48x3xf32> -> tensor<2x33x48xf32>
  %dx, %dw, %db = hybrid.short_conv_grad %r, %w, %dy : tensor<2x33x48xf32>, tensor<48x3xf32>, tensor<2x33x48xf32> -> tensor<2x33x48xf32>, tensor<48x3xf32>, tensor<48xf32>
  return %y, %dx : tensor<2x33x48xf32>, tensor<2x33x48xf32>
}

// -----

// Where its rows are not one behind the other they are copied first, once for all that reads them.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "{{.*}}" for "short_conv" {{.*}}, #schedule.buffer<arena, [[AT:[0-9]+]], 4224>]
// CHECK: schedule.launch "shortConvForward<float, ShortConvParams{{.*}}.channels = 48, .taps = 3, .xStride = 16, {{.*}}.repeats = 16
// CHECK-SAME: buffers [#schedule.buffer<arena, [[AT]], 4224>
// CHECK-NEXT: schedule.launch "shortConvForward
// CHECK-SAME: buffers [#schedule.buffer<arena, [[AT]], 4224>
func.func @forward(%x: tensor<2x16x33xf32>, %w: tensor<48x3xf32>, %v: tensor<48x3xf32>) -> (tensor<2x33x48xf32>, tensor<2x33x48xf32>) {
  %t = hybrid.transpose %x by [0, 2, 1] : tensor<2x16x33xf32> -> tensor<2x33x16xf32>
  %r = hybrid.repeat_channels %t times 3 : tensor<2x33x16xf32> -> tensor<2x33x48xf32>
  %y = hybrid.short_conv %r, %w : tensor<2x33x48xf32>, tensor<48x3xf32> -> tensor<2x33x48xf32>
  %z = hybrid.short_conv %r, %v : tensor<2x33x48xf32>, tensor<48x3xf32> -> tensor<2x33x48xf32>
  return %y, %z : tensor<2x33x48xf32>, tensor<2x33x48xf32>
}
