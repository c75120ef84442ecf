//===- ExecutableVerifier.h - nothing in a .hyx is trusted before this ------===//
//
// Checks the content of an executable whose flatbuffer structure has been verified: version, hash,
// CPU, and that every place a program touches lies inside its space.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"

namespace hybrid::fb {
struct Executable;
}

namespace hybrid::rt {

/// The error says what is wrong, without the file's name.
Result<void> verifyExecutable(const fb::Executable &executable);

} // namespace hybrid::rt
