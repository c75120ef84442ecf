//===- Shim.h - the prelude's primitives on a CPU ---------------------------===//
//
// Included before the kernels, in place of Device.cuh: the same names in plain C++, for tests on
// machines without a GPU. A block is one CPU thread, its threads are fibers that change places at
// barriers and at exchanges of a warp (Launch.cpp). Includes little, so that images compile
// quickly.
//
//===----------------------------------------------------------------------===//
#pragma once
#define HYBRID_CUDA_SHIM // that it is in Device.cuh's place
#include "test/cuda/shim/Block.h"
#include "test/cuda/shim/Instrumentation.h"

// Kernels may write HYBRID_DEVICE inline: CUDA's __forceinline__ says inline as well.
#pragma clang diagnostic ignored "-Wduplicate-decl-specifier"
// Not always inlined: that costs a third more time to compile, and no less to run.
#define HYBRID_DEVICE inline
// Loops stay loops: unrolling them costs time to compile, and a CPU gains nothing.
#define HYBRID_UNROLL
#define HYBRID_NO_UNROLL
#define HYBRID_UNROLL_BY_8

#define HYBRID_EXPORT __attribute__((visibility("default")))
#define HYBRID_PARAMETERS(...) __VA_ARGS__
/// A kernel of an executable, called once by each thread with pointers to its arguments. The driver
/// checks launches against `symbol`_threads, as a GPU does against __launch_bounds__, and copies
/// `symbol`_parameters arguments of 8 bytes.
#define HYBRID_KERNEL(symbol, threads, blocks, parameters, ...)                                    \
  static void symbol##_kernel(HYBRID_PARAMETERS parameters, int64_t first) {                       \
    [[maybe_unused]] const int64_t item = first + blockIdx.x;                                      \
    __VA_ARGS__                                                                                    \
  }                                                                                                \
  extern "C" {                                                                                     \
  HYBRID_EXPORT extern const int symbol##_threads, symbol##_parameters;                            \
  const int symbol##_threads = threads;                                                            \
  const int symbol##_parameters = hybrid::shim::countParameters(symbol##_kernel);                  \
  HYBRID_EXPORT void symbol(void **arguments) { hybrid::shim::call(symbol##_kernel, arguments); }  \
  }

extern "C" HYBRID_EXPORT __attribute__((used)) inline constexpr int hybrid_shim_abi =
    hybrid::shim::abiVersion;

// A GPU faults on an address that is not a multiple of what is read there, and x86 does not:
// kernels are compiled with -fsanitize=alignment,array-bounds -fsanitize-minimal-runtime, which
// calls these.
extern "C" __attribute__((weak)) void __ubsan_handle_type_mismatch_minimal() {
  hybrid::shim::Block &block = hybrid::shim::block();
  block.stop(block, hybrid::shim::Stop::Misaligned);
}
extern "C" __attribute__((weak)) void __ubsan_handle_out_of_bounds_minimal() {
  hybrid::shim::Block &block = hybrid::shim::block();
  block.stop(block, hybrid::shim::Stop::OutOfBounds);
}

namespace hybrid::shim {

struct Index {
  uint32_t x, y;
};
HYBRID_DEVICE Index threadIndex() { return {block().thread, 0}; }
HYBRID_DEVICE Index blockIndex() { return {block().index, block().row}; }
HYBRID_DEVICE Index blockSize() { return {block().threads, 1}; }
HYBRID_DEVICE Index gridSize() { return {block().blocks, block().rows}; }

template <typename... Arguments> constexpr int countParameters(void (*)(Arguments...)) {
  static_assert(((sizeof(Arguments) == 8) && ...), "kernels take pointers and int64_t only");
  return sizeof...(Arguments);
}

struct Call {
  template <typename... Arguments> Call(void (*kernel)(Arguments...), Arguments... arguments) {
    kernel(arguments...);
  }
};
template <typename... Arguments> void call(void (*kernel)(Arguments...), void **arguments) {
  // Braces: evaluated from left to right.
  Call{kernel, *static_cast<Arguments *>(*arguments++)...};
}

} // namespace hybrid::shim

// Blocks have one dimension, grids two, as all our launches.
#define threadIdx ::hybrid::shim::threadIndex()
#define blockIdx ::hybrid::shim::blockIndex()
#define blockDim ::hybrid::shim::blockSize()
#define gridDim ::hybrid::shim::gridSize()

namespace hybrid::cuda {

template <typename T> HYBRID_DEVICE T *sharedMemory(int64_t byteOffset = 0) {
  return reinterpret_cast<T *>(shim::block().sharedMemory + byteOffset);
}

HYBRID_DEVICE void blockBarrier() {
  shim::Block &block = shim::block();
  block.stop(block, shim::Stop::BlockBarrier);
}
HYBRID_DEVICE void warpBarrier() {
  shim::Block &block = shim::block();
  block.stop(block, shim::Stop::WarpBarrier);
}

HYBRID_DEVICE int inRegister(int x) { return x; }
template <typename T> HYBRID_DEVICE T *opaque(T *pointer) { return pointer; }
template <size_t count>
HYBRID_DEVICE void storeWords(void *global, const uint32_t (&words)[count]) {
  for (size_t i = 0; i < count; ++i)
    static_cast<uint32_t *>(global)[i] = words[i];
}

/// Done as late as it may be, in waitCopies(): reading too early shows as what was there before.
template <int bytes> HYBRID_DEVICE void copyAsync(void *shared, const void *global, bool there) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16);
  shim::Block &block = shim::block();
  block.startCopy(block, shared, there ? global : nullptr, bytes);
}
template <int bytes> HYBRID_DEVICE void copyAsync(void *shared, const void *global) {
  copyAsync<bytes>(shared, global, true);
}
HYBRID_DEVICE void commitCopies() {
  shim::Block &block = shim::block();
  block.commitCopies(block);
}
template <int pending> HYBRID_DEVICE void waitCopies() {
  shim::Block &block = shim::block();
  block.waitCopies(block, pending);
}

/// The value that lane `source` brings to this exchange.
template <typename T> HYBRID_DEVICE T exchange(T value, uint32_t source) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA shuffles numbers of 4 or 8 bytes");
  shim::Block &block = shim::block();
  shim::Exchange *exchange = block.exchange;
  __builtin_memcpy(&exchange->values[block.thread % 32], &value, sizeof(T));
  block.stop(block, shim::Stop::Shuffle);
  T result;
  __builtin_memcpy(&result, &exchange->values[source], sizeof(T));
  return result;
}
template <typename T> HYBRID_DEVICE T shuffle(T value, int lane) {
  return exchange(value, static_cast<uint32_t>(lane) % 32);
}
template <typename T> HYBRID_DEVICE T shuffleXor(T value, int mask) {
  return exchange(value, (threadIdx.x ^ static_cast<uint32_t>(mask)) % 32);
}
template <typename T> HYBRID_DEVICE T shuffleUp(T value, int delta) {
  int lane = static_cast<int>(threadIdx.x % 32);
  return exchange(value, static_cast<uint32_t>(lane < delta ? lane : lane - delta));
}
template <typename T> HYBRID_DEVICE T shuffleDown(T value, int delta) {
  int lane = static_cast<int>(threadIdx.x % 32);
  return exchange(value, static_cast<uint32_t>(lane + delta > 31 ? lane : lane + delta));
}

