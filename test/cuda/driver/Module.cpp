//===- Module.cpp - code images and launches of the tests' driver -----------===//
//
// An image is an ELF shared object that needs nothing but the C library's mathematics: its kernels
// find the block from their stack (Block.h).
//
//===----------------------------------------------------------------------===//
#include "test/cuda/driver/Device.h"
#include "test/cuda/shim/Block.h"
#include "test/cuda/shim/Launch.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace hybrid::rt::cuda;
using namespace hybrid::shim;

namespace hybrid::rt::cuda {
struct CUfunc_st {
  std::string name;
  void (*entry)(void **arguments);
  int threads, parameters;
  int maximumShared = 48 * 1024;
};
struct CUmod_st {
  void *library = nullptr;
  int file = -1;
  hybrid::shim::Handles<CUfunc_st> functions;
};
} // namespace hybrid::rt::cuda

static Handles<CUmod_st> &modules() {
  static auto *all = new Handles<CUmod_st>();
  return *all;
}

static void close(CUmod_st &module) {
  dlclose(module.library);
  ::close(module.file);
}

void hybrid::shim::destroyModules() {
  for (auto &[module, owner] : modules().all())
    close(*module);
  modules().clear();
}

/// Bytes of the file, from its headers; 0 when it is no code for this machine.
static size_t imageBytes(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
#if defined(__x86_64__)
  constexpr int machine = EM_X86_64;
#elif defined(__aarch64__)
  constexpr int machine = EM_AARCH64;
#endif
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_DYN || header.e_machine != machine)
    return 0;
  size_t end = header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section,
                static_cast<const char *>(image) + header.e_shoff + i * header.e_shentsize,
                sizeof(section));
    if (section.sh_type != SHT_NOBITS)
      end = std::max(end, static_cast<size_t>(section.sh_offset + section.sh_size));
  }
  return end;
}

static Status load(CUmod_st &module, const void *image) {
  size_t bytes = image ? imageBytes(image) : 0;
  if (!bytes)
    return fail(errorNoBinaryForGpu, "the image is no shared object for this machine");
  // The file stays open: as long as it is, no other image can have the same name.
  module.file = memfd_create("hybrid-kernels", MFD_CLOEXEC);
  const char *data = static_cast<const char *>(image);
  for (size_t done = 0; done < bytes;) {
    ssize_t count = module.file < 0 ? -1 : write(module.file, data + done, bytes - done);
    if (count <= 0)
      return fail(errorOutOfMemory, "no memory for the image");
    done += static_cast<size_t>(count);
  }
  std::string path = "/proc/self/fd/" + std::to_string(module.file);
  module.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module.library)
    return fail(errorInvalidImage, dlerror());
  auto *abi = static_cast<const int *>(dlsym(module.library, "hybrid_shim_abi"));
  if (abi && *abi == abiVersion)
    return success;
  return fail(errorInvalidImage,
              abi ? "the image has version " + std::to_string(*abi) + " of the shim, and this is " +
                        std::to_string(abiVersion)
                  : std::string("the image was not made for the shim: it has no hybrid_shim_abi"));
}

HYBRID_DRIVER_CALL Status cuModuleLoadDataEx(Module *module, const void *image, unsigned options,
                                             int *names, void **values) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().readyOutsideCapture("cuModuleLoadData"))
    return status;
  CUmod_st loaded;
  if (Status status = load(loaded, image)) {
    char *log = nullptr;
    size_t logBytes = 0;
    for (unsigned i = 0; i < options; ++i) {
      if (names[i] == jitErrorLog)
        log = static_cast<char *>(values[i]);
      if (names[i] == jitErrorLogBytes)
        logBytes = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(values[i]));
    }
    if (const std::string *message = messageOf(status); message && log && logBytes)
      std::snprintf(log, logBytes, "%s", message->c_str());
    if (loaded.library)
      dlclose(loaded.library);
    if (loaded.file >= 0)
      ::close(loaded.file);
    return status;
  }
  *module = modules().make(std::move(loaded));
  return success;
}

HYBRID_DRIVER_CALL Status cuModuleUnload(Module module) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().readyOutsideCapture("cuModuleUnload"))
    return status;
  if (!modules().has(module))
    return fail(errorInvalidHandle, "cuModuleUnload of a module that does not exist");
  close(*module);
  modules().destroy(module);
  return success;
}

