//===- Device.cuh - the prelude's primitives on a GPU -----------------------===//
//
// Counterpart of shim/Shim.h: the same names, in CUDA C++ as NVRTC compiles it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

#define HYBRID_DEVICE __device__ __forceinline__
#define HYBRID_UNROLL _Pragma("unroll")
#define HYBRID_NO_UNROLL _Pragma("unroll 1")
#define HYBRID_UNROLL_BY_8 _Pragma("unroll 8")
/// A kernel of an executable: HYBRID_KERNEL(symbol, threads, blocks, (void *b0, void *b1),
/// statement). `item` is the work item of the block. The compiler leaves so many registers that
/// `blocks` run on a multiprocessor at a time; where nothing says that it can without spills
/// (codegen/cuda/ResidentBlocks.h), one.
///
/// Of parameters that do not alias the compiler knows that nobody writes what is only read: such
/// loads have no order (ld.global.nc), so that many are on their way at a time, and the assembler
/// moves them in front of the wait, too. It moves none in front of a branch, hence the question
/// whose answer only the launch knows: no item is below 0.
#define HYBRID_PARAMETERS(...) __VA_ARGS__
#define HYBRID_KERNEL(symbol, threads, blocks, parameters, ...)                                    \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                    \
      symbol(HYBRID_PARAMETERS parameters, int64_t first) {                                        \
    hybrid::cuda::followEarlierLaunch();                                                           \
    if (first < 0)                                                                                 \
      return;                                                                                      \
    const int64_t item = first + blockIdx.x;                                                       \
    __VA_ARGS__                                                                                    \
  }

namespace hybrid::cuda {

/// The launch behind this one may be made ready while this one runs, and this one, which was, waits
/// until all before it has written its results (programmatic dependent launch, since sm_90). All
/// kernels begin so: the runtime counts on it.
HYBRID_DEVICE void followEarlierLaunch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The same pointer into global memory, of which the compiler knows nothing more: not that it is a
/// kernel's parameter, and not what was loaded through another of the same place, which it would
/// rather keep in registers.
template <typename T> HYBRID_DEVICE T *opaque(T *pointer) {
  // As an address of global memory: of a generic one loads would have to ask which memory it is in.
  size_t address = __cvta_generic_to_global(pointer);
  asm volatile("" : "+l"(address));
  return static_cast<T *>(__cvta_global_to_generic(address));
}

/// As warpgroup products want their tiles to begin (WarpgroupTile.cuh).
extern __shared__ __align__(1024) unsigned char hybridSharedMemory[];

/// Dynamic shared memory of the block from this byte on (a multiple of 16 for vectors).
template <typename T> HYBRID_DEVICE T *sharedMemory(int64_t byteOffset = 0) {
  return reinterpret_cast<T *>(hybridSharedMemory + byteOffset);
}

HYBRID_DEVICE void blockBarrier() { __syncthreads(); }
HYBRID_DEVICE void warpBarrier() { __syncwarp(); }

/// x in a register: the compiler does not compute it anew in every round of a loop.
HYBRID_DEVICE int inRegister(int x) {
  asm volatile("" : "+r"(x));
  return x;
}

/// Stores words by one instruction, which is up to the compiler otherwise, and it often misses what
/// it could know of the address: a multiple of their size.
HYBRID_DEVICE void storeWords(void *global, const uint32_t (&words)[1]) {
  *static_cast<uint32_t *>(global) = words[0];
}
HYBRID_DEVICE void storeWords(void *global, const uint32_t (&words)[2]) {
  asm volatile("st.global.v2.u32 [%0], {%1,%2};" ::"l"(__cvta_generic_to_global(global)),
               "r"(words[0]), "r"(words[1])
               : "memory");
}
HYBRID_DEVICE void storeWords(void *global, const uint32_t (&words)[4]) {
  asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(__cvta_generic_to_global(global)),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

/// Copies `bytes` (4, 8 or 16) to shared memory, or zeros if not `there`, without waiting. Copies
/// belong to the next commitCopies() of their thread; waitCopies<n>() waits for all committed but
/// the last n. Other threads see them behind a barrier after that.
template <int bytes> HYBRID_DEVICE void copyAsync(void *shared, const void *global, bool there) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global),
                 "r"(there ? 16 : 0)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(global),
                 "n"(bytes), "r"(there ? bytes : 0)
                 : "memory");
}
/// Of what is there.
template <int bytes> HYBRID_DEVICE void copyAsync(void *shared, const void *global) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(global), "n"(bytes)
                 : "memory");
}
HYBRID_DEVICE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> HYBRID_DEVICE void waitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

