//===- Activation.h - numbers that memory may hold rounded ----------------===//
//
// What a contract calls an activation (HYBRID_ACTIVATIONS, HYBRID_ROUNDABLE) is computed with as T,
// and lies in memory as T or, where the compiler decided so and T is float, as bf16. Which of the
// two is a constant of specialised code, so that asking costs nothing.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "Vector.h"

namespace hybrid::cpu {

/// Elements of an activation from a place on, to be read or written.
template <typename T> struct Activation {
  void *place = nullptr;
  bool rounded = false;

  explicit operator bool() const { return place != nullptr; }
  T operator[](int64_t index) const;
};

/// Buffer `index` of a kernel.
template <typename T> HYBRID_INLINE Activation<T> activationAt(Buffers buffers, int64_t index) {
  return {buffers[index], sizeof(T) == sizeof(float) && (buffers.rounded >> index & 1) != 0};
}

/// Of an optional one that is absent there is no further place either.
template <typename T> HYBRID_INLINE Activation<T> operator+(Activation<T> from, int64_t elements) {
  if (!from)
    return from;
  const int64_t bytes = from.rounded ? 2 : static_cast<int64_t>(sizeof(T));
  return {static_cast<char *>(from.place) + elements * bytes, from.rounded};
}

typedef uint16_t RoundedValues __attribute__((ext_vector_type(16)));
typedef uint16_t RoundedUnaligned __attribute__((ext_vector_type(16), aligned(2), may_alias));

HYBRID_INLINE Vector<float> fromBf16(RoundedValues v) {
  typedef uint32_t Words __attribute__((ext_vector_type(16)));
  return __builtin_bit_cast(Vector<float>, __builtin_convertvector(v, Words) << 16);
}
/// To the nearest, ties to even. hybridc has it computed only on CPUs that have an instruction for
/// it; unit tests run everywhere.
HYBRID_INLINE RoundedValues toBf16(Vector<float> v) {
#ifdef __AVX512BF16__
  typedef __bf16 Values __attribute__((ext_vector_type(16)));
  return __builtin_bit_cast(RoundedValues, __builtin_convertvector(v, Values));
#else
  typedef uint32_t Words __attribute__((ext_vector_type(16)));
  const Words bits = __builtin_bit_cast(Words, v), nearest = bits + 0x7FFF + (bits >> 16 & 1);
  return __builtin_convertvector((v == v ? nearest : bits | 0x400000) >> 16, RoundedValues);
#endif
}

template <typename T> HYBRID_INLINE Vector<T> load(Activation<T> from) {
  if constexpr (sizeof(T) == sizeof(float))
    if (from.rounded)
      return fromBf16(*static_cast<const RoundedUnaligned *>(from.place));
  return load(static_cast<const T *>(from.place));
}
template <typename T> HYBRID_INLINE void store(Activation<T> to, Vector<T> value) {
  if constexpr (sizeof(T) == sizeof(float))
    if (to.rounded) {
      *static_cast<RoundedUnaligned *>(to.place) = toBf16(value);
      return;
    }
  store(static_cast<T *>(to.place), value);
}

/// As those of plain memory: the first `count` lanes.
template <typename T> HYBRID_INLINE Vector<T> loadPart(Activation<T> from, int64_t count) {
  if (count >= lanes<T>)
    return load(from);
  if constexpr (sizeof(T) == sizeof(float))
    if (from.rounded)
      return fromBf16(__builtin_masked_load(
          firstLanes<float>(count), static_cast<const uint16_t *>(from.place), RoundedValues(0)));
  return loadPart(static_cast<const T *>(from.place), count);
}
template <typename T>
HYBRID_INLINE void storePart(Activation<T> to, Vector<T> value, int64_t count) {
  if (count >= lanes<T>)
    return store(to, value);
  if constexpr (sizeof(T) == sizeof(float))
    if (to.rounded) {
      __builtin_masked_store(firstLanes<float>(count), toBf16(value),
                             static_cast<uint16_t *>(to.place));
      return;
    }
  storePart(static_cast<T *>(to.place), value, count);
}

template <typename T> T Activation<T>::operator[](int64_t index) const {
  if constexpr (sizeof(T) == sizeof(float))
    if (rounded) {
      const uint32_t word = static_cast<const uint16_t *>(place)[index];
      return __builtin_bit_cast(float, word << 16);
    }
  return static_cast<const T *>(place)[index];
}

HYBRID_INLINE void prefetch(const void *from) { __builtin_prefetch(from); }
template <typename T> HYBRID_INLINE void prefetch(Activation<T> from) { prefetch(from.place); }

} // namespace hybrid::cpu
