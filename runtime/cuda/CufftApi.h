//===- CufftApi.h - the part of cuFFT that the runtime calls ----------------===//
//
// As DriverApi.h: prototypes and constants of our own, compared with cufft.h by a test. The library
// is opened when the first program with a transform by it is prepared.
// Source: cuFFT documentation, CUDA 12.0 to 13.1, in which these entry points are the same.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/Library.h"
#include <cstddef>
#include <string>
#include <string_view>

namespace hybrid::rt::cuda {

using FftStatus = int; // cufftResult; 0: success
using FftPlan = int;   // cufftHandle

/// cufftComplex and cufftDoubleComplex: real and imaginary part.
struct FftComplexF32 {
  float re, im;
};
struct FftComplexF64 {
  double re, im;
};

/// cufftType: real to complex, complex to real, of f32 and of f64.
constexpr int fftForwardF32 = 0x2a, fftInverseF32 = 0x2c, fftForwardF64 = 0x6a,
              fftInverseF64 = 0x6c;

// Name, the symbol in the library, result, parameters.
#define HYBRID_CUFFT_CALLS(CALL)                                                                   \
  CALL(version, "cufftGetVersion", FftStatus, (int *version))                                      \
  CALL(create, "cufftCreate", FftStatus, (FftPlan * plan))                                         \
  CALL(destroy, "cufftDestroy", FftStatus, (FftPlan plan))                                         \
  CALL(setAutoAllocation, "cufftSetAutoAllocation", FftStatus, (FftPlan plan, int allocates))      \
  CALL(makePlan, "cufftMakePlanMany64", FftStatus,                                                 \
       (FftPlan plan, int rank, long long *sizes, long long *fromEmbed, long long fromStride,      \
        long long fromDistance, long long *toEmbed, long long toStride, long long toDistance,      \
        int type, long long batch, size_t *workspaceBytes))                                        \
  CALL(setWorkspace, "cufftSetWorkArea", FftStatus, (FftPlan plan, void *workspace))               \
  CALL(setStream, "cufftSetStream", FftStatus, (FftPlan plan, Stream stream))                      \
  CALL(forwardF32, "cufftExecR2C", FftStatus, (FftPlan plan, float *from, FftComplexF32 *to))      \
  CALL(inverseF32, "cufftExecC2R", FftStatus, (FftPlan plan, FftComplexF32 * from, float *to))     \
  CALL(forwardF64, "cufftExecD2Z", FftStatus, (FftPlan plan, double *from, FftComplexF64 *to))     \
  CALL(inverseF64, "cufftExecZ2D", FftStatus, (FftPlan plan, FftComplexF64 * from, double *to))

HYBRID_LIBRARY_TABLE(CufftApi, HYBRID_CUFFT_CALLS)

/// Opens libcufft.so.12 or .11 (or the file that HYBRID_CUFFT names), once a process.
Result<const CufftApi *> openCufft();

/// "12.0.0".
std::string versionText(const CufftApi &library);
/// "cufftMakePlanMany64: CUFFT_INVALID_SIZE".
std::string describe(const CufftApi &library, std::string_view call, FftStatus status);

} // namespace hybrid::rt::cuda
