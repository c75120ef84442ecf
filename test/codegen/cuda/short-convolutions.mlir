// RUN: hybrid-opt %s --split-input-file --hybrid-schedule-cuda=rounds=true | FileCheck %s --enable-var-scope
// RUN: hybrid-opt %s --split-input-file --hybrid-schedule-cuda | FileCheck %s --check-prefix=EXACT

// Where products are rounded, a short sequence is multiplied by its filter's Toeplitz matrix: no
// spectrum, and what follows is computed where the result would be stored.
// CHECK-LABEL: schedule.program @forward
// CHECK-NOT: fftconvSpectrum
// CHECK: schedule.launch "toeplitzConvForward<float, ToeplitzConvParams{{.*}}.splits = 16{{.*}}.hasGateIn = 1
// A block has 16 channels, of which a thread moves 4.
// CHECK-SAME: .alignment = 8, .lanes = 16
// CHECK-SAME: grid 512
// CHECK-SAME: store
// CHECK-SAME: threads = 512
// EXACT-LABEL: schedule.program @forward
// EXACT: fftconvSpectrum
// EXACT: fftconvForward
func.func @forward(%x: tensor<128x128x512xf32>, %h: tensor<128x512xf32>, %g: tensor<128x128x512xf32>) -> tensor<128x128x512xf32> {
  %y = hybrid.fftconv %x, %h gate_in(%g : tensor<128x128x512xf32>) : tensor<128x128x512xf32>, tensor<128x512xf32> -> tensor<128x128x512xf32>
  return %y : tensor<128x128x512xf32>
}

// -----

// The gradient of the filter is a plain sum over parts of the batch; that of the skip term is its first row. Both sums are one launch.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "toeplitzConvBackward<float, ToeplitzConvParams
// CHECK-SAME: threads = 512
// CHECK: schedule.launch "[[SUMS:merged_[0-9]+]]" for "2 launches in one (fftconv_grad, fftconv_grad)" grid 516
// CHECK: schedule.kernel_source @[[SUMS]] "{{.*}} sumPartials<float, SumPartialsParams{.count = 2, .columns = 131072, .stride = 131072, .width = {{[0-9]+}}}>
// CHECK-SAME: sumPartials<float, SumPartialsParams{.count = 2, .columns = 512, .stride = 131072, .width = {{[0-9]+}}}>
func.func @forward(%x: tensor<64x256x512xf32>, %h: tensor<256x512xf32>, %s: tensor<512xf32>, %dy: tensor<64x256x512xf32>) -> (tensor<64x256x512xf32>, tensor<256x512xf32>, tensor<512xf32>) {
  %dx, %dh, %ds = hybrid.fftconv_grad %x, %h, %dy skip(%s : tensor<512xf32>) : tensor<64x256x512xf32>, tensor<256x512xf32>, tensor<64x256x512xf32> -> tensor<64x256x512xf32>, tensor<256x512xf32>, tensor<512xf32>
  return %dx, %dh, %ds : tensor<64x256x512xf32>, tensor<256x512xf32>, tensor<512xf32>
}

// -----

// Longer sequences and packed segments are transformed.
// CHECK-LABEL: schedule.program @forward
// CHECK: fftconvForward<float
// CHECK: fftconvForward<float
func.func @forward(%x: tensor<8x257x64xf32>, %h: tensor<257x64xf32>, %z: tensor<8x128x64xf32>, %k: tensor<128x64xf32>, %s: tensor<8x128xi32>) -> (tensor<8x257x64xf32>, tensor<8x128x64xf32>) {
  %y = hybrid.fftconv %x, %h : tensor<8x257x64xf32>, tensor<257x64xf32> -> tensor<8x257x64xf32>
  %w = hybrid.fftconv %z, %k segments(%s : tensor<8x128xi32>) : tensor<8x128x64xf32>, tensor<128x64xf32> -> tensor<8x128x64xf32>
  return %y, %w : tensor<8x257x64xf32>, tensor<8x128x64xf32>
}

// -----

