//===- SharedObject.cpp - kernels compiled for this machine -----------------===//
//
// An image is an ELF shared object that needs nothing but the C library's mathematics: its kernels
// find the block from their stack (Block.h).
//
//===----------------------------------------------------------------------===//
#include "test/cuda/driver/CodeImage.h"
#include "test/cuda/shim/Block.h"
#include "test/cuda/shim/Launch.h"
#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hybrid::shim {
namespace {

/// Bytes of the file, from its headers; 0 when it is no code for this machine.
size_t imageBytes(const void *image) {
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

class NativeKernel final : public Kernel {
public:
  NativeKernel(std::string name, void (*entry)(void **)) : name(std::move(name)), entry(entry) {}
  std::string run(const KernelLaunch &given) const override {
    std::vector<void *> arguments;
    for (const uint64_t &value : given.values)
      arguments.push_back(const_cast<uint64_t *>(&value));
    return launch(
        name, given.blocks, given.threads, given.sharedBytes,
        [&](int64_t) { entry(arguments.data()); }, given.rows);
  }

private:
  std::string name;
  void (*entry)(void **arguments);
};

class SharedObject final : public CodeImage {
public:
  ~SharedObject() override {
    if (library)
      dlclose(library);
    if (file >= 0)
      ::close(file);
  }
  bool load(const void *image, std::string &complaint);
  std::unique_ptr<Kernel> find(const std::string &name, std::string &complaint) override;

private:
  void *library = nullptr;
  int file = -1; ///< stays open: as long as it is, no other image can have the same name
};

bool SharedObject::load(const void *image, std::string &complaint) {
  const size_t bytes = imageBytes(image);
  file = memfd_create("hybrid-kernels", MFD_CLOEXEC);
  const char *data = static_cast<const char *>(image);
  for (size_t done = 0; done < bytes;) {
    ssize_t count = file < 0 ? -1 : write(file, data + done, bytes - done);
    if (count <= 0) {
      complaint = "no memory for the image";
      return false;
    }
    done += static_cast<size_t>(count);
  }
  std::string path = "/proc/self/fd/" + std::to_string(file);
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    complaint = dlerror();
    return false;
  }
  auto *abi = static_cast<const int *>(dlsym(library, "hybrid_shim_abi"));
  if (abi && *abi == abiVersion)
    return true;
  complaint = abi ? "the image has version " + std::to_string(*abi) + " of the shim, and this is " +
                        std::to_string(abiVersion)
                  : "the image was not made for the shim: it has no hybrid_shim_abi";
  return false;
}

std::unique_ptr<Kernel> SharedObject::find(const std::string &name, std::string &) {
  void *entry = dlsym(library, name.c_str());
  auto *threads = static_cast<const int *>(dlsym(library, (name + "_threads").c_str()));
  auto *parameters = static_cast<const int *>(dlsym(library, (name + "_parameters").c_str()));
  if (!entry || !threads || !parameters)
    return nullptr;
  auto kernel = std::make_unique<NativeKernel>(name, reinterpret_cast<void (*)(void **)>(entry));
  kernel->threads = *threads, kernel->parameters = static_cast<size_t>(*parameters);
  return kernel;
}

} // namespace

std::unique_ptr<CodeImage> loadSharedObject(const void *image, std::string &complaint) {
  complaint.clear();
  if (!image || !imageBytes(image))
    return nullptr;
  auto made = std::make_unique<SharedObject>();
  if (!made->load(image, complaint))
    return nullptr;
  return made;
}

} // namespace hybrid::shim
