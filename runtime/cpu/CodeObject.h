//===- CodeObject.h - machine code loaded from memory ------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hybrid::rt {

/// Computes work items [lo, hi); see codegen/kernels/Kernel.h.
using KernelFunction = void (*)(int64_t lo, int64_t hi, void *const *buffers, void *scratch);

/// A shared object that never was a file.
class CodeObject {
public:
  static Result<CodeObject> load(std::span<const uint8_t> code, const std::string &name);
  CodeObject(CodeObject &&other) noexcept;
  CodeObject &operator=(CodeObject &&) = delete;
  ~CodeObject();

  /// Null when there is no such symbol.
  KernelFunction find(const char *symbol) const;

private:
  CodeObject() = default;
  void *handle = nullptr;
  /// Open as long as the code is mapped: its number is the name that the loader knows it by.
  int descriptor = -1;
};

} // namespace hybrid::rt
