//===- CufftApi.cpp - the part of cuFFT that the runtime calls --------------===//
#include "runtime/cuda/CufftApi.h"
#include <fmt/format.h>

namespace hybrid::rt::cuda {

Result<const CufftApi *> openCufft() {
  static LibraryCache<CufftApi> cache;
  static const LibraryPlace place{
      .name = "cuFFT",
      .variable = "HYBRID_CUFFT",
      .files = {"libcufft.so.12", "libcufft.so.11"},
      .purpose = "",
      .packages = "Debian and Ubuntu: libcufft-13-0 or libcufft-12-9 of NVIDIA's repository, or "
                  "nvidia-cufft of PyPI",
      .without = "compile the model with --transforms=own, which needs no cuFFT"};
  return cache.open(place, [](CufftApi &api, const Library &library) { return api.find(library); });
}

std::string versionText(const CufftApi &library) {
  int version = 0;
  library.version(&version);
  return fmt::format("{}.{}.{}", version / 1000, version / 100 % 10, version % 100);
}

/// The library has no texts of its own.
static const char *nameOf(FftStatus status) {
  switch (status) {
  case 0x1:
    return "CUFFT_INVALID_PLAN";
  case 0x2:
    return "CUFFT_ALLOC_FAILED";
  case 0x3:
    return "CUFFT_INVALID_TYPE";
  case 0x4:
    return "CUFFT_INVALID_VALUE";
  case 0x5:
    return "CUFFT_INTERNAL_ERROR";
  case 0x6:
    return "CUFFT_EXEC_FAILED";
  case 0x7:
    return "CUFFT_SETUP_FAILED";
  case 0x8:
    return "CUFFT_INVALID_SIZE";
  case 0x9:
    return "CUFFT_UNALIGNED_DATA";
  case 0xb:
    return "CUFFT_INVALID_DEVICE";
  case 0xd:
    return "CUFFT_NO_WORKSPACE";
  case 0xe:
    return "CUFFT_NOT_IMPLEMENTED";
  case 0x10:
    return "CUFFT_NOT_SUPPORTED";
  case 0x11:
    return "CUFFT_MISSING_DEPENDENCY";
  case 0x12:
    return "CUFFT_NVRTC_FAILURE";
  case 0x13:
    return "CUFFT_NVJITLINK_FAILURE";
  default:
    return nullptr;
  }
}

std::string describe(const CufftApi &, std::string_view call, FftStatus status) {
  const char *name = nameOf(status);
  return fmt::format("{}: {}", call, name ? name : fmt::format("cuFFT error {}", status));
}

} // namespace hybrid::rt::cuda
