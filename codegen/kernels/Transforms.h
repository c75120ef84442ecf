//===- Transforms.h - who computes Fourier transforms on CUDA ---------------===//
//
// Our kernels sum short transforms as they are defined (Rfft.h) and convolve by transforms in
// shared memory, in one pass or two (FFTConv.h, FFTConvParts.h). A library has transforms of any
// length; a convolution by them is their product (hybrid-expand-long-convolutions).
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid {

/// Our kernels; the library wherever it can; the library where ours end or are expected to be
/// slower.
enum class TransformsBy { Own, Cufft, Auto };

namespace cuda {

/// The most points of rfft and irfft that our kernels take where there is a choice.
///
/// By the model of performance, in microseconds on an H100, of f32. Ours: a block reads all inputs,
/// one after the other, so that a small grid takes as long as one block does. By the library: one
/// kernel up to 8192 points, and one of ours that takes re and im apart.
///
///   points x channels   128 x 512   256 x 512   512 x 512   1024 x 512   2048 x 512   8192 x 512
///   ours                      8.2        13.9        25.1         57.6          186         2357
///   library                   4.9         5.1         5.5          6.2          7.8         16.9
///
/// What a call of the library costs is the least certain of it, and a model that needs no library
/// runs in more places: it has to be worth more than 10 microseconds.
constexpr int64_t mostSummedPoints = 256;

constexpr bool transformsByLibrary(TransformsBy by, int64_t points) {
  return by == TransformsBy::Cufft || (by == TransformsBy::Auto && points > mostSummedPoints);
}

/// Positions and taps but one, together, beyond which convolutions are transforms and their
/// product; `longestOwn`: that our kernels take. By count of bytes of memory that a position moves
/// forward, in f32 with as many taps as positions, so that a transform has twice as many points:
///
///   ours in two passes   40: 4 + 8 to part, 8 + 8 to multiply, 8 + 4 to merge
///   library             132: 12 to pad and to cut; then of each point 4 padded, 16 a transform in
///                            two passes and again back, 8 + 8 to take re and im apart and
///                            together, 8 to multiply
///
/// A library may take fewer points, as few as 55 % of the power of two, and still moves 1.9 times
/// what ours do. So what ours can they compute, whatever the length's factors are.
constexpr int64_t longestConvolution(TransformsBy by, int64_t longestOwn) {
  if (by == TransformsBy::Own)
    return INT64_MAX;
  return by == TransformsBy::Cufft ? 0 : longestOwn;
}

} // namespace cuda

} // namespace hybrid
