//===- Numbers.h - rounding as a GPU does it --------------------------------===//
#pragma once
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace hybrid::ptx {

/// .ftz: denormals are zeros of their sign.
inline float flush(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return bits & 0x7f800000 ? x : std::bit_cast<float>(bits & 0x80000000);
}

/// A NaN has no payload on a GPU.
inline float canonical(float x) { return x != x ? std::bit_cast<float>(0x7fffffffu) : x; }

/// f32 to the 8 bits of precision of bf16, to the nearest, ties to even.
inline uint16_t toBf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (x != x)
    return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float fromBf16(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

/// f32 to the 11 bits of precision of tf32, to the nearest, ties away from zero.
inline uint32_t toTf32(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7f800000) == 0x7f800000)
    return x != x ? 0x7fffffff : bits;
  return (bits + 0x1000) & 0xffffe000;
}
/// What the matrix units read of an operand: bits that tf32 does not have count for nothing.
inline float fromTf32(uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000); }

/// A number as an integer type holds it; what is beyond becomes the nearest, NaN zero.
template <typename To, typename From> To saturate(From x) {
  if (x != x)
    return 0;
  constexpr auto lowest = std::numeric_limits<To>::min(), highest = std::numeric_limits<To>::max();
  if (x <= static_cast<From>(lowest))
    return lowest;
  if (x >= static_cast<From>(highest)) // which From may have rounded up
    return highest;
  return static_cast<To>(x);
}

/// The sum, product or root, rounded in a direction (FE_TOWARDZERO and so on).
enum class Directed : uint8_t { Add, Subtract, Multiply, MultiplyAdd, Divide, Root };
template <typename T> T roundDirected(Directed operation, int direction, T a, T b, T c);

} // namespace hybrid::ptx
