//===- ProgramStep.h - one step of a program, ready to run --------------------===//
//
// A kernel launch, a matrix product, or a loop over tiles of rows that holds such steps.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/Result.h"
#include "runtime/cpu/CodeObject.h"
#include "runtime/cpu/Matmul.h"
#include "runtime/cpu/Team.h"
#include "runtime/ranks/Communicator.h"
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::rt {

/// Memory that stands for a place of the arena.
struct Redirect {
  uint64_t offset, bytes; // of the place
  std::byte *memory;
};

/// Where the spaces of a session lie while a program runs.
struct ProgramMemory {
  std::array<std::byte *, 6> spaces{};
  std::byte *scratch = nullptr, *tiles = nullptr; // of thread 0; those of the others follow
  uint64_t scratchBytes = 0;                      // a thread
  int threads = 1;
  std::vector<Redirect> redirects;
  Communicator *ranks = nullptr; // null: there are no others to reduce with or to have parts

  /// A buffer in a tile: of a loop whose tiles have `tileBytes`, on `thread`.
  std::byte *address(const fb::BufferRef &buffer, uint64_t tileBytes = 0, int thread = 0) const;
};

/// The first thing that went wrong on any of the threads.
class Failure {
public:
  void record(Error error) {
    std::lock_guard lock(mutex);
    if (!first)
      first = std::move(error);
  }
  /// When no thread works any more.
  Result<void> outcome() const { return first ? Result<void>(*first) : Result<void>(); }

private:
  std::mutex mutex;
  std::optional<Error> first;
};

/// Those of a launch's work items that are this rank's.
struct OwnedItems {
  std::vector<std::pair<int64_t, int64_t>> ranges; // [from, to), in order
  std::vector<int64_t> before;                     // a range each: items of those before it
  int64_t count = 0;                               // of all
};

class ProgramStep {
public:
  /// Finds the kernel, prepares the products. `name` is the executable's, for errors. `ranks` are
  /// those that the step may share its work with; null: there are none.
  static Result<ProgramStep> prepare(const fb::Step &step, const CodeObject &code, int threads,
                                     const std::string &name, const Communicator *ranks);

  const fb::Step &source() const { return *step; }
  /// The buffers of a launch; of a product a, b, c, bias or offsets; none of a loop.
  const std::vector<fb::BufferRef> &buffers() const { return places; }
  /// The steps of a loop.
  const std::vector<ProgramStep> &inner() const { return body; }

  /// Does this thread's share; all members of a region run all steps, one after the other. False
  /// when one of them failed: then `failure` says how, and the members run nothing more.
  bool run(const ProgramMemory &memory, Member &member, Failure &failure) const;
  /// Runs one tile after another; `around(inner step, run it)` is called for each step of each tile
  /// and returns false to stop.
  using Around = std::function<bool(const ProgramStep &, const std::function<Result<void>()> &)>;
  Result<void> runTileByTile(const ProgramMemory &memory, const Around &around) const;

private:
  /// Products of whole tiles and of the last one; those that add to what is there.
  struct Products {
    std::unique_ptr<Matmul> whole, last, wholeMore, lastMore;
  };
  Result<void> prepareProduct(const fb::Matmul &product, const fb::TileLoop *loop, int threads,
                              const std::string &name);
  static Result<ProgramStep> prepareIn(const fb::Step &step, const fb::TileLoop *loop,
                                       const CodeObject &code, int threads,
                                       const std::string &name);
  bool launch(const ProgramMemory &memory, Member &member, int64_t begin, int64_t end,
              void *const *pointers) const;
  bool launchShare(const ProgramMemory &memory, Member &member, void *const *pointers) const;
  static bool multiply(Matmul &product, Member &member, Failure &failure, const void *a,
                       const void *b, void *c, const void *extra);
  bool runOverRanks(const ProgramMemory &memory, Member &member, Failure &failure) const;
  bool runExchange(const ProgramMemory &memory, Member &member, Failure &failure) const;
  bool runLoop(const ProgramMemory &memory, Member &member, Failure &failure) const;
  bool runTile(const ProgramMemory &memory, int64_t tile, Member &member, Failure &failure) const;

  const fb::Step *step = nullptr;
  const fb::TileLoop *loop = nullptr; // the loop it is in
  KernelFunction kernel = nullptr;
  std::vector<fb::BufferRef> places;
  Products products;
  std::vector<ProgramStep> body;
  std::optional<OwnedItems> share; // of a launch whose work ranks share: this rank's
};

} // namespace hybrid::rt
