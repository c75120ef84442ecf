//===- Shadow.h - who used which memory last --------------------------------===//
//
// For each word (and where smaller accesses were, each byte) the last writer and the readers since,
// as thread and interval. An interval is what a block does between two barriers; they are numbered
// over all launches, so that a number says block and launch, too. Two accesses of a word, one of
// them writing, are a race when neither a barrier of the block nor one of their warp is between.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstddef>
#include <cstdint>

namespace hybrid::ptx {

/// When and by whom an access is.
struct Moment {
  uint32_t interval = 0;    ///< of the thread's block
  uint32_t blockFirst = 0;  ///< the block's first interval
  uint32_t launchFirst = 0; ///< the launch's
  uint16_t epoch = 0;       ///< barriers of the warp
  uint16_t thread = 0;      ///< of the block
};

struct Stamp {
  uint32_t interval = 0;
  uint16_t thread = 0; ///< and flags above its 10 bits
  uint16_t epoch = 0;
};

enum class Conflict : uint8_t { None, WithThread, WithBlock, Pending, Unwritten, Poison };

class Shadow {
public:
  /// Of so many bytes of memory from `base` on; they take room when they are used.
  Shadow(uint64_t base, uint64_t bytes);
  ~Shadow();
  Shadow(const Shadow &) = delete;
  Shadow &operator=(const Shadow &) = delete;

  enum class Access : uint8_t {
    Read,
    Write,
    WritePoison, ///< a value that was never written
    BeginCopy,   ///< writes later, when the copy has been waited for
    EndCopy
  };
  /// Aligned to `bytes`, 1, 2, or a multiple of 4. The worst of its bytes. `other` is the one whose
  /// access is in conflict. Of a read, with `within`: memory of the block, where what no thread of
  /// it has written is Unwritten.
  Conflict access(uint64_t address, uint32_t bytes, Access access, const Moment &now, bool within,
                  Stamp &other);
  /// Whether a thread of this launch has written there.
  bool isWritten(uint64_t address, const Moment &now) const;
  uint64_t begin() const { return base; }
  uint64_t end() const { return base + size; }
  static unsigned threadOf(const Stamp &stamp) { return stamp.thread & 0x3ff; }

private:
  struct Entry {
    Stamp write, read;
  };
  static Conflict use(Entry &entry, Access access, const Moment &now, bool within, Stamp &other);

  uint64_t base, size;
  Entry *words, *bytes;
};

} // namespace hybrid::ptx
