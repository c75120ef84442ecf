//===- NcclApi.cpp - the part of NCCL that the runtime calls ----------------===//
#include "runtime/cuda/NcclApi.h"
#include <fmt/format.h>

namespace hybrid::rt::cuda {

static Result<void> fill(NcclApi &api, const Library &library) {
  if (auto found = api.find(library); !found)
    return found;
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
  static const LibraryPlace place{
      .name = "NCCL",
      .variable = "HYBRID_NCCL",
      .files = {"libnccl.so.2"},
      .purpose = "ranks on GPUs sum over it",
      .packages = "libnccl2 of NVIDIA's repository, or nvidia-nccl-cu13 of PyPI",
      .without = "compile the model with --target=cpu"};
  return cache.open(place, fill);
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
