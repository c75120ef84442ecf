//===- Alignment.h - how many elements a kernel may move at once ------------===//
#pragma once
#include "dialect/schedule/Layout.h"
#include <initializer_list>

namespace hybrid {

/// `most` or the power of two below it that divides all of these numbers of elements.
inline int64_t commonAlignment(std::initializer_list<int64_t> elements, int64_t most = 4) {
  int64_t alignment = most;
  for (int64_t count : elements)
    while (count % alignment != 0)
      alignment /= 2;
  return alignment;
}

/// The same of rows that are moved together: how long they are, where they begin, and how far apart
/// those of each view are that is there.
inline int64_t rowAlignment(int64_t columns, llvm::ArrayRef<View> rows, int64_t most = 4) {
  int64_t alignment = commonAlignment({columns}, most);
  for (const View &view : rows)
    if (view.isPresent())
      alignment = std::min(alignment, commonAlignment({view.offset, *view.rowStride()}, most));
  return alignment;
}

} // namespace hybrid
