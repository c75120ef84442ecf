//===- ArenaPlanner.cpp - one arena for buffers that live at different times ===//
#include "passes/schedule/ArenaPlanner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace hybrid {

int64_t planArena(MutableArrayRef<Lifetime> buffers) {
  return planArena(buffers, [&](size_t a, size_t b) {
    return buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
  });
}

int64_t planArena(MutableArrayRef<Lifetime> buffers, function_ref<bool(size_t, size_t)> meet) {
  SmallVector<size_t> order;
  for (size_t i = 0; i < buffers.size(); ++i)
    order.push_back(i);
  sort(order, [&](size_t a, size_t b) {
    return buffers[a].bytes != buffers[b].bytes ? buffers[a].bytes > buffers[b].bytes : a < b;
  });
  int64_t arenaBytes = 0;
  SmallVector<const Lifetime *> placed; // by offset
  for (size_t index : order) {
    Lifetime &buffer = buffers[index];
    int64_t bytes = alignTo(std::max<int64_t>(buffer.bytes, 1), 64), offset = 0;
    for (const Lifetime *other : placed) {
      if (!meet(index, static_cast<size_t>(other - buffers.begin())))
        continue;
      if (offset + bytes <= other->offset)
        break;
      offset = std::max(offset, static_cast<int64_t>(alignTo(
                                    other->offset + std::max<int64_t>(other->bytes, 1), 64)));
    }
    buffer.offset = offset;
    arenaBytes = std::max(arenaBytes, offset + bytes);
    placed.insert(
        upper_bound(placed, &buffer,
                    [](const Lifetime *a, const Lifetime *b) { return a->offset < b->offset; }),
        &buffer);
  }
  return arenaBytes;
}

} // namespace hybrid
