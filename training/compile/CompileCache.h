//===- CompileCache.h - what was compiled before ----------------------------------===//
//
// In the user's cache folder. For each way of compiling (compiler, model, options) a list names the
// files that were read and their hashes, the files that were looked for in vain, and the executable
// that came of it. An executable is used again only when every file of its list is as it was.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/TemporaryOutput.h"
#include "runtime/Result.h"
#include <optional>
#include <string>
#include <vector>

namespace hybrid::rt {

/// A way of compiling: `texts` are all that the result depends on beside the files it reads.
std::string compileKey(const std::vector<std::string> &texts);

class CompileCache {
public:
  /// Makes the folder, for this user alone.
  static Result<CompileCache> open();

  /// The executable that compiling would make now, if it was made before.
  std::optional<std::string> find(const std::string &key) const;

  /// A folder to compile in, removed with it.
  class Workplace {
  public:
    std::string executable() const { return folder.path() + "/model.hyx"; }
    std::string dependencies() const { return folder.path() + "/dependencies.json"; }

  private:
    friend class CompileCache;
    explicit Workplace(TemporaryFolder folder) : folder(std::move(folder)) {}
    TemporaryFolder folder;
  };
  Result<Workplace> workplace() const;

  /// Keeps what was compiled there; where it lies now.
  Result<std::string> keep(const std::string &key, const Workplace &place) const;

private:
  explicit CompileCache(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace hybrid::rt