constexpr unsigned allLanes = 0xffffffffu;
template <typename T> HYBRID_DEVICE T shuffle(T value, int lane) {
  return __shfl_sync(allLanes, value, lane);
}
template <typename T> HYBRID_DEVICE T shuffleXor(T value, int mask) {
  return __shfl_xor_sync(allLanes, value, mask);
}
/// The value of lane - delta; lanes below delta keep their own.
template <typename T> HYBRID_DEVICE T shuffleUp(T value, int delta) {
  return __shfl_up_sync(allLanes, value, delta);
}
/// The value of lane + delta; the last delta lanes keep their own.
template <typename T> HYBRID_DEVICE T shuffleDown(T value, int delta) {
  return __shfl_down_sync(allLanes, value, delta);
}

/// A bit a lane: whether its `value` is true.
HYBRID_DEVICE uint32_t ballot(bool value) { return __ballot_sync(allLanes, value); }
HYBRID_DEVICE int populationCount(uint32_t bits) { return __popc(bits); }

/// 2^x, relative error 2^-22.
HYBRID_DEVICE float exponential2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
HYBRID_DEVICE double exponential2(double x) { return exp2(x); }
/// e^x. The product with log2(e) in two parts keeps the error of large |x| small.
HYBRID_DEVICE float exponential(float x) {
  float high = x * 1.4426950408889634f;
  float low = fmaf(x, 1.4426950408889634f, -high) + x * 1.925963033500e-8f;
  // Beyond the range of f32 `low` may be anything, and y is 0, inf or not a number.
  float correction = fminf(fmaxf(low * 0.6931471805599453f, -0.5f), 0.5f);
  return exponential2(high) * (1.f + correction);
}
HYBRID_DEVICE double exponential(double x) { return exp(x); }
HYBRID_DEVICE float exponentialMinus1(float x) { return expm1f(x); }
HYBRID_DEVICE double exponentialMinus1(double x) { return expm1(x); }
HYBRID_DEVICE float logarithm(float x) { return logf(x); }
HYBRID_DEVICE double logarithm(double x) { return log(x); }
HYBRID_DEVICE float logarithm1p(float x) { return log1pf(x); }
HYBRID_DEVICE double logarithm1p(double x) { return log1p(x); }
HYBRID_DEVICE float sine(float x) { return sinf(x); }
HYBRID_DEVICE double sine(double x) { return sin(x); }
HYBRID_DEVICE float cosine(float x) { return cosf(x); }
HYBRID_DEVICE double cosine(double x) { return cos(x); }
HYBRID_DEVICE float hyperbolicTangent(float x) { return tanhf(x); }
HYBRID_DEVICE double hyperbolicTangent(double x) { return tanh(x); }
HYBRID_DEVICE float errorFunction(float x) { return erff(x); }
HYBRID_DEVICE double errorFunction(double x) { return erf(x); }
HYBRID_DEVICE float arcTangent2(float y, float x) {
  return static_cast<float>(atan2(static_cast<double>(y), static_cast<double>(x)));
}
HYBRID_DEVICE double arcTangent2(double y, double x) { return atan2(y, x); }
HYBRID_DEVICE float squareRoot(float x) { return sqrtf(x); }
HYBRID_DEVICE double squareRoot(double x) { return sqrt(x); }
HYBRID_DEVICE float power(float x, float y) { return powf(x, y); }
HYBRID_DEVICE double power(double x, double y) { return pow(x, y); }
HYBRID_DEVICE float reciprocalSquareRoot(float x) { return rsqrtf(x); }
HYBRID_DEVICE double reciprocalSquareRoot(double x) { return rsqrt(x); }
/// 1 / x, relative error 2^-23, where both are normal numbers; zero of infinity.
HYBRID_DEVICE float approximateReciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
HYBRID_DEVICE double approximateReciprocal(double x) { return 1 / x; }
HYBRID_DEVICE float absolute(float x) { return fabsf(x); }
HYBRID_DEVICE double absolute(double x) { return fabs(x); }
HYBRID_DEVICE float multiplyAdd(float a, float b, float c) { return fmaf(a, b, c); }
HYBRID_DEVICE double multiplyAdd(double a, double b, double c) { return fma(a, b, c); }
/// The larger of two numbers; what is none is ignored.
HYBRID_DEVICE float maximumNumber(float a, float b) { return fmaxf(a, b); }
HYBRID_DEVICE double maximumNumber(double a, double b) { return fmax(a, b); }
HYBRID_DEVICE bool isFinite(float x) { return fabsf(x) < __int_as_float(0x7f800000); }
HYBRID_DEVICE bool isFinite(double x) {
  return fabs(x) < __longlong_as_double(0x7ff0000000000000LL);
}
template <typename T> HYBRID_DEVICE T infinity();
template <> HYBRID_DEVICE float infinity<float>() { return __int_as_float(0x7f800000); }
template <> HYBRID_DEVICE double infinity<double>() {
  return __longlong_as_double(0x7ff0000000000000LL);
}
template <typename T> HYBRID_DEVICE T notANumber();
template <> HYBRID_DEVICE float notANumber<float>() { return __int_as_float(0x7fffffff); }
template <> HYBRID_DEVICE double notANumber<double>() {
  return __longlong_as_double(0x7fffffffffffffffLL);
}

