//===- Npy.h - arrays in NumPy's file format -----------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/Result.h"
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

/// A dense array in C order, its element type as stored in the file.
struct NpyArray {
  enum class Element : uint8_t { F32, F64, I32, I64, U8 };
  Element element = Element::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;

  int64_t elements() const;
  /// The values converted to `type`. Integers that do not fit, or floats asked as integers, are an
  /// error.
  Result<std::vector<std::byte>> convertedTo(DType type, const std::string &name) const;
};

/// Reads versions 1 to 3, little endian, C order, types f4 f8 i4 i8 u1. Errors name the file and
/// the byte.
Result<NpyArray> readNpy(const std::string &path);
/// Writes version 1, whole or not at all.
Result<void> writeNpy(const std::string &path, DType type, std::span<const int64_t> shape,
                      std::span<const std::byte> data);

} // namespace hybrid::rt
