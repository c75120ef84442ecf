//===- CodeModule.cpp - the kernels of an executable on a device ------------===//
#include "runtime/cuda/CodeModule.h"
#include "runtime/cuda/Architecture.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace hybrid::rt::cuda {

Result<CodeModule> CodeModule::load(const Gpu &gpu, const fb::Executable &executable) {
  std::vector<std::string_view> names;
  for (const fb::CodeImage *image : *executable.images())
    names.push_back(image->architecture()->string_view());
  const GpuInfo &info = gpu.info();
  auto index = chooseImage(names, info.major, info.minor);
  if (!index)
    return Error{fmt::format("compiled for {}, but the device ({}) is {}; compile the model with "
                             "--target={}",
                             fmt::join(names, ", "), info.name, info.architecture(),
                             info.target())};
  const fb::CodeImage &image = *executable.images()->Get(static_cast<unsigned>(*index));
  CodeModule code(gpu);
  code.chosen = names[*index];
  // PTX is a text that ends with a zero, which the file need not have.
  std::string bytes(reinterpret_cast<const char *>(image.bytes()->data()), image.bytes()->size());
  bool isText = Architecture::parse(code.chosen)->kind == Architecture::Kind::Ptx;
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
      kernels(std::move(other.kernels)) {}

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
