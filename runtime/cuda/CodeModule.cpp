//===- CodeModule.cpp - the kernels of an executable on a device ------------===//
#include "runtime/cuda/CodeModule.h"
#include "executable/CudaVersion.h"
#include "runtime/cuda/Architecture.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace hybrid::rt::cuda {

/// The best image for the device and its driver.
static Result<const fb::CodeImage *> choose(const GpuInfo &info, uint32_t driver,
                                            const fb::Executable &executable) {
  std::vector<std::string_view> names, loadable; // the latter: what the driver loads
  std::vector<const fb::CodeImage *> images;
  for (const fb::CodeImage *image : *executable.images()) {
    names.push_back(image->architecture()->string_view());
    if (image->driver() <= driver)
      loadable.push_back(names.back()), images.push_back(image);
  }
  if (auto index = chooseImage(loadable, info.major, info.minor))
    return images[*index];
  auto tooNew = chooseImage(names, info.major, info.minor);
  if (!tooNew)
    return Error{fmt::format("compiled for {}, but the device ({}) is {}; compile the model with "
                             "--target={}",
                             fmt::join(names, ", "), info.name, info.architecture(),
                             info.target())};
  const fb::CodeImage &image = *executable.images()->Get(static_cast<unsigned>(*tooNew));
  return Error{
      fmt::format("its code for {} was made by the toolkit of CUDA {} and needs a driver "
                  "of {}, but this one is of CUDA {}: update the driver, or compile the model "
                  "with an NVRTC of CUDA {} (HYBRID_NVRTC=FILE; `pip install "
                  "nvidia-cuda-nvrtc-cu{}` has one)",
                  names[*tooNew], cudaVersionText(image.toolkit()), driverText(image.driver()),
                  cudaVersionText(driver), driver / 1000, driver / 1000)};
}

Result<CodeModule> CodeModule::load(const Gpu &gpu, const fb::Executable &executable) {
  const GpuInfo &info = gpu.info();
  int version = 0;
  if (auto done = gpu.check("cuDriverGetVersion", gpu.driver().driverVersion(&version)); !done)
    return done.error();
  auto chosen = choose(info, static_cast<uint32_t>(version), executable);
  if (!chosen)
    return chosen.error();
  const fb::CodeImage &image = **chosen;
  CodeModule code(gpu);
  code.chosen = image.architecture()->string_view();
  // PTX is a text that ends with a zero, which the file need not have.
  std::string bytes(reinterpret_cast<const char *>(image.bytes()->data()), image.bytes()->size());
  const Architecture made = *Architecture::parse(code.chosen);
  const bool isText = made.kind == Architecture::Kind::Ptx;
  constexpr int leastMajor = 9, leastVersion = 12030; // 12.3: edges of graphs that overlap
  code.overlaps = made.major >= leastMajor && info.major >= leastMajor && version >= leastVersion;
  std::vector<char> log(isText ? 8192 : 0);
  int options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  Status status = gpu.driver().moduleLoad(&code.module, bytes.c_str(), isText ? 2 : 0,
                                          isText ? options : nullptr, isText ? values : nullptr);
  if (auto done = gpu.check("cuModuleLoadDataEx", status); !done) {
    code.module = nullptr;
    std::string more = isText && log[0] ? "; " + std::string(log.data()) : "";
    return Error{fmt::format("its code for {} does not load on the device ({}, {}): {}{}",
                             code.chosen, info.name, info.architecture(), done.error().message,
                             more)};
  }
  return code;
}

CodeModule::CodeModule(CodeModule &&other) noexcept
    : gpu(other.gpu), module(std::exchange(other.module, nullptr)), chosen(std::move(other.chosen)),
      overlaps(other.overlaps), kernels(std::move(other.kernels)) {}

CodeModule::~CodeModule() {
  if (module)
    gpu->driver().moduleUnload(module);
}

Result<Function> CodeModule::find(const std::string &symbol, uint64_t sharedBytes) {
  Kernel &kernel = kernels[symbol];
  if (!kernel.function) {
    Status status = gpu->driver().moduleFunction(&kernel.function, module, symbol.c_str());
    if (status == errorNotFound)
      return Error{fmt::format("its code for {} has no kernel '{}'", chosen, symbol)};
    if (auto done = gpu->check("cuModuleGetFunction", status); !done)
      return Error{fmt::format("kernel '{}': {}", symbol, done.error().message)};
  }
  const auto most = static_cast<uint64_t>(gpu->info().sharedBytes);
  if (sharedBytes > most)
    return Error{fmt::format("kernel '{}' needs {} bytes of shared memory a block, but the device "
                             "({}, {}) has {}; compile the model with --target={}",
                             symbol, sharedBytes, gpu->info().name, gpu->info().architecture(),
                             most, gpu->info().target())};
  if (sharedBytes > kernel.sharedBytes) {
    Status status = gpu->driver().functionSet(kernel.function, functionMaxDynamicShared,
                                              static_cast<int>(sharedBytes));
    if (auto done = gpu->check("cuFuncSetAttribute", status); !done)
      return Error{fmt::format("kernel '{}' with {} bytes of shared memory: {}", symbol,
                               sharedBytes, done.error().message)};
    kernel.sharedBytes = sharedBytes;
  }
  return kernel.function;
}

} // namespace hybrid::rt::cuda
