//===- Library.h - a shared library that is opened when it is needed --------===//
#pragma once
#include "runtime/Result.h"
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace hybrid::rt::cuda {

/// Stays open until the process ends: drivers do not like to go.
class Library {
public:
  static Result<Library> open(const std::string &path);
  const std::string &path() const { return file; }
  /// The address of a symbol, as a function pointer. The error names library and symbol.
  template <typename Function> Result<void> find(const char *symbol, Function *&function) const {
    auto address = addressOf(symbol);
    if (!address)
      return address.error();
    function = reinterpret_cast<Function *>(*address);
    return {};
  }

private:
  Result<void *> addressOf(const char *symbol) const;
  std::string file;
  void *handle = nullptr;
};

/// Tables of entry points by the library's path: each library is opened once a process.
template <typename Api> class LibraryCache {
public:
  using Fill = Result<void> (*)(Api &api, const Library &library);
  /// The first of the files that opens. Failures are not remembered.
  Result<const Api *> open(const std::vector<std::string> &paths, Fill fill) {
    std::lock_guard lock(mutex);
    std::string fault;
    for (const std::string &path : paths) {
      if (auto found = tables.find(path); found != tables.end())
        return const_cast<const Api *>(found->second.get());
      auto library = Library::open(path);
      if (!library) {
        fault += (fault.empty() ? "" : "; ") + library.error().message;
        continue;
      }
      auto api = std::make_unique<Api>();
      if (auto done = fill(*api, *library); !done)
        return done.error();
      return const_cast<const Api *>(tables.emplace(path, std::move(api)).first->second.get());
    }
    return Error{fault};
  }

private:
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Api>> tables;
};

} // namespace hybrid::rt::cuda