// A short convolution in front of it is computed where it is read: its result is not in memory. The repeated input is read
// once, and the gradient reads it too.
// CHECK-LABEL: schedule.program @forward
// CHECK-NOT: shortConvForward
// CHECK: schedule.launch "toeplitzConvForward<float, ToeplitzConvParams{{.*}}.xStride = 384, .gateInStride = 384, .gateOutStride = 384
// CHECK-SAME: .alignment = 8, .lanes = 16, .hasShortX = 1, .hasShortGateIn = 1, .hasShortGateOut = 1, .hasShortBias = 1, .shortTaps = 3, .repeats = 384, .xChannel = 1024, .gateInChannel = 512}
// CHECK-SAME: buffers [#schedule.buffer<arena, [[INPUT:[0-9]+]], [[BYTES:[0-9]+]]>, #schedule{{[^#]*}}#schedule{{[^#]*}}#schedule.buffer<arena, [[INPUT]], [[BYTES]]>, #schedule.buffer<arena, [[INPUT]], [[BYTES]]>,
// CHECK-NOT: shortConvForward
// CHECK: schedule.launch "toeplitzConvBackward<float, ToeplitzConvParams{{.*}}.hasShortX = 1, .hasShortGateIn = 1, .hasShortGateOut = 1
// CHECK-SAME: buffers [#schedule.buffer<arena, [[INPUT]], [[BYTES]]>, #schedule{{[^#]*}}#schedule{{[^#]*}}#schedule.buffer<arena, [[INPUT]], [[BYTES]]>, #schedule.buffer<arena, [[INPUT]], [[BYTES]]>,
// CHECK: schedule.launch "shortConvBackward<float
// CHECK-SAME: buffers [#schedule.buffer<arena, [[INPUT]], [[BYTES]]>,
// With f32 the long one is transformed, of what is in memory.
// EXACT-LABEL: schedule.program @forward
// EXACT: shortConvForward
// EXACT: fftconvForward
func.func @forward(%p: tensor<128x128x384xf32>, %w: tensor<1536x3xf32>, %b: tensor<1536xf32>, %h: tensor<128x512xf32>, %dy: tensor<128x128x512xf32>) -> (tensor<128x128x512xf32>, tensor<128x512xf32>, tensor<1536x3xf32>) {
  %all = hybrid.repeat_channels %p times 4 : tensor<128x128x384xf32> -> tensor<128x128x1536xf32>
  %c = hybrid.short_conv %all, %w bias(%b : tensor<1536xf32>) : tensor<128x128x1536xf32>, tensor<1536x3xf32> -> tensor<128x128x1536xf32>
  %g, %k, %x = hybrid.split %c along 2 sizes [512, 512, 512] : tensor<128x128x1536xf32> -> tensor<128x128x512xf32>, tensor<128x128x512xf32>, tensor<128x128x512xf32>
  %y = hybrid.fftconv %x, %h gate_in(%k : tensor<128x128x512xf32>) gate_out(%g : tensor<128x128x512xf32>) : tensor<128x128x512xf32>, tensor<128x512xf32> -> tensor<128x128x512xf32>
  %dx, %dh, %dk, %dg = hybrid.fftconv_grad %x, %h, %dy gate_in(%k : tensor<128x128x512xf32>) gate_out(%g : tensor<128x128x512xf32>) : tensor<128x128x512xf32>, tensor<128x512xf32>, tensor<128x128x512xf32> -> tensor<128x128x512xf32>, tensor<128x512xf32>, tensor<128x128x512xf32>, tensor<128x128x512xf32>
  %dc = hybrid.concat %dg, %dk, %dx along 2 : tensor<128x128x512xf32>, tensor<128x128x512xf32>, tensor<128x128x512xf32> -> tensor<128x128x1536xf32>
  %du, %dw, %db = hybrid.short_conv_grad %all, %w, %dc : tensor<128x128x1536xf32>, tensor<1536x3xf32>, tensor<128x128x1536xf32> -> tensor<128x128x1536xf32>, tensor<1536x3xf32>, tensor<1536xf32>
  return %y, %dh, %dw : tensor<128x128x512xf32>, tensor<128x512xf32>, tensor<1536x3xf32>
}

// -----

