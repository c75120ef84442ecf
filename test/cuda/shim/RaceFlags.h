//===- RaceFlags.h - how an image that reports races is compiled ------------===//
#pragma once

namespace hybrid::shim {

/// After imageFlags. Accesses of shared memory call the shim (Instrumentation.h).
inline constexpr const char *raceFlags[] = {
    "-fno-sanitize=alignment,array-bounds",
    "-fno-sanitize-minimal-runtime",
    "-fsanitize=thread",
    "-mllvm",
    "-tsan-instrument-func-entry-exit=0",
    "-mllvm",
    "-tsan-instrument-atomics=0",
};

} // namespace hybrid::shim
