//===- ConversionOperations.cpp - from a type to another --------------------===//
#include "test/cuda/ptx/Lanes.h"
#include "test/cuda/ptx/Numbers.h"

namespace hybrid::ptx {
namespace {

template <typename T> std::string typeName() {
  return std::string(std::is_floating_point_v<T> ? "f"
                     : std::is_signed_v<T>       ? "s"
                                                 : "u") +
         std::to_string(sizeof(T) * 8);
}

template <typename To, typename From> void addIntegerTo(Operations &all) {
  const std::string name = "cvt." + typeName<To>() + "." + typeName<From>();
  all[name] = mapped<[](From a) { return static_cast<To>(a); }>(Pipe::Alu);
  if (sizeof(From) < 8) // the lower bits of a register of 64
    all[name + " <64"] =
        mapped<[](uint64_t a) { return static_cast<To>(static_cast<From>(a)); }>(Pipe::Alu);
}
template <typename From> void addInteger(Operations &all) {
  addIntegerTo<int8_t, From>(all), addIntegerTo<uint8_t, From>(all);
  addIntegerTo<int16_t, From>(all), addIntegerTo<uint16_t, From>(all);
  addIntegerTo<int32_t, From>(all), addIntegerTo<uint32_t, From>(all);
  addIntegerTo<int64_t, From>(all), addIntegerTo<uint64_t, From>(all);
  all["cvt.rn.f32." + typeName<From>()] =
      mapped<[](From a) { return static_cast<float>(a); }>(Pipe::Xu);
  all["cvt.rn.f64." + typeName<From>()] =
      mapped<[](From a) { return static_cast<double>(a); }>(Pipe::Xu);
}

/// Rounded to an integer: to the nearest even, towards zero, down, up.
template <char mode, typename T> T whole(T x) {
  return mode == 'n'   ? std::nearbyint(x)
         : mode == 'z' ? std::trunc(x)
         : mode == 'm' ? std::floor(x)
                       : std::ceil(x);
}
template <char mode, typename From> void addWhole(Operations &all) {
  const std::string begin = std::string("cvt.r") + mode + "i.", end = "." + typeName<From>();
  all[begin + "s32" + end] =
      mapped<[](From a) { return saturate<int32_t>(whole<mode>(a)); }>(Pipe::Xu);
  all[begin + "u32" + end] =
      mapped<[](From a) { return saturate<uint32_t>(whole<mode>(a)); }>(Pipe::Xu);
  all[begin + "s64" + end] =
      mapped<[](From a) { return saturate<int64_t>(whole<mode>(a)); }>(Pipe::Xu);
  all[begin + "u64" + end] =
      mapped<[](From a) { return saturate<uint64_t>(whole<mode>(a)); }>(Pipe::Xu);
  all[begin + typeName<From>() + end] = mapped<[](From a) { return whole<mode>(a); }>(Pipe::Xu);
  if (sizeof(From) == 4) {
    all["cvt.r" + std::string(1, mode) + "i.ftz.s32.f32"] =
        mapped<[](float a) { return saturate<int32_t>(whole<mode>(flush(a))); }>(Pipe::Xu);
  }
}

} // namespace

void addConversions(Operations &all) {
  addInteger<int8_t>(all), addInteger<uint8_t>(all);
  addInteger<int16_t>(all), addInteger<uint16_t>(all);
  addInteger<int32_t>(all), addInteger<uint32_t>(all);
  addInteger<int64_t>(all), addInteger<uint64_t>(all);
  addWhole<'n', float>(all), addWhole<'z', float>(all), addWhole<'m', float>(all),
      addWhole<'p', float>(all);
  addWhole<'n', double>(all), addWhole<'z', double>(all), addWhole<'m', double>(all),
      addWhole<'p', double>(all);
  all["cvt.f64.f32"] = mapped<[](float a) { return static_cast<double>(a); }>(Pipe::Fp64);
  all["cvt.rn.f32.f64"] = mapped<[](double a) { return static_cast<float>(a); }>(Pipe::Fp64);
  all["cvt.rn.bf16.f32"] = mapped<[](float a) { return toBf16(a); }>(Pipe::Alu);
  all["cvt.rn.bf16x2.f32"] =
      mapped<[](float a, float b) { return static_cast<uint32_t>(toBf16(a)) << 16 | toBf16(b); }>(
          Pipe::Alu);
  all["cvt.f32.bf16"] = mapped<[](uint16_t a) { return fromBf16(a); }>(Pipe::Alu);
  all["cvt.rna.tf32.f32"] = mapped<[](float a) { return toTf32(a); }>(Pipe::Alu);
}

} // namespace hybrid::ptx
