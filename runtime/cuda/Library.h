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

/// A table of entry points. CALLS(CALL) says CALL(name, symbol, result, parameters) of each: a
/// member `name`, which find() takes from the library.
#define HYBRID_LIBRARY_TABLE(Table, CALLS)                                                         \
  struct Table {                                                                                   \
    CALLS(HYBRID_LIBRARY_MEMBER)                                                                   \
    Result<void> find([[maybe_unused]] const Library &library) {                                   \
      CALLS(HYBRID_LIBRARY_FIND)                                                                   \
      return {};                                                                                   \
    }                                                                                              \
  };
#define HYBRID_LIBRARY_MEMBER(name, symbol, result, parameters) result(*name) parameters = nullptr;
#define HYBRID_LIBRARY_FIND(name, symbol, result, parameters)                                      \
  if (auto found = library.find(symbol, name); !found)                                             \
    return found;

/// Where a library is found, and what people can do where it is not.
struct LibraryPlace {
  std::string name;               // "cuFFT"
  const char *variable;           // of the environment, that names another file
  std::vector<std::string> files; // the first that opens
  std::string purpose;            // "ranks on GPUs sum over it"; may be empty
  std::string packages;           // that hold it
  std::string without;            // what does without it; may be empty

  std::vector<std::string> candidates() const;
  /// None of the candidates opens.
  Error absent(const std::string &why) const;
  /// There is one that is of no use.
  Error unusable(const std::string &why) const;
};

/// Tables of entry points by the library's path: each library is opened once a process.
template <typename Api> class LibraryCache {
public:
  /// Takes entry points, and may refuse a version.
  using Fill = Result<void> (*)(Api &api, const Library &library);
  /// Failures are not remembered.
  Result<const Api *> open(const LibraryPlace &place, Fill fill) {
    std::lock_guard lock(mutex);
    std::string fault;
    for (const std::string &path : place.candidates()) {
      if (auto found = tables.find(path); found != tables.end())
        return const_cast<const Api *>(found->second.get());
      auto library = Library::open(path);
      if (!library) {
        fault += (fault.empty() ? "" : "; ") + library.error().message;
        continue;
      }
      auto api = std::make_unique<Api>();
      if (auto done = fill(*api, *library); !done)
        return place.unusable(done.error().message);
      return const_cast<const Api *>(tables.emplace(path, std::move(api)).first->second.get());
    }
    return place.absent(fault);
  }

private:
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Api>> tables;
};

} // namespace hybrid::rt::cuda
