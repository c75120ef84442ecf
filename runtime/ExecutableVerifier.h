//===- ExecutableVerifier.h - nothing in a .hyx is trusted before this ------===//
//
// Checks the content of an executable whose flatbuffer structure has been verified: version, hash,
// CPU, and that every place a program touches lies inside its space.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>

namespace hybrid::fb {
struct Executable;
}

namespace hybrid::rt {

/// The newest format this runtime reads, as all before. Files of a later major version are refused.
constexpr unsigned formatMajor = 2;
/// Buffers one kernel launch may have.
constexpr unsigned mostLaunchBuffers = 256;
/// The same on a GPU, where they are parameters of the kernel, and what a block of it may have.
constexpr unsigned mostBlockBuffers = 64;
constexpr int mostBlockThreads = 1024;
constexpr uint64_t mostSharedBytes = 227 << 10;

/// The error says what is wrong, without the file's name.
Result<void> verifyExecutable(const fb::Executable &executable);

} // namespace hybrid::rt
