//===- ImageFlags.h - how a code image for the tests' driver is compiled ----===//
#pragma once

namespace hybrid::cuda {

/// Arguments of clang++-22 for `clang++-22 FLAGS... -I ROOT -o IMAGE SOURCE`, where ROOT is the
/// folder above codegen/ and test/, and SOURCE a text of HYBRID_KERNELs. The tests' CMake reads the
/// lines with a quote first.
inline constexpr const char *imageFlags[] = {
    "-xc++",
    "-std=c++20",
    "-O1",
    "-finline-hint-functions",
    "-march=native",
    "-include",
    "test/cuda/shim/Shim.h",
    "-fsanitize=alignment,array-bounds",
    "-fsanitize-minimal-runtime",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-nostdlib++",
    "-fuse-ld=lld",
    "-Wl,--no-undefined",
    "-lm",
};

} // namespace hybrid::cuda
