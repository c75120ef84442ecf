//===- RingRows.h - contract of writing new positions to a ring --------------===//
//
// A ring keeps the newest `rows` positions of each sequence, that of position p in row p mod rows:
// ring [batch, rows, columns], dense. `length` new positions stand behind `seen[b]` ones (T, a
// whole number); of more than there are rows only the newest are kept. x: [batch, length, columns],
// with a row stride.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

struct RingRowsParams {
  int64_t batch, length, columns, stride, rows;
  HYBRID_FIELDS(batch, length, columns, stride, rows)

  constexpr int64_t written() const { return length < rows ? length : rows; }
};

/// Buffers: x, seen, ring. An item is a row that is written.
struct RingRows : KernelOf<RingRowsParams, "ring_rows", 2> {
  HYBRID_ON_CPU(p.batch *p.written())
  HYBRID_ON_CUDA(p.batch *p.written(), cuda::rowThreads(p.columns))
};

} // namespace hybrid