/// A bit a lane: whether its `value` is true.
HYBRID_DEVICE uint32_t ballot(bool value) {
  shim::Block &block = shim::block();
  shim::Exchange *exchange = block.exchange;
  exchange->values[block.thread % 32] = value;
  block.stop(block, shim::Stop::Shuffle);
  uint32_t bits = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    bits |= static_cast<uint32_t>(exchange->values[lane]) << lane;
  return bits;
}
HYBRID_DEVICE int populationCount(uint32_t bits) { return __builtin_popcount(bits); }

HYBRID_DEVICE float exponential2(float x) { return __builtin_exp2f(x); }
HYBRID_DEVICE double exponential2(double x) { return __builtin_exp2(x); }
HYBRID_DEVICE float exponential(float x) { return __builtin_expf(x); }
HYBRID_DEVICE double exponential(double x) { return __builtin_exp(x); }
HYBRID_DEVICE float exponentialMinus1(float x) { return __builtin_expm1f(x); }
HYBRID_DEVICE double exponentialMinus1(double x) { return __builtin_expm1(x); }
HYBRID_DEVICE float logarithm(float x) { return __builtin_logf(x); }
HYBRID_DEVICE double logarithm(double x) { return __builtin_log(x); }
HYBRID_DEVICE float logarithm1p(float x) { return __builtin_log1pf(x); }
HYBRID_DEVICE double logarithm1p(double x) { return __builtin_log1p(x); }
HYBRID_DEVICE float sine(float x) { return __builtin_sinf(x); }
HYBRID_DEVICE double sine(double x) { return __builtin_sin(x); }
HYBRID_DEVICE float cosine(float x) { return __builtin_cosf(x); }
HYBRID_DEVICE double cosine(double x) { return __builtin_cos(x); }
HYBRID_DEVICE float hyperbolicTangent(float x) { return __builtin_tanhf(x); }
HYBRID_DEVICE double hyperbolicTangent(double x) { return __builtin_tanh(x); }
HYBRID_DEVICE float errorFunction(float x) { return __builtin_erff(x); }
HYBRID_DEVICE double errorFunction(double x) { return __builtin_erf(x); }
HYBRID_DEVICE float arcTangent2(float y, float x) {
  return static_cast<float>(__builtin_atan2(static_cast<double>(y), static_cast<double>(x)));
}
HYBRID_DEVICE double arcTangent2(double y, double x) { return __builtin_atan2(y, x); }
HYBRID_DEVICE float squareRoot(float x) { return __builtin_sqrtf(x); }
HYBRID_DEVICE double squareRoot(double x) { return __builtin_sqrt(x); }
HYBRID_DEVICE float power(float x, float y) { return __builtin_powf(x, y); }
HYBRID_DEVICE double power(double x, double y) { return __builtin_pow(x, y); }
HYBRID_DEVICE float reciprocalSquareRoot(float x) { return 1.f / __builtin_sqrtf(x); }
HYBRID_DEVICE double reciprocalSquareRoot(double x) { return 1. / __builtin_sqrt(x); }
template <typename T> HYBRID_DEVICE T approximateReciprocal(T x) { return T(1) / x; }
HYBRID_DEVICE float absolute(float x) { return __builtin_fabsf(x); }
HYBRID_DEVICE double absolute(double x) { return __builtin_fabs(x); }
HYBRID_DEVICE float multiplyAdd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HYBRID_DEVICE double multiplyAdd(double a, double b, double c) { return __builtin_fma(a, b, c); }
HYBRID_DEVICE float maximumNumber(float a, float b) { return __builtin_fmaxf(a, b); }
HYBRID_DEVICE double maximumNumber(double a, double b) { return __builtin_fmax(a, b); }
HYBRID_DEVICE bool isFinite(float x) { return __builtin_isfinite(x); }
HYBRID_DEVICE bool isFinite(double x) { return __builtin_isfinite(x); }
template <typename T> HYBRID_DEVICE T infinity() { return static_cast<T>(__builtin_inf()); }
template <typename T> HYBRID_DEVICE T notANumber() { return static_cast<T>(__builtin_nan("")); }

