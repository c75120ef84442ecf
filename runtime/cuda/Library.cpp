//===- Library.cpp - a shared library that is opened when it is needed ------===//
#include "runtime/cuda/Library.h"
#include <dlfcn.h>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

Result<Library> Library::open(const std::string &path) {
  Library library;
  library.file = path;
  library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.handle) {
    const char *why = dlerror();
    return Error{why ? why : path + " does not open"};
  }
  return library;
}

Result<void *> Library::addressOf(const char *symbol) const {
  if (void *address = dlsym(handle, symbol))
    return address;
  return Error{fmt::format("{} has no {}: it is too old for this version", file, symbol)};
}

} // namespace hybrid::rt::cuda
