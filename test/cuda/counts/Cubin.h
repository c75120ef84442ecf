//===- Cubin.h - what machine code takes of a multiprocessor ----------------===//
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace hybrid::counts {

struct Resources {
  uint32_t registers = 0; ///< of a thread
  uint64_t codeBytes = 0; ///< 16 an instruction, since Volta
};

/// By kernel. Read from the sections of an ELF image as ptxas writes it: .text.KERNEL, and the
/// records of .nv.info that name registers. Empty for what is no such image.
std::map<std::string, Resources> resourcesOf(std::span<const std::byte> image);

} // namespace hybrid::counts
