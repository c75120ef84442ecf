//===- CublasLtApi.cpp - the part of cuBLASLt that the runtime calls --------===//
#include "runtime/cuda/CublasLtApi.h"
#include "runtime/cuda/Library.h"
#include <cstdlib>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

static Result<void> fill(CublasLtApi &api, const Library &library) {
#define HYBRID_FIND(name, symbol, result, parameters)                                              \
  if (auto found = library.find(symbol, api.name); !found)                                         \
    return found;
  HYBRID_CUBLASLT_CALLS(HYBRID_FIND)
#undef HYBRID_FIND
  return {};
}

Result<const CublasLtApi *> openCublasLt() {
  static LibraryCache<CublasLtApi> cache;
  const char *chosen = std::getenv("HYBRID_CUBLASLT");
  bool given = chosen && *chosen;
  auto opened = given ? cache.open({chosen}, fill)
                      : cache.open({"libcublasLt.so.13", "libcublasLt.so.12"}, fill);
  if (!opened && !given)
    return Error{fmt::format("no cuBLASLt ({}): install it (Debian and Ubuntu: libcublas-13-0 or "
                             "libcublas-12-9 of NVIDIA's repository), or set HYBRID_CUBLASLT to "
                             "the file",
                             opened.error().message)};
  return opened;
}

std::string describe(const CublasLtApi &library, std::string_view call, LtStatus status) {
  const char *name = library.statusName(status), *text = library.statusText(status);
  return fmt::format("{}: {} ({})", call, name ? name : std::to_string(status),
                     text ? text : "no description");
}

} // namespace hybrid::rt::cuda
