//===- NcclApi.cpp - the part of NCCL that the runtime calls ----------------===//
#include "runtime/cuda/NcclApi.h"
#include "runtime/cuda/Library.h"
#include <cstdlib>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

static Result<void> fill(NcclApi &api, const Library &library) {
#define HYBRID_FIND(name, symbol, result, parameters)                                              \
  if (auto found = library.find(symbol, api.name); !found)                                         \
    return found;
  HYBRID_NCCL_CALLS(HYBRID_FIND)
#undef HYBRID_FIND
  int version = 0;
  if (NcclStatus status = api.version(&version))
    return Error{describe(api, "ncclGetVersion", status)};
  if (version < leastNcclVersion)
    return Error{
        fmt::format("{} is NCCL {}: expected 2.11 or later", library.path(), versionText(api))};
  return {};
}

Result<const NcclApi *> openNccl() {
  static LibraryCache<NcclApi> cache;
  const char *chosen = std::getenv("HYBRID_NCCL");
  const bool given = chosen && *chosen;
  auto opened = cache.open({given ? chosen : "libnccl.so.2"}, fill);
  if (!opened && !given)
    return Error{fmt::format("no NCCL ({}): ranks on GPUs sum over it; install it (libnccl2 of "
                             "NVIDIA's repository, or nvidia-nccl-cu13 of PyPI), set HYBRID_NCCL "
                             "to the file, or compile the model with --target=cpu",
                             opened.error().message)};
  return opened;
}

std::string versionText(const NcclApi &library) {
  int version = 0;
  library.version(&version);
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string describe(const NcclApi &library, std::string_view call, NcclStatus status) {
  const char *text = library.statusText(status);
  return fmt::format("{}: {}", call, text ? text : std::to_string(status));
}

} // namespace hybrid::rt::cuda
