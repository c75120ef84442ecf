//===- Launch.h - kernels of either device, by their contracts --------------===//
//
// One list of cases and one comparison an op serve both devices: compiled with HYBRID_CUDA_SHIM the
// kernels are those of codegen/kernels/cuda, whose constants are known when the test is compiled
// and whose threads run as fibers; otherwise those of codegen/kernels/cpu, which a test runs over
// its grid in one piece and in uneven pieces, whose results must have the same bits.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "test/unit/kernels/KernelTest.h"
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#ifdef HYBRID_CUDA_SHIM
#include "test/unit/cuda/KernelTest.h"
#endif

namespace hybrid::test {

using cpu::test::Doubles;
using cpu::test::randomDoubles;
using cpu::test::relativeError;
using cpu::test::Scalars;
using cpu::test::Tensor;
using cpu::test::tolerance;

#ifdef HYBRID_CUDA_SHIM
inline constexpr bool onCuda = true;
#else
inline constexpr bool onCuda = false;
#endif

/// What a contract decides for this device.
template <typename Decision, typename T, typename... Arguments>
constexpr auto decided(Arguments &&...arguments) {
  if constexpr (onCuda)
    return Decision::template onCuda<T>(arguments...);
  else
    return Decision::template onCpu<T>(arguments...);
}

/// The function of a kernel on this device. HYBRID_TEST_KERNEL(RmsNormForward, rmsnorm_forward,
/// rmsnormForward) defines it.
template <typename Kernel> struct Function;

#ifdef HYBRID_CUDA_SHIM
#define HYBRID_TEST_KERNEL(contract, cpuName, cudaName)                                            \
  template <> struct hybrid::test::Function<hybrid::contract> {                                    \
    template <typename T, auto P, typename... Buffers>                                             \
    static void run(int64_t item, Buffers... buffers) {                                            \
      hybrid::cuda::cudaName<T, P>(item, buffers...);                                              \
    }                                                                                              \
  };
#else
#define HYBRID_TEST_KERNEL(contract, cpuName, cudaName)                                            \
  extern "C" hybrid::cpu::test::Kernel<hybrid::contract::Params> hybrid_##cpuName##_f32,           \
      hybrid_##cpuName##_f64;                                                                      \
  template <> struct hybrid::test::Function<hybrid::contract> {                                    \
    template <typename T>                                                                          \
    static constexpr auto *pointer =                                                               \
        std::is_same_v<T, float> ? hybrid_##cpuName##_f32 : hybrid_##cpuName##_f64;                \
  };
#endif

/// A case as a constant, which the constants of a CUDA kernel are made of.
template <auto given> struct Fixed {
  static constexpr auto value = given;
};
/// A case of the CPU.
template <typename Case> struct Given {
  Case value;
};
template <typename Case> Given(Case) -> Given<Case>;

/// check(case) for each case of an array, a Fixed or a Given.
template <const auto &cases, typename Check> void forEachCase(Check check) {
  [&]<size_t... i>(std::index_sequence<i...>) {
    if constexpr (onCuda)
      (check(Fixed<cases[i]>()), ...);
    else
      (check(Given{cases[i]}), ...);
  }(std::make_index_sequence<std::size(cases)>());
}

/// body(case) if `holds(case)`, a lambda without captures: launches that other cases do without are
/// not compiled for them.
template <auto c, typename Holds, typename Body> void when(Fixed<c> of, Holds, Body body) {
  if constexpr (Holds{}(c))
    body(of);
}
template <typename Case, typename Holds, typename Body>
void when(const Given<Case> &of, Holds holds, Body body) {
  if (holds(of.value))
    body(of);
}

/// A tensor that a launch writes.
struct Output {
  template <typename T> Output(Tensor<T> *tensor) {
    auto before = std::make_shared<Tensor<T>>(*tensor), written = std::make_shared<Tensor<T>>();
    rewind = [=] { *written = *tensor, tensor->assign(*before); };
    isAsWritten = [=] { return tensor->sameBits(*written); };
    guardsIntact = [=] { return tensor->guardsIntact(); };
  }
  /// Notes what has been written, and puts back what was there before.
  std::function<void()> rewind;
  std::function<bool()> isAsWritten, guardsIntact;
};

#ifdef HYBRID_CUDA_SHIM

/// Launches the kernel with the constants `params(case)`, a lambda without captures, and pointers
/// to its buffers; what it writes are elements of `outputs` and nothing beside them.
template <typename Kernel, typename T, auto c, typename Params, typename... Buffers>
void launch(Fixed<c>, Params, std::initializer_list<Output> outputs, Buffers... buffers) {
  static constexpr auto P = Params{}(c);
  constexpr Grid grid = Kernel::template onCuda<T>(P);
  cuda::test::run(Kernel::name(), grid.items, static_cast<int>(grid.threads), grid.bytes,
                  [&](int64_t item) { Function<Kernel>::template run<T, P>(item, buffers...); });
  for (const Output &output : outputs)
    EXPECT_TRUE(output.guardsIntact()) << Kernel::name();
}

#else

template <typename Kernel, typename T, typename Case, typename Params, typename... Buffers>
void launch(const Given<Case> &of, Params params, std::initializer_list<Output> outputs,
            Buffers... buffers) {
  const auto p = params(of.value);
  const Grid grid = Kernel::template onCpu<T>(p);
  auto address = [](const void *pointer) { return const_cast<void *>(pointer); };
  const std::vector<void *> all{address(buffers)...};
  auto *kernel = Function<Kernel>::template pointer<T>;
  cpu::test::callWhole(kernel, grid.items, all, p, grid.bytes);
  for (const Output &output : outputs)
    output.rewind();
  cpu::test::callInPieces(kernel, grid.items, all, p, grid.bytes);
  for (const Output &output : outputs) {
    EXPECT_TRUE(output.isAsWritten()) << Kernel::name() << " depends on the split";
    EXPECT_TRUE(output.guardsIntact()) << Kernel::name();
  }
}

#endif

} // namespace hybrid::test
