//===- Prelude.cuh - what every CUDA kernel of Hybrid is written with -------===//
//
// One text for two compilers: NVRTC makes GPU code of it, and a C++ compiler tests, behind a header
// that makes the threads of a block fibers of one CPU thread (test/cuda/shim/Shim.h). No header of
// the CUDA toolkit is needed.
//
// A kernel is a function template over the element type and a struct of constants,
//
//   template <typename T, RmsNormParams P>
//   HYBRID_DEVICE void rmsnormForward(int64_t item, const T *x, const T *weight, T *y);
//
// run by one block for each work item. All shared memory is dynamic (sharedMemory()), every barrier
// and every warp exchange is reached by all threads, and nothing depends on the order of blocks.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

#ifndef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/Device.cuh"
#endif

namespace hybrid::cuda {

/// A buffer of a launch; becomes a pointer of the type that the kernel takes.
struct Buffer {
  void *data;
  template <typename T> HYBRID_DEVICE operator T *() const { return static_cast<T *>(data); }
};

/// The same, of activations in bf16.
struct RoundedBuffer {
  Buffer buffer;
};

/// An activation that a kernel on T reads, as it lies in memory: of T, or of bf16.
template <typename T> HYBRID_DEVICE const T *readable(const T *data) { return data; }
template <typename T> HYBRID_DEVICE const T *readable(Buffer buffer) {
  return static_cast<const T *>(buffer.data);
}
template <typename T> HYBRID_DEVICE const bf16 *readable(RoundedBuffer rounded) {
  return static_cast<const bf16 *>(rounded.buffer.data);
}
/// One that it writes.
template <typename T> HYBRID_DEVICE T *writable(T *data) { return data; }
template <typename T> HYBRID_DEVICE T *writable(Buffer buffer) {
  return static_cast<T *>(buffer.data);
}
template <typename T> HYBRID_DEVICE bf16 *writable(RoundedBuffer rounded) {
  return static_cast<bf16 *>(rounded.buffer.data);
}
/// body.operator()<i>() for i < count.
template <int count, int i = 0, typename Body> HYBRID_DEVICE void forEachOf(Body body) {
  if constexpr (i < count) {
    body.template operator()<i>();
    forEachOf<count, i + 1>(body);
  }
}

/// One of two types.
template <bool first, typename First, typename Second> struct Choose {
  using Type = First;
};
template <typename First, typename Second> struct Choose<false, First, Second> {
  using Type = Second;
};
/// T, of what is only read as well.
template <typename T> struct WithoutConst {
  using Type = T;
};
template <typename T> struct WithoutConst<const T> {
  using Type = T;
};
/// What an element of it is.
template <typename T, typename Memory> struct ElementAt {
  using Type = T;
};
template <typename T> struct ElementAt<T, RoundedBuffer> {
  using Type = bf16;
};
template <typename T, typename Memory> using ElementOf = typename ElementAt<T, Memory>::Type;
/// The number in an element, and an element from a number.
template <typename T> HYBRID_DEVICE T number(T x) { return x; }
HYBRID_DEVICE float number(bf16 x) { return fromBf16(x); }
template <typename T> HYBRID_DEVICE void put(T &to, T value) { to = value; }
HYBRID_DEVICE void put(bf16 &to, float value) { to = toBf16(value); }

/// A buffer of this block's replica: replicas are rows of the grid, their memory `stride` bytes
/// apart.
template <int64_t stride> HYBRID_DEVICE Buffer ofReplica(void *first) {
  return {static_cast<unsigned char *>(first) + blockIdx.y * stride};
}

constexpr int warpSize = 32;

HYBRID_DEVICE int laneIndex() { return static_cast<int>(threadIdx.x) % warpSize; }
HYBRID_DEVICE int warpIndex() { return static_cast<int>(threadIdx.x) / warpSize; }

template <typename T> HYBRID_DEVICE T maximum(T a, T b) { return a < b ? b : a; }
template <typename T> HYBRID_DEVICE T minimum(T a, T b) { return b < a ? b : a; }

/// NaN where either is.
template <typename T> HYBRID_DEVICE T propagatingMaximum(T a, T b) {
  return a < b || b != b ? b : a;
}
template <typename T> HYBRID_DEVICE T propagatingMinimum(T a, T b) {
  return b < a || b != b ? b : a;
}

/// Consecutive elements, moved by one instruction: 16 bytes where count * sizeof(T) is. Their
/// address is a multiple of their size.
template <typename T, int count> struct alignas(sizeof(T) * count) Pack {
  T elements[count];
  HYBRID_DEVICE T &operator[](int i) { return elements[i]; }
  HYBRID_DEVICE const T &operator[](int i) const { return elements[i]; }
};
template <int count, typename T> HYBRID_DEVICE Pack<T, count> loadPack(const T *from) {
  return *reinterpret_cast<const Pack<T, count> *>(from);
}
template <int count, typename T> HYBRID_DEVICE void storePack(T *to, const Pack<T, count> &pack) {
  *reinterpret_cast<Pack<T, count> *>(to) = pack;
}
/// To global memory, in as few instructions as can be: where an address comes from a sum the
/// compiler often stores one by one.
template <int count, typename T> HYBRID_DEVICE void storeGlobal(T *to, const Pack<T, count> &pack) {
  storePack(to, pack);
}
template <int count> HYBRID_DEVICE void storeGlobal(float *to, const Pack<float, count> &pack) {
  constexpr int wide = count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
  HYBRID_UNROLL
  for (int first = 0; first < count; first += wide) {
    uint32_t words[wide];
    HYBRID_UNROLL
    for (int i = 0; i < wide; ++i)
      words[i] = bitsOf(pack[first + i]);
    storeWords(to + first, words);
  }
}
template <int count> HYBRID_DEVICE void storeGlobal(bf16 *to, const Pack<bf16, count> &pack) {
  if constexpr (count == 2 || count == 4 || count == 8) {
    uint32_t words[count / 2];
    HYBRID_UNROLL
    for (int i = 0; i < count / 2; ++i)
      words[i] = static_cast<uint32_t>(pack[2 * i].bits) |
                 static_cast<uint32_t>(pack[2 * i + 1].bits) << 16;
    storeWords(to, words);
  } else {
    storePack(to, pack);
  }
}

/// The plainest store of a kernel's result: a place in memory, rows `stride` elements apart. The
/// compiler puts a fused region in its place (schedule-fuse-stores). A store takes an element, or
/// up to `width` neighbours, a power of two, at a column that is a multiple of that; what it reads
/// for neighbours can be loaded before they are known.
template <typename T, int64_t stride, int neighbours = 1> struct RowStore {
  static constexpr int width = neighbours;
  T *y;
  template <int count> struct Operands {};
  template <int count> HYBRID_DEVICE Operands<count> load(int64_t, int64_t) const { return {}; }
  HYBRID_DEVICE void operator()(int64_t row, int64_t column, T value) const {
    y[row * stride + column] = value;
  }
  template <int count>
  HYBRID_DEVICE void operator()(int64_t row, int64_t column, const Pack<T, count> &values,
                                Operands<count>) const {
    storeGlobal(y + row * stride + column, values);
  }
};

/// A kernel's last operand as a store: what the compiler made, or in a test a plain buffer.
template <int64_t stride, typename Functor> HYBRID_DEVICE Functor asStore(Functor functor) {
  return functor;
}
template <int64_t stride, typename T> HYBRID_DEVICE RowStore<T, stride> asStore(T *y) {
  return {y};
}
/// What a store reads for `count` neighbours at a column that is a multiple of that, as many at a
/// time as the store takes.
template <typename Store, int count> struct NeighboursOperands {
  static constexpr int width = Store::width < count ? Store::width : count;
  typename Store::template Operands<width> operands[count / width];

  HYBRID_DEVICE void load(const Store &store, int64_t row, int64_t column) {
    HYBRID_UNROLL
    for (int i = 0; i < count / width; ++i)
      operands[i] = store.template load<width>(row, column + i * width);
  }
  template <typename T>
  HYBRID_DEVICE void store(const Store &store, int64_t row, int64_t column,
                           const Pack<T, count> &values) const {
    HYBRID_UNROLL
    for (int i = 0; i < count / width; ++i) {
      Pack<T, width> some;
      HYBRID_UNROLL
      for (int k = 0; k < width; ++k)
        some[k] = values[i * width + k];
      store(row, column + i * width, some, operands[i]);
    }
  }
};
template <int count, typename Store, typename T>
HYBRID_DEVICE void storeNeighbours(const Store &store, int64_t row, int64_t column,
                                   const Pack<T, count> &values) {
  NeighboursOperands<Store, count> operands;
  operands.load(store, row, column);
  operands.store(store, row, column, values);
}

/// use(i, load(i)) for i < count, which stores. A load is not moved before stores that may be to
/// its address, and would be waited for one at a time: so `together`, a divisor of `count`, come
/// before what is stored, and the first of them before compute() if `early`.
template <int count, int together, bool early, typename Load, typename Compute, typename Use>
HYBRID_DEVICE void loadAhead(Load load, Compute compute, Use use) {
  static_assert(count % together == 0);
  decltype(load(0)) loaded[2][together];
  auto loadFirst = [&] {
    HYBRID_UNROLL
    for (int i = 0; i < together; ++i)
      loaded[0][i] = load(i);
  };
  if constexpr (early)
    loadFirst();
  compute();
  if constexpr (!early)
    loadFirst();
  HYBRID_UNROLL
  for (int first = 0; first < count; first += together) {
    auto &now = loaded[first / together % 2], &next = loaded[(first / together + 1) % 2];
    HYBRID_UNROLL
    for (int i = 0; i < together; ++i)
      if (first + together < count)
        next[i] = load(first + together + i);
    HYBRID_UNROLL
    for (int i = 0; i < together; ++i)
      use(first + i, now[i]);
  }
}

/// Sum over `lanes` neighbouring lanes of a warp, the same bits in every one of them.
template <int lanes, typename T> HYBRID_DEVICE T laneSum(T value) {
  HYBRID_UNROLL
  for (int mask = lanes / 2; mask > 0; mask /= 2)
    value += shuffleXor(value, mask);
  return value;
}
template <typename T> HYBRID_DEVICE T warpSum(T value) { return laneSum<warpSize>(value); }

/// The largest value of `lanes` neighbouring lanes, NaN where one is.
template <int lanes, typename T> HYBRID_DEVICE T laneMax(T value) {
  HYBRID_UNROLL
  for (int mask = lanes / 2; mask > 0; mask /= 2)
    value = propagatingMaximum(value, shuffleXor(value, mask));
  return value;
}
template <typename T> HYBRID_DEVICE T warpMax(T value) { return laneMax<warpSize>(value); }

/// Sum over a block of `threads` threads, in every thread. `scratch` is shared memory for
/// threads / 32 elements; it may be used again after the call.
template <int threads, typename T> HYBRID_DEVICE T blockSum(T value, T *scratch) {
  value = warpSum(value);
  if constexpr (threads == warpSize)
    return value;
  if (laneIndex() == 0)
    scratch[warpIndex()] = value;
  blockBarrier();
  T sum = 0;
  HYBRID_UNROLL
  for (int i = 0; i < threads / warpSize; ++i)
    sum += scratch[i];
  blockBarrier();
  return sum;
}

template <int threads, typename T> HYBRID_DEVICE T blockMax(T value, T *scratch) {
  value = warpMax(value);
  if constexpr (threads == warpSize)
    return value;
  if (laneIndex() == 0)
    scratch[warpIndex()] = value;
  blockBarrier();
  T most = scratch[0];
  HYBRID_UNROLL
  for (int i = 1; i < threads / warpSize; ++i)
    most = propagatingMaximum(most, scratch[i]);
  blockBarrier();
  return most;
}

/// Of f32, relative error 2^-21.
template <typename T> HYBRID_DEVICE T sigmoid(T x) {
  return approximateReciprocal(T(1) + exponential(-x));
}
template <typename T> HYBRID_DEVICE T softplus(T x) {
  return maximum(x, T(0)) + logarithm1p(exponential(-absolute(x)));
}

} // namespace hybrid::cuda
