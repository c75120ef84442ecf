//===- CudnnApi.cpp - the part of cuDNN that the runtime calls --------------===//
#include "runtime/cuda/CudnnApi.h"
#include <fmt/format.h>

namespace hybrid::rt::cuda {

static Result<void> fill(CudnnApi &api, const Library &library) {
  if (auto found = api.find(library); !found)
    return found;
  if (api.version() < leastDnnVersion)
    return Error{fmt::format("{} is cuDNN {}: attention needs 9.10.2 or later", library.path(),
                             versionText(api))};
  return {};
}

Result<const CudnnApi *> openCudnn() {
  static LibraryCache<CudnnApi> cache;
  static const LibraryPlace place{
      .name = "cuDNN",
      .variable = "HYBRID_CUDNN",
      .files = {"libcudnn.so.9"},
      .purpose = "",
      .packages = "libcudnn9-cuda-13 of NVIDIA's repository, or nvidia-cudnn-cu13 of PyPI",
      .without = "compile the model with --attention=own, which needs no cuDNN"};
  return cache.open(place, fill);
}

std::string versionText(const CudnnApi &library) {
  const size_t version = library.version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string describe(const CudnnApi &library, std::string_view call, DnnStatus status) {
  const char *name = library.statusText(status);
  char text[1024] = "";
  library.lastError(text, sizeof(text) - 1);
  std::string_view why(text);
  while (!why.empty() && (why.back() == '\n' || why.back() == ' '))
    why.remove_suffix(1);
  return fmt::format("{}: {}{}", call, name ? name : std::to_string(status),
                     why.empty() ? "" : fmt::format(" ({})", why));
}

} // namespace hybrid::rt::cuda
