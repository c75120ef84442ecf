//===- Matmul.h - matrix products of the tests' cuBLASLt --------------------===//
#pragma once
#include <cstddef>
#include <cstdint>

namespace hybrid::shim {

/// cublasLtMatrixLayout_t: column-major, columns `stride` elements apart.
struct MatrixLayout {
  int type;
  uint64_t rows, columns;
  int64_t stride;
  int32_t batchCount = 1;
  int64_t batchStride = 0;

  /// From the first element to after the last.
  int64_t elements() const {
    int64_t one = static_cast<int64_t>(columns - 1) * stride + static_cast<int64_t>(rows);
    return (batchCount - 1) * batchStride + one;
  }
};

/// d = alpha op(a) op(b) + beta c + bias, the bias one number for each row; alpha and beta in f64.
struct MatrixProduct {
  bool transposeA, transposeB;
  double alpha, beta;
  MatrixLayout a, b, c, d;
  const void *dataA, *dataB, *dataC;
  void *dataD;
  const void *bias;            ///< of d's type, or null
  int64_t biasBatchStride = 0; ///< elements from one matrix's bias to the next one's
};

/// Bytes of an element; 0 for a type that the shim does not know.
size_t elementBytes(int type);
/// Sums in f32, or in f64 when all is f64.
void multiply(const MatrixProduct &product);

} // namespace hybrid::shim
