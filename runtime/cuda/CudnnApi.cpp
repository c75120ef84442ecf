//===- CudnnApi.cpp - the part of cuDNN that the runtime calls --------------===//
#include "runtime/cuda/CudnnApi.h"
#include "runtime/cuda/Library.h"
#include <cstdlib>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

constexpr const char *withoutIt = "compile the model with --attention=own, which needs no cuDNN";

static Result<void> fill(CudnnApi &api, const Library &library) {
#define HYBRID_FIND(name, symbol, result, parameters)                                              \
  if (auto found = library.find(symbol, api.name); !found)                                         \
    return found;
  HYBRID_CUDNN_CALLS(HYBRID_FIND)
#undef HYBRID_FIND
  if (api.version() < leastDnnVersion)
    return Error{fmt::format("{} is cuDNN {}: attention needs 9.10.2 or later; or {}",
                             library.path(), versionText(api), withoutIt)};
  return {};
}

Result<const CudnnApi *> openCudnn() {
  static LibraryCache<CudnnApi> cache;
  const char *chosen = std::getenv("HYBRID_CUDNN");
  bool given = chosen && *chosen;
  auto opened = cache.open({given ? chosen : "libcudnn.so.9"}, fill);
  if (opened)
    return opened;
  const std::string &why = opened.error().message;
  if (why.find(withoutIt) != std::string::npos) // a version that is too old
    return opened;
  if (given)
    return Error{fmt::format("no cuDNN ({}): HYBRID_CUDNN names that file; or {}", why, withoutIt)};
  return Error{
      fmt::format("no cuDNN ({}): install it (libcudnn9-cuda-13 of NVIDIA's repository, or "
                  "nvidia-cudnn-cu13 of PyPI), set HYBRID_CUDNN to the file, or {}",
                  why, withoutIt)};
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
