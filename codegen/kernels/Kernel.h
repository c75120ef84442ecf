//===- Kernel.h - what the contracts of the kernels are written with --------===//
//
// A contract is a header of this folder, X.h: the parameter structs of the op's kernels, what each
// kernel computes, its buffers, and what a device decides: how the work is divided, and how much
// memory of its own an item has. The kernels are in cpu/X.cpp and cuda/X.cuh. A contract is plain
// C++20, read by lowerings, kernels and tests.
//
// A kernel is a struct with its `Params`, its name, which of its buffers it writes beside a store
// (it reads the others), and, for the devices that have it, its grid:
//
//   struct ShortConvForward : KernelOf<ShortConvParams, "short_conv_forward", 5> {
//     HYBRID_ON_CPU(shortConvItems(p))
//     HYBRID_ON_CUDA(cuda::shortConvGrid(p))
//   };
//
// for parameters p and tensors of T. Other decisions of a device are functions onCpu<T>() and
// onCuda<T>() of a struct, too. Every field of a parameter struct
// is 8 bytes wide (int64_t, double or an enumeration), and the struct ends with HYBRID_FIELDS.
//
// Calling convention on the CPU. Every kernel K exists as K_f32 and K_f64 with the signature
//
//   void K_f32(int64_t lo, int64_t hi, void *const *buffers, void *scratch, const KParams *params,
//              uint64_t rounded);
//
// (symbols hybrid_K_f32, hybrid_K_f64) and computes work items [lo, hi) of its grid. Work items are
// independent: any split over threads gives the same bits. `params` points to a constant: the
// wrapper makes it a compile-time constant, and `rounded` as well, so a branch on them costs
// nothing. Scratch memory is 64-byte aligned; what it holds before a call does not matter.
//
// A kernel's HYBRID_ACTIVATIONS may be bf16 in memory where its other tensors are f32, and so may
// its HYBRID_ROUNDABLE, for the sake of others; a store is one of them where its number is there.
// On the CPU bit i of `rounded` says so of buffer i (cpu/Activation.h), on CUDA its type does.
//
// On CUDA rmsnorm_forward is the function template rmsnormForward<T, P>(item, buffers...), which a
// block runs for a work item (cuda/Prelude.cuh).
//
// Layout. An activation is `rows x columns`: rows = batch*length, columns contiguous, and
// a row stride in elements (so that a slice of channels is a view). Weights are dense.
// T is float or double. On the CPU vectors are 64 bytes: `lanes<T>` = 16 or 8 contiguous channels.
//
// "optional" buffers keep their place in `buffers` (null) when the matching has* field is 0. A
// buffer that is a store comes last: there the compiler may put what is computed with each element.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid {

template <typename T> constexpr int64_t lanes = 64 / static_cast<int64_t>(sizeof(T));

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How a kernel runs: its work items, on CUDA the threads of each one's block, and the bytes of
/// memory of its own: on the CPU scratch memory of a thread, on CUDA shared memory of a block.
struct Grid {
  int64_t items, threads = 0, bytes = 0;
};

/// A string that is an argument of a template.
template <unsigned long size> struct StringArgument {
  char text[size];
  constexpr StringArgument(const char (&from)[size]) {
    for (unsigned long i = 0; i < size; ++i)
      text[i] = from[i];
  }
};
/// Whether `buffer` is one of these.
template <int64_t... buffers> constexpr bool isAmong([[maybe_unused]] int64_t buffer) {
  return ((buffer == buffers) || ...);
}
/// What every kernel has: `written` numbers the buffers that it writes beside its store. A struct
/// that derives from it adds the grids of the devices that have it.
template <typename KernelParams, StringArgument kernelName, int64_t... written> struct KernelOf {
  using Params = KernelParams;
  static constexpr const char *name() { return kernelName.text; }
  static constexpr bool writes(int64_t buffer, [[maybe_unused]] bool onCpu) {
    return isAmong<written...>(buffer);
  }
  static constexpr bool isActivation(int64_t, [[maybe_unused]] bool onCpu) { return false; }
  static constexpr bool isRoundable(int64_t) { return false; }
  static constexpr bool storesRows(const Params &) { return false; }
  static constexpr int64_t rowOperand = -1;
  /// Whether an item takes hardly longer than to read its buffers, so that where there are few of
  /// them a launch takes longer than they do. On CUDA a block may then run them beside others.
  static constexpr bool isBrief = false;
};
/// The buffers that are activations: for tensors of f32 they may lie in memory as bf16.
#define HYBRID_ACTIVATIONS(...)                                                                    \
  static constexpr bool isActivation(int64_t buffer, [[maybe_unused]] bool onCpu) {                \
    return hybrid::isAmong<__VA_ARGS__>(buffer);                                                   \
  }
/// The buffers that may be an activation of a neighbour or part of the residual stream, as a norm's
/// input: they lie in memory as bf16 where another step makes them so.
#define HYBRID_ROUNDABLE(...)                                                                      \
  static constexpr bool isRoundable(int64_t buffer) { return hybrid::isAmong<__VA_ARGS__>(buffer); }
/// Whether on CUDA neighbouring lanes have a whole row when they store it, the same for all warps
/// (cuda/StagedSums.cuh), so that a function of rows can be computed there.
#define HYBRID_STORES_ROWS(...)                                                                    \
  static constexpr bool storesRows(const Params &p) { return __VA_ARGS__; }
/// The buffer whose rows, one by one, those of the result are a function of. On CUDA a kernel that
/// stores rows can compute it: beside rmsnormBackward is rmsnormBackwardRows<T, P>(the other
/// buffers..., a store), itself a store of such rows. What the kernel writes for each of its items,
/// as sums over their rows, is then written by the other kernel's items, each for equally many.
#define HYBRID_ROW_FUNCTION_OF(buffer) static constexpr int64_t rowOperand = buffer;
/// A Grid, or its members, of parameters p and the element type T.
#define HYBRID_ON_CPU(...)                                                                         \
  template <typename T> static constexpr Grid onCpu([[maybe_unused]] const Params &p) {            \
    return {__VA_ARGS__};                                                                          \
  }
#define HYBRID_ON_CUDA(...)                                                                        \
  template <typename T> static constexpr Grid onCuda([[maybe_unused]] const Params &p) {           \
    return {__VA_ARGS__};                                                                          \
  }

/// The last line of a parameter struct: all its fields in order, so that the compiler can write
/// them into a source, and the file of the contract.
#define HYBRID_FIELDS(...)                                                                         \
  static constexpr const char *contractFile() { return __FILE__; }                                 \
  template <typename Visit> constexpr void visitFields(Visit visit) const {                        \
    visit(#__VA_ARGS__, __VA_ARGS__);                                                              \
  }

} // namespace hybrid