HYBRID_DRIVER_CALL Status cuModuleGetFunction(Function *function, Module module, const char *name) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuModuleGetFunction"))
    return status;
  if (!modules().has(module))
    return fail(errorInvalidHandle, "cuModuleGetFunction in a module that does not exist");
  std::string symbol = name;
  void *entry = dlsym(module->library, name);
  auto *threads = static_cast<const int *>(dlsym(module->library, (symbol + "_threads").c_str()));
  auto *parameters =
      static_cast<const int *>(dlsym(module->library, (symbol + "_parameters").c_str()));
  if (!entry || !threads || !parameters)
    return fail(errorNotFound, "the image has no kernel '" + symbol + "'");
  *function = module->functions.make(
      {symbol, reinterpret_cast<void (*)(void **)>(entry), *threads, *parameters});
  return success;
}

/// A function lives as long as its module.
static bool exists(Function function) {
  return std::any_of(modules().all().begin(), modules().all().end(),
                     [&](auto &entry) { return entry.first->functions.has(function); });
}

HYBRID_DRIVER_CALL Status cuFuncSetAttribute(Function function, int attribute, int value) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuFuncSetAttribute"))
    return status;
  if (!exists(function))
    return fail(errorInvalidHandle, "cuFuncSetAttribute of a function that does not exist");
  if (attribute != functionMaxDynamicShared || value < 0 || value > maximumSharedBytes)
    return fail(errorInvalidValue, "cuFuncSetAttribute: attribute " + std::to_string(attribute) +
                                       " = " + std::to_string(value) + " of kernel '" +
                                       function->name + "'");
  function->maximumShared = value;
  return success;
}

static Status runKernel(Function function, unsigned blocks, unsigned rows, int threads,
                        unsigned sharedBytes, const std::vector<uint64_t> &values) {
  if (!exists(function))
    return fail(errorInvalidHandle, "cuLaunchKernel of a function that does not exist");
  std::string named = "kernel '" + function->name + "'";
  std::vector<void *> arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    arguments.push_back(const_cast<uint64_t *>(&values[i]));
    // The last is the first work item. In a loop over tiles a tile's buffer is passed as if the
    // rows before it lay in front of it: only the address of the first tile can be checked.
    bool pointer = i + 1 < values.size() && values.back() == 0;
    if (pointer && values[i] && !device().memory.contains(values[i], 0))
      return device().failForEver(errorIllegalAddress, named + ": argument " + std::to_string(i) +
                                                           " is not in the device's memory");
  }
  std::string problem = launch(
      function->name, blocks, threads, sharedBytes,
      [&](int64_t) { function->entry(arguments.data()); }, rows);
  if (!problem.empty())
    return device().failForEver(errorLaunchFailed, problem);
  if (std::string overrun = device().memory.findOverrun(); !overrun.empty())
    return device().failForEver(errorIllegalAddress, named + " " + overrun);
  return success;
}

HYBRID_DRIVER_CALL Status cuLaunchKernel(Function function, unsigned gridX, unsigned gridY,
                                         unsigned gridZ, unsigned blockX, unsigned blockY,
                                         unsigned blockZ, unsigned sharedBytes, Stream stream,
                                         void **parameters, void **extra) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuLaunchKernel"))
    return status;
  if (!exists(function))
    return fail(errorInvalidHandle, "cuLaunchKernel of a function that does not exist");
  std::string named = "cuLaunchKernel of '" + function->name + "': ";
  if (!gridX || gridX > INT32_MAX || !gridY || gridY > UINT16_MAX || gridZ != 1 || blockY != 1 ||
      blockZ != 1)
    return fail(errorInvalidValue, named + "grids have two dimensions and blocks one, not " +
                                       std::to_string(gridX) + " x " + std::to_string(gridY) +
                                       " x " + std::to_string(gridZ) + " blocks of " +
                                       std::to_string(blockX) + " x " + std::to_string(blockY) +
                                       " x " + std::to_string(blockZ) + " threads");
  if (blockX != static_cast<unsigned>(function->threads) || blockX > maximumThreads || blockX % 32)
    return fail(errorInvalidValue, named + "blocks of " + std::to_string(blockX) +
                                       " threads, and it was made for " +
                                       std::to_string(function->threads));
  if (sharedBytes > static_cast<unsigned>(function->maximumShared))
    return fail(errorInvalidValue, named + std::to_string(sharedBytes) +
                                       " bytes of shared memory, and cuFuncSetAttribute allowed " +
                                       std::to_string(function->maximumShared));
  if (extra || (!parameters && function->parameters))
    return fail(errorInvalidValue, named + "arguments are passed by kernelParams only");
  std::vector<uint64_t> values(static_cast<size_t>(function->parameters));
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(&values[i], parameters[i], sizeof(uint64_t));
  return device().enqueue("cuLaunchKernel", stream, [=, values = std::move(values)] {
    return runKernel(function, gridX, gridY, static_cast<int>(blockX), sharedBytes, values);
  });
}