HYBRID_DEVICE uint32_t bitsOf(float x) { return __builtin_bit_cast(uint32_t, x); }
HYBRID_DEVICE float fromBits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// Two bytes of a number with 8 bits of precision.
struct bf16 {
  uint16_t bits;
};
/// To the nearest, ties to even; not-a-number becomes 0x7fff as on a GPU.
HYBRID_DEVICE bf16 toBf16(float x) {
  uint32_t bits = bitsOf(x);
  if (x != x)
    return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
/// Two of them in a word as the matrix units take them: `low` in the low half.
HYBRID_DEVICE uint32_t packBf16(float low, float high) {
  return static_cast<uint32_t>(toBf16(low).bits) | static_cast<uint32_t>(toBf16(high).bits) << 16;
}
HYBRID_DEVICE float fromBf16(bf16 x) { return fromBits(static_cast<uint32_t>(x.bits) << 16); }
template <typename T> HYBRID_DEVICE T loadOnce(const T *from) { return *from; }
template <typename T> HYBRID_DEVICE void storeOnce(T *to, T x) { *to = x; }
HYBRID_DEVICE uint32_t lowerHalves(uint32_t a, uint32_t b) { return (a & 0xffffu) | b << 16; }
HYBRID_DEVICE uint32_t upperHalves(uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000u); }
/// To the nearest of 11 bits of precision, ties away from zero.
HYBRID_DEVICE uint32_t toTf32(float x) {
  if (x != x)
    return 0x7fffffff;
  return isFinite(x) ? (bitsOf(x) + 0x1000) & ~0x1fffu : bitsOf(x);
}