/// Two bytes of a number with 8 bits of precision.
struct bf16 {
  uint16_t bits;
};
/// To the nearest, ties to even.
HYBRID_DEVICE bf16 toBf16(float x) {
  bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
/// Two of them in a word as the matrix units take them: `low` in the low half.
HYBRID_DEVICE uint32_t packBf16(float low, float high) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
HYBRID_DEVICE float fromBf16(bf16 x) {
  return __uint_as_float(static_cast<uint32_t>(x.bits) << 16);
}
/// A number of global memory that is not wanted again soon: caches let go of it first. What the
/// address is made of is opaque(), or the compiler may read it before the launch has waited for the
/// one before.
HYBRID_DEVICE float loadOnce(const float *from) {
  float x;
  asm("ld.global.cs.f32 %0, [%1];" : "=f"(x) : "l"(__cvta_generic_to_global(from)));
  return x;
}
HYBRID_DEVICE double loadOnce(const double *from) {
  double x;
  asm("ld.global.cs.f64 %0, [%1];" : "=d"(x) : "l"(__cvta_generic_to_global(from)));
  return x;
}
HYBRID_DEVICE bf16 loadOnce(const bf16 *from) {
  bf16 x;
  asm("ld.global.cs.u16 %0, [%1];" : "=h"(x.bits) : "l"(__cvta_generic_to_global(from)));
  return x;
}
/// One that is written for those who come much later. The launch does not read it.
HYBRID_DEVICE void storeOnce(float *to, float x) {
  asm volatile("st.global.cs.f32 [%0], %1;" : : "l"(__cvta_generic_to_global(to)), "f"(x));
}
HYBRID_DEVICE void storeOnce(double *to, double x) {
  asm volatile("st.global.cs.f64 [%0], %1;" : : "l"(__cvta_generic_to_global(to)), "d"(x));
}
HYBRID_DEVICE void storeOnce(bf16 *to, bf16 x) {
  asm volatile("st.global.cs.u16 [%0], %1;" : : "l"(__cvta_generic_to_global(to)), "h"(x.bits));
}
HYBRID_DEVICE uint32_t bitsOf(float x) { return __float_as_uint(x); }
HYBRID_DEVICE float fromBits(uint32_t bits) { return __uint_as_float(bits); }
/// The lower halves of two words, and the upper ones, that of `a` below.
HYBRID_DEVICE uint32_t lowerHalves(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x5410); }
HYBRID_DEVICE uint32_t upperHalves(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x7632); }
/// Rounded to 11 bits of precision, as tf32 matrix units take their operands.
HYBRID_DEVICE uint32_t toTf32(float x) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

/// d += a b for a warp: mma.sync.m16n8k16, row x col, bf16 products summed in f32. Fragments as in
/// the PTX manual: with g = lane / 4 and t = lane % 4, a[0..3] = rows g, g+8, g, g+8 at columns
/// 2t.. and (a[2], a[3]) 2t+8..; b[0..1] = rows 2t.. and 2t+8.. of column g; d = rows g, g, g+8,
/// g+8 at columns 2t, 2t+1.
HYBRID_DEVICE void mmaBf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(d[0]), "f"(d[1]),
        "f"(d[2]), "f"(d[3]));
}
/// The same of 8 columns of a and 8 rows of b, m16n8k8: a[0..1] and b are those of above.
HYBRID_DEVICE void mmaBf16(float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%7,%8,%9,%10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]));
}
/// The same for tf32, m16n8k8: a[0..3] = (g, t), (g+8, t), (g, t+4), (g+8, t+4); b = (t, g),
/// (t+4, g).
HYBRID_DEVICE void mmaTf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(d[0]), "f"(d[1]),
        "f"(d[2]), "f"(d[3]));
}

/// Four matrices of 8 x 8 numbers of 16 bits in shared memory: lanes 8i to 8i + 7 point to the rows
/// of matrix i, 16 bytes each. Word i of a lane is of matrix i row g at columns 2t.., or
/// `transposed` column g at rows 2t..: operands of mmaBf16().
template <bool transposed, typename T>
HYBRID_DEVICE void loadMatrices(uint32_t (&words)[4], const T *row) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
}
/// A matrix that lies in the lanes of a warp as loadMatrices() leaves one, transposed.
HYBRID_DEVICE uint32_t transposeMatrix(uint32_t word) {
  uint32_t turned;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(word));
  return turned;
}

} // namespace hybrid::cuda

#include "codegen/kernels/cuda/DeviceWarpgroup.cuh"
