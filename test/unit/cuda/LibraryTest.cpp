//===- LibraryTest.cpp - what is said of libraries that are not there ----------===//
#include "runtime/cuda/Library.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace hybrid::rt::cuda;

namespace {

TEST(LibraryPlace, SaysWhatIsMissingWhereAndWhatToDo) {
  const LibraryPlace place{.name = "cuX",
                           .variable = "HYBRID_CUX_OF_A_TEST",
                           .files = {"libcux.so.2", "libcux.so.1"},
                           .purpose = "x is by it",
                           .packages = "libcux of Debian",
                           .without = "do without x"};
  unsetenv(place.variable);
  EXPECT_EQ(place.candidates(), place.files);
  EXPECT_EQ(place.absent("no file").message,
            "no cuX (no file): x is by it; install it (libcux of Debian), set HYBRID_CUX_OF_A_TEST "
            "to the file, or do without x");
  EXPECT_EQ(place.unusable("too old").message, "too old; or do without x");
  setenv(place.variable, "/a/file", 1);
  EXPECT_EQ(place.candidates(), std::vector<std::string>{"/a/file"});
  EXPECT_EQ(place.absent("no file").message,
            "no cuX (no file): HYBRID_CUX_OF_A_TEST names that file; or do without x");
  unsetenv(place.variable);
  LibraryPlace needed = place;
  needed.purpose = needed.without = "";
  EXPECT_EQ(needed.absent("no file").message, "no cuX (no file): install it (libcux of Debian), or "
                                              "set HYBRID_CUX_OF_A_TEST to the file");
}

} // namespace
