//===- CublasLtApi.cpp - the part of cuBLASLt that the runtime calls --------===//
#include "runtime/cuda/CublasLtApi.h"
#include <fmt/format.h>

namespace hybrid::rt::cuda {

Result<const CublasLtApi *> openCublasLt() {
  static LibraryCache<CublasLtApi> cache;
  static const LibraryPlace place{
      .name = "cuBLASLt",
      .variable = "HYBRID_CUBLASLT",
      .files = {"libcublasLt.so.13", "libcublasLt.so.12"},
      .purpose = "",
      .packages = "Debian and Ubuntu: libcublas-13-0 or libcublas-12-9 of NVIDIA's repository",
      .without = ""};
  return cache.open(place,
                    [](CublasLtApi &api, const Library &library) { return api.find(library); });
}

std::string describe(const CublasLtApi &library, std::string_view call, LtStatus status) {
  const char *name = library.statusName(status), *text = library.statusText(status);
  return fmt::format("{}: {} ({})", call, name ? name : std::to_string(status),
                     text ? text : "no description");
}

} // namespace hybrid::rt::cuda