/// Of a lane's words in a fragment of bf16 numbers, the lower or the upper one.
HYBRID_DEVICE float halfOf(uint32_t pair, int upper) {
  return fromBits(upper ? pair & 0xffff0000u : pair << 16);
}
/// The units read the upper 19 bits of an operand and nothing else.
HYBRID_DEVICE float fromTf32(uint32_t bits) { return fromBits(bits & ~0x1fffu); }

/// Adds the product of what all lanes have shown to a lane's part of d.
template <int depth>
HYBRID_DEVICE void addProduct(float (&d)[4], const shim::Exchange &exchange, int lane) {
  using Four = float __attribute__((vector_size(16)));
  const float *a = exchange.matrix.a[lane / 4], *b = exchange.matrix.b[lane % 4 * 2];
  Four sums[4] = {};
  for (int k = 0; k < depth; k += 4) {
    Four rows[2], columns[2];
    __builtin_memcpy(&rows[0], a + k, sizeof(Four));
    __builtin_memcpy(&rows[1], a + k + 8 * 16, sizeof(Four));
    __builtin_memcpy(&columns[0], b + k, sizeof(Four));
    __builtin_memcpy(&columns[1], b + k + 16, sizeof(Four));
    for (int i = 0; i < 4; ++i)
      sums[i] += rows[i / 2] * columns[i % 2];
  }
  for (int i = 0; i < 4; ++i)
    d[i] += (sums[i][0] + sums[i][1]) + (sums[i][2] + sums[i][3]);
}

/// Fragments as Device.cuh says.
inline void mmaBf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  shim::Block &block = shim::block();
  shim::Exchange &exchange = *block.exchange;
  int lane = static_cast<int>(block.thread % 32), group = lane / 4, member = lane % 4;
  for (int upper = 0; upper < 2; ++upper) {
    for (int i = 0; i < 4; ++i)
      exchange.matrix.a[group + i % 2 * 8][member * 2 + upper + i / 2 * 8] = halfOf(a[i], upper);
    for (int i = 0; i < 2; ++i)
      exchange.matrix.b[group][member * 2 + upper + i * 8] = halfOf(b[i], upper);
  }
  block.stop(block, shim::Stop::Matrix);
  addProduct<16>(d, exchange, lane);
}
inline void mmaTf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  shim::Block &block = shim::block();
  shim::Exchange &exchange = *block.exchange;
  int lane = static_cast<int>(block.thread % 32), group = lane / 4, member = lane % 4;
  for (int i = 0; i < 4; ++i)
    exchange.matrix.a[group + i % 2 * 8][member + i / 2 * 4] = fromTf32(a[i]);
  for (int i = 0; i < 2; ++i)
    exchange.matrix.b[group][member + i * 4] = fromTf32(b[i]);
  block.stop(block, shim::Stop::Matrix);
  addProduct<8>(d, exchange, lane);
}

inline void mmaBf16(float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1]) {
  const uint32_t left[4] = {a[0], a[1], 0, 0}, right[2] = {b[0], 0};
  mmaBf16(d, left, right);
}

template <bool transposed, typename T>
HYBRID_DEVICE void loadMatrices(uint32_t (&words)[4], const T *row) {
  static_assert(sizeof(T) == 2);
  shim::Block &block = shim::block();
  shim::Exchange *exchange = block.exchange;
  const uint32_t lane = block.thread % 32, group = lane / 4, pair = lane % 4 * 2;
  exchange->values[lane] = reinterpret_cast<uintptr_t>(row);
  block.stop(block, shim::Stop::Shuffle);
  for (uint32_t i = 0; i < 4; ++i) {
    auto at = [&](uint32_t row, uint32_t column) {
      return static_cast<uint32_t>(
          reinterpret_cast<const T *>(exchange->values[8 * i + row])[column].bits);
    };
    words[i] = transposed ? at(pair, group) | at(pair + 1, group) << 16
                          : at(group, pair) | at(group, pair + 1) << 16;
  }
}
inline uint32_t transposeMatrix(uint32_t word) {
  shim::Block &block = shim::block();
  shim::Exchange *exchange = block.exchange;
  const uint32_t lane = block.thread % 32, group = lane / 4, pair = lane % 4 * 2;
  exchange->values[lane] = word;
  block.stop(block, shim::Stop::Shuffle);
  auto at = [&](uint32_t row) {
    return static_cast<uint32_t>(exchange->values[row * 4 + group / 2] >> group % 2 * 16) & 0xffffu;
  };
  return at(pair) | at(pair + 1) << 16;
}

} // namespace hybrid::cuda

#include "test/cuda/shim/Warpgroup.h"
