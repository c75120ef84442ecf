//===- Library.cpp - a shared library that is opened when it is needed ------===//
#include "runtime/cuda/Library.h"
#include <cstdlib>
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

static const char *chosenFile(const LibraryPlace &place) {
  const char *file = std::getenv(place.variable);
  return file && *file ? file : nullptr;
}

std::vector<std::string> LibraryPlace::candidates() const {
  if (const char *file = chosenFile(*this))
    return {file};
  return files;
}

Error LibraryPlace::absent(const std::string &why) const {
  const std::string what = fmt::format("no {} ({})", name, why);
  if (chosenFile(*this))
    return {fmt::format("{}: {} names that file{}{}", what, variable,
                        without.empty() ? "" : "; or ", without)};
  return {fmt::format("{}: {}{}install it ({}){} set {} to the file{}{}", what, purpose,
                      purpose.empty() ? "" : "; ", packages, without.empty() ? ", or" : ",",
                      variable, without.empty() ? "" : ", or ", without)};
}

Error LibraryPlace::unusable(const std::string &why) const {
  return {without.empty() ? why : fmt::format("{}; or {}", why, without)};
}

} // namespace hybrid::rt::cuda
