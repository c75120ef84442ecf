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

// The gradient of the filter is a plain sum over parts of the batch; that of the skip term is its first row.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "toeplitzConvBackward<float, ToeplitzConvParams
// CHECK-SAME: threads = 512
// CHECK: schedule.launch "sumPartials<float, SumPartialsParams{.count = 2, .columns = 131072, .stride = 131072}>"
// CHECK: schedule.launch "sumPartials<float, SumPartialsParams{.count = 2, .columns = 512, .stride = 131072}>"
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
