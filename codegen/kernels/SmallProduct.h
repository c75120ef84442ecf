//===- SmallProduct.h - contract of products that take less than a launch ----===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

/// y[i, j] = Σ_k a[i, k] b[k, j] (+ bias[j]), of T. transposeA: a is [inner, rows] in memory, and
/// b with transposeB [columns, inner]. Strides: elements from a row to the next.
struct SmallProductParams {
  int64_t rows, columns, inner, transposeA, transposeB, aStride, bStride, yStride, hasBias;
  HYBRID_FIELDS(rows, columns, inner, transposeA, transposeB, aStride, bStride, yStride, hasBias)
};

namespace cuda {

constexpr int64_t smallProductThreads = 256;
/// Lanes that have a result together, four terms of it or more each.
constexpr int64_t smallProductLanes(const SmallProductParams &p) {
  int64_t lanes = 1;
  while (lanes < 32 && lanes * 8 <= p.inner)
    lanes *= 2;
  return lanes;
}

} // namespace cuda

/// Whether a product is one of these, and not a library's: where its arithmetic is that of a few
/// multiprocessors for a microsecond, and a lane's terms are few. A library begins later, as
/// nothing can be made ready beside it, and computes neither regions behind a product nor several
/// products in one launch. By the model on an H100, 128 x 4 from 512: 13.6 us by the library in one
/// tile, 4.6 here, with the region behind it.
struct PaysSmallProduct {
  template <typename T> static constexpr bool onCpu(const SmallProductParams &) { return false; }
  template <typename T> static constexpr bool onCuda(const SmallProductParams &p) {
    constexpr int64_t most = 1 << 18, longest = 1024;
    return p.inner <= longest && p.rows * p.columns <= most / (p.inner < 1 ? 1 : p.inner);
  }
};

/// Buffers: a, b, bias (optional), y, a store. An item is some neighbouring results.
struct SmallProduct : KernelOf<SmallProductParams, "small_product"> {
  static constexpr bool isBrief = true;
  HYBRID_ON_CUDA(ceilDiv(p.rows *p.columns, cuda::smallProductThreads / cuda::smallProductLanes(p)),
                 cuda::smallProductThreads)
};

} // namespace hybrid