// Slices are parts of it as well; other operands stay what they are.
// CHECK-LABEL: schedule.program @forward
// CHECK-NOT: shortConvForward
// CHECK: schedule.launch "toeplitzConvForward<float, ToeplitzConvParams{{.*}}.xStride = 24, .gateInStride = 8,
// CHECK-SAME: .hasShortX = 1, .shortTaps = 2, .xChannel = 16}
func.func @forward(%u: tensor<4x32x24xf32>, %w: tensor<24x2xf32>, %h: tensor<32x8xf32>, %k: tensor<4x32x8xf32>) -> tensor<4x32x8xf32> {
  %c = hybrid.short_conv %u, %w : tensor<4x32x24xf32>, tensor<24x2xf32> -> tensor<4x32x24xf32>
  %x = hybrid.slice %c from [0, 0, 16] size [4, 32, 8] : tensor<4x32x24xf32> -> tensor<4x32x8xf32>
  %y = hybrid.fftconv %x, %h gate_in(%k : tensor<4x32x8xf32>) : tensor<4x32x8xf32>, tensor<32x8xf32> -> tensor<4x32x8xf32>
  return %y : tensor<4x32x8xf32>
}

// -----

// Not where something else reads it: what returns it, a long convolution of packed segments or of too many positions; not
// with many taps, or segments of its own; nor two short convolutions in front of one long one, of each other either.
// CHECK-LABEL: schedule.program @forward
// CHECK-COUNT-7: shortConvForward
// CHECK: .hasShortX = 1
// CHECK-NOT: hasShort
func.func @forward(%u: tensor<4x32x8xf32>, %w: tensor<8x3xf32>, %v: tensor<8x4xf32>, %h: tensor<32x8xf32>, %s: tensor<4x32xi32>, %z: tensor<4x257x8xf32>, %l: tensor<257x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x257x8xf32>, tensor<4x32x8xf32>) {
  %a = hybrid.short_conv %u, %w : tensor<4x32x8xf32>, tensor<8x3xf32> -> tensor<4x32x8xf32>
  %ya = hybrid.fftconv %a, %h : tensor<4x32x8xf32>, tensor<32x8xf32> -> tensor<4x32x8xf32>
  %b = hybrid.short_conv %ya, %v : tensor<4x32x8xf32>, tensor<8x4xf32> -> tensor<4x32x8xf32>
  %yb = hybrid.fftconv %b, %h : tensor<4x32x8xf32>, tensor<32x8xf32> -> tensor<4x32x8xf32>
  %c = hybrid.short_conv %yb, %w segments(%s : tensor<4x32xi32>) : tensor<4x32x8xf32>, tensor<8x3xf32> -> tensor<4x32x8xf32>
  %yc = hybrid.fftconv %c, %h segments(%s : tensor<4x32xi32>) : tensor<4x32x8xf32>, tensor<32x8xf32> -> tensor<4x32x8xf32>
  %d = hybrid.short_conv %z, %w : tensor<4x257x8xf32>, tensor<8x3xf32> -> tensor<4x257x8xf32>
  %yd = hybrid.fftconv %d, %l : tensor<4x257x8xf32>, tensor<257x8xf32> -> tensor<4x257x8xf32>
  %e = hybrid.short_conv %yc, %w : tensor<4x32x8xf32>, tensor<8x3xf32> -> tensor<4x32x8xf32>
  %f = hybrid.short_conv %yb, %w : tensor<4x32x8xf32>, tensor<8x3xf32> -> tensor<4x32x8xf32>
  %ye = hybrid.fftconv %e, %h gate_in(%f : tensor<4x32x8xf32>) : tensor<4x32x8xf32>, tensor<32x8xf32> -> tensor<4x32x8xf32>
  %g = hybrid.short_conv %ye, %w : tensor<4x32x8xf32>, tensor<8x3xf32> -> tensor<4x32x8xf32>
  %k = hybrid.short_conv %g, %w : tensor<4x32x8xf32>, tensor<8x3xf32> -> tensor<4x32x8xf32>
  %yk = hybrid.fftconv %k, %h : tensor<4x32x8xf32>, tensor<32x8xf32> -> tensor<4x32x8xf32>
  return %a, %ya, %yb, %yc, %yd, %yk : tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x257x8xf32>, tensor<4x32x8xf32>
}
