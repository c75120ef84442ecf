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
  CodeObject object;
  object.descriptor = memfd_create("hybrid-code", MFD_CLOEXEC);
  if (object.descriptor < 0)
    return Error{fmt::format("{}: cannot map its code: {}", name, std::strerror(errno))};
  size_t written = 0;
  while (written < code.size()) {
    ssize_t count = ::write(object.descriptor, code.data() + written, code.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return Error{fmt::format("{}: cannot map its code: {}", name, std::strerror(errno))};
    written += static_cast<size_t>(count);
  }
  object.handle =
      dlopen(fmt::format("/proc/self/fd/{}", object.descriptor).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object.handle)
    return Error{fmt::format("{}: its code does not load: {}", name, dlerror())};
  return object;
}

CodeObject::CodeObject(CodeObject &&other) noexcept
    : handle(std::exchange(other.handle, nullptr)),
      descriptor(std::exchange(other.descriptor, -1)) {}

CodeObject::~CodeObject() {
  if (handle)
    dlclose(handle);
  if (descriptor >= 0)
    close(descriptor);
}

KernelFunction CodeObject::find(const char *symbol) const {
  return reinterpret_cast<KernelFunction>(dlsym(handle, symbol));
}

} // namespace hybrid::rt
