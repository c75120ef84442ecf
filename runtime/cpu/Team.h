//===- Team.h - threads that work on one thing together -----------------------===//
//
// Work is handed out in pieces while it is done: a thread that shares its core with another
// process takes fewer. No result depends on who takes what.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <atomic>
#include <cstdint>
#include <type_traits>

namespace hybrid::rt {

/// A function of the caller's that outlives the call.
template <typename Signature> class FunctionRef;
template <typename Result, typename... Arguments> class FunctionRef<Result(Arguments...)> {
public:
  template <typename Function,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<Function>, FunctionRef>>>
  FunctionRef(Function &&function)
      : object(const_cast<void *>(static_cast<const void *>(&function))),
        call([](void *target, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Function> *>(target))(arguments...);
        }) {}
  Result operator()(Arguments... arguments) const { return call(object, arguments...); }

private:
  void *object;
  Result (*call)(void *, Arguments...);
};

struct Region;

/// A thread in a region: all members call share() with the same arguments in the same order.
class Member {
public:
  Member(Region *region, int index, int threads) : region(region), index(index), count(threads) {}
  /// One that shares with nobody, on a thread that is `thread` in a region around this.
  static Member alone(int thread) { return {nullptr, thread, 1}; }
  /// 0 is the thread that opened the region.
  int thread() const { return index; }
  int threads() const { return count; }

  using Piece = FunctionRef<void(int64_t lo, int64_t hi)>;
  /// Hands out [0, items) in pieces of `grain` or fewer: first those of a contiguous part of its
  /// own, then what others have left. Returns when all pieces are done, whoever did them. False
  /// when somebody called fail(): the member leaves the region then.
  bool share(int64_t items, int64_t grain, Piece piece);
  /// Makes this share() of the calling member return false, and those of the others from some
  /// moment on.
  void fail();

private:
  Region *region; // null: alone
  int index, count;
  uint32_t shares = 0; // passed so far
  bool failedAlone = false;
};

/// The pieces that a share of items is handed out in when nothing else decides: some for each
/// thread, so that one that is slow takes fewer.
int64_t grainOf(int64_t items, int threads);

constexpr int mostThreads = 4000;

/// While it lives, libraries that have threads of their own (oneDNN's OpenMP) use none but the
/// one that calls them: this one. Undone at its end, as the thread may be another program's.
class OneThreadOfLibraries {
public:
  OneThreadOfLibraries();
  ~OneThreadOfLibraries();
  OneThreadOfLibraries(const OneThreadOfLibraries &) = delete;
  OneThreadOfLibraries &operator=(const OneThreadOfLibraries &) = delete;

private:
  int before;
};

/// Runs `body` on this thread and `threads - 1` others at once, which sleep between regions and
/// are kept for this thread's next one. Inside another region, on this thread alone.
void parallelRegion(int threads, FunctionRef<void(Member &)> body);

/// Splits [0, count) into ranges; function(lo, hi, thread) is called for each of them, on
/// `threads` threads at most.
template <typename Function> void parallelFor(int64_t count, int threads, Function &&function) {
  if (threads > count)
    threads = static_cast<int>(count);
  parallelRegion(threads, [&](Member &member) {
    member.share(count, grainOf(count, member.threads()),
                 [&](int64_t lo, int64_t hi) { function(lo, hi, member.thread()); });
  });
}

} // namespace hybrid::rt
