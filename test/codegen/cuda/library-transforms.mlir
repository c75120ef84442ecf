// Who computes transforms: the library for more than 256 points and for convolutions that two passes of shared memory do not hold, or all of them, or none.
// RUN: hybridc %s --target=cuda:sm_90a --emit=schedule | FileCheck %s
// RUN: hybridc %s --target=cuda:sm_90a --transforms=cufft --emit=schedule | FileCheck %s --check-prefix=CUFFT
// RUN: not hybridc %s --target=cuda:sm_90a --transforms=own --emit=schedule 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not hybridc %s --transforms=cufft --emit=schedule 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: --transforms=cufft: cuFFT runs on GPUs, expected --target=cuda
// LONG: convolves 4194305 positions with 4194305 taps, more than our kernels do: compile with --transforms=auto, for cuFFT

// CHECK-LABEL: schedule.program @forward
// CHECK-NOT: rfft<
// CHECK: schedule.launch "rfft<float, RfftParams{.points = 256, .channels = 3}>"
// CHECK-NEXT: schedule.library_fft 315 points x 3 of f32 for "rfft" buffers
// CHECK-NEXT: schedule.launch "rfftSplit<float, RfftParams{.points = 315, .channels = 3}>" for "rfft" grid 2
// CHECK-NEXT: schedule.launch "irfftJoin<float, RfftParams{.points = 315, .channels = 3, .weighted = 1}>" for "irfft" grid 2
// CHECK-NEXT: schedule.library_fft 315 points x 3 of f32 for "irfft" buffers {{.*}} {inverse
// A convolution of our own, of which nothing is a transform; and one of 8388609 positions and taps together, padded to 2^8 3^8 5.
// CHECK: fftconvForward<
// CHECK: schedule.library_fft 8398080 points x 1 of f32 for "rfft"

// CUFFT-LABEL: schedule.program @forward
// CUFFT-NOT: fftconvForward<
// CUFFT: schedule.library_fft 256 points x 3
// CUFFT: schedule.library_fft 2048 points
// CUFFT-NOT: fftconvForward<
func.func @forward(%a: tensor<256x3xf32> {hybrid.name = "a"}, %b: tensor<315x3xf32> {hybrid.name = "b"}, %x: tensor<2x1024x4xf32> {hybrid.name = "x"}, %h: tensor<1024x4xf32> {hybrid.name = "h"},
    %z: tensor<1x4194305x1xf32> {hybrid.name = "z"}, %g: tensor<4194305x1xf32> {hybrid.name = "g"})
    -> (tensor<129x3xf32> {hybrid.name = "ar"}, tensor<315x3xf32> {hybrid.name = "c"}, tensor<2x1024x4xf32> {hybrid.name = "y"}, tensor<1x4194305x1xf32> {hybrid.name = "w"}) {
  %ar, %ai = hybrid.rfft %a : tensor<256x3xf32> -> tensor<129x3xf32>, tensor<129x3xf32>
  %br, %bi = hybrid.rfft %b : tensor<315x3xf32> -> tensor<158x3xf32>, tensor<158x3xf32>
  %c = hybrid.irfft %br, %bi to 315 {weighted} : tensor<158x3xf32>, tensor<158x3xf32> -> tensor<315x3xf32>
  %y = hybrid.fftconv %x, %h : tensor<2x1024x4xf32>, tensor<1024x4xf32> -> tensor<2x1024x4xf32>
  %w = hybrid.fftconv %z, %g : tensor<1x4194305x1xf32>, tensor<4194305x1xf32> -> tensor<1x4194305x1xf32>
  return %ar, %c, %y, %w : tensor<129x3xf32>, tensor<315x3xf32>, tensor<2x1024x4xf32>, tensor<1x4194305x1xf32>
}
