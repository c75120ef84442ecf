//===- Stacks.h - the memory that a block's fibers run on -------------------===//
#pragma once
#include "test/cuda/shim/Block.h"
#include <cstddef>

namespace hybrid::shim {

/// Tells the address sanitizer of changes of stack; nothing without it.
struct SwitchRecord {
  void *fakeStack = nullptr;
  const void *bottom = nullptr;
  size_t bytes = 0;

  void leave(const SwitchRecord &to);
  void comeBack();
  /// On a fiber's first entry; learns the bounds of the stack it was entered from.
  void begin(SwitchRecord &from);
};

/// The region that Block.h describes. Address space only, until a stack is used.
class Stacks {
public:
  Stacks();
  ~Stacks();
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;

  /// Where the Block is; null when the system gave no memory.
  void *base() const { return region; }
  void setOwner(void *owner);
  static void *owner(const Block *block);

  /// The number of a stack not taken since the last reset; there are maximumThreads.
  int take();
  void reset() { taken = 0; }
  void *top(int stack) const;
  size_t usableBytes(int stack) const;
  SwitchRecord record(int stack) const;
  SwitchRecord recordOfCaller() const;

private:
  unsigned char *region = nullptr;
  int taken = 0, opened = 0;
};

} // namespace hybrid::shim
