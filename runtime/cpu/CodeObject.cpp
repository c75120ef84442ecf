//===- CodeObject.cpp - machine code loaded from memory ----------------------===//
#include "runtime/cpu/CodeObject.h"
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace hybrid::rt {

Result<CodeObject> CodeObject::load(std::span<const uint8_t> code, const std::string &name) {
  int descriptor = memfd_create("hybrid-code", MFD_CLOEXEC);
  if (descriptor < 0)
    return Error{fmt::format("{}: cannot map its code: {}", name, std::strerror(errno))};
  size_t written = 0;
  while (written < code.size()) {
    ssize_t count = ::write(descriptor, code.data() + written, code.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      std::string reason = std::strerror(errno);
      close(descriptor);
      return Error{fmt::format("{}: cannot map its code: {}", name, reason)};
    }
    written += static_cast<size_t>(count);
  }
  CodeObject object;
  object.handle =
      dlopen(fmt::format("/proc/self/fd/{}", descriptor).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(descriptor);
  if (!object.handle)
    return Error{fmt::format("{}: its code does not load: {}", name, dlerror())};
  return object;
}

CodeObject::CodeObject(CodeObject &&other) noexcept
    : handle(std::exchange(other.handle, nullptr)) {}

CodeObject::~CodeObject() {
  if (handle)
    dlclose(handle);
}

KernelFunction CodeObject::find(const char *symbol) const {
  return reinterpret_cast<KernelFunction>(dlsym(handle, symbol));
}

} // namespace hybrid::rt
