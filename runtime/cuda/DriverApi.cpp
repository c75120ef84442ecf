//===- DriverApi.cpp - the part of the CUDA driver that the runtime calls ---===//
#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/Library.h"
#include <fmt/format.h>

namespace hybrid::rt::cuda {

static Result<void> fill(DriverApi &api, const Library &library) {
#define HYBRID_FIND(name, symbol, parameters)                                                      \
  if (auto found = library.find(symbol, api.name); !found)                                         \
    return found;
  HYBRID_CUDA_DRIVER_CALLS(HYBRID_FIND)
#undef HYBRID_FIND
#define HYBRID_FIND(name, symbol, parameters)                                                      \
  if (!library.find(symbol, api.name))                                                             \
    api.name = nullptr;
  HYBRID_CUDA_OPTIONAL_CALLS(HYBRID_FIND)
#undef HYBRID_FIND
  if (Status status = api.init(0); status != success)
    return Error{fmt::format("the CUDA driver ({}) does not start: {}; `nvidia-smi` shows what the "
                             "driver sees",
                             library.path(), describe(api, "cuInit", status))};
  return {};
}

Result<const DriverApi *> openDriver() {
  static LibraryCache<DriverApi> cache;
  static const LibraryPlace place{.name = "CUDA driver",
                                  .variable = "HYBRID_CUDA_DRIVER",
                                  .files = {"libcuda.so.1"},
                                  .purpose = "",
                                  .packages = "NVIDIA's driver, on a machine with an NVIDIA GPU",
                                  .without = "compile the model with --target=cpu"};
  return cache.open(place, fill);
}

std::string describe(const DriverApi &driver, std::string_view call, Status status) {
  const char *name = nullptr, *text = nullptr;
  if (driver.errorName(status, &name) != success || !name)
    return fmt::format("{}: CUDA error {}", call, status);
  driver.errorText(status, &text);
  return fmt::format("{}: {} ({})", call, name, text ? text : "no description");
}

} // namespace hybrid::rt::cuda
