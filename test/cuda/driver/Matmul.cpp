//===- Matmul.cpp - matrix products of the tests' cuBLASLt ------------------===//
#define EIGEN_DONT_PARALLELIZE
#include "test/cuda/driver/Matmul.h"
#include "runtime/cuda/CublasLtApi.h"
#include <Eigen/Core>
#include <bit>
#include <cmath>

using namespace hybrid::shim;
using namespace hybrid::rt::cuda;

template <typename T> using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

size_t hybrid::shim::elementBytes(int type) {
  return type == typeF32 ? 4 : type == typeF64 ? 8 : type == typeBF16 ? 2 : 0;
}

static float fromBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
static uint16_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename T>
static Matrix<T> read(const void *data, const MatrixLayout &layout, int64_t batch) {
  auto rows = static_cast<Eigen::Index>(layout.rows);
  auto columns = static_cast<Eigen::Index>(layout.columns);
  int64_t first = batch * layout.batchStride;
  if (layout.type == typeBF16) {
    auto *elements = static_cast<const uint16_t *>(data) + first;
    return Matrix<T>::NullaryExpr(rows, columns, [&](Eigen::Index row, Eigen::Index column) {
      return static_cast<T>(fromBf16(elements[column * layout.stride + row]));
    });
  }
  using Source = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;
  return Source(static_cast<const T *>(data) + first, rows, columns,
                Eigen::OuterStride<>(layout.stride));
}

template <typename T> static void multiplyIn(const MatrixProduct &p) {
  for (int64_t batch = 0; batch < p.d.batchCount; ++batch) {
    Matrix<T> a = read<T>(p.dataA, p.a, batch), b = read<T>(p.dataB, p.b, batch);
    if (p.transposeA)
      a.transposeInPlace();
    if (p.transposeB)
      b.transposeInPlace();
    Matrix<T> result(a.rows(), b.cols());
    result.noalias() = static_cast<T>(p.alpha) * (a * b);
    if (p.beta != 0) // c is not read otherwise, whatever it holds
      result += static_cast<T>(p.beta) * read<T>(p.dataC, p.c, batch);
    if (p.bias) {
      MatrixLayout column = {p.d.type, p.d.rows, 1, static_cast<int64_t>(p.d.rows)};
      column.batchStride = p.biasBatchStride;
      result.colwise() += Eigen::Vector<T, Eigen::Dynamic>(read<T>(p.bias, column, batch));
    }
    int64_t first = batch * p.d.batchStride;
    for (Eigen::Index column = 0; column < result.cols(); ++column)
      for (Eigen::Index row = 0; row < result.rows(); ++row) {
        int64_t at = first + column * p.d.stride + row;
        if (p.d.type == typeBF16)
          static_cast<uint16_t *>(p.dataD)[at] = toBf16(static_cast<float>(result(row, column)));
        else
          static_cast<T *>(p.dataD)[at] = result(row, column);
      }
  }
}

void hybrid::shim::multiply(const MatrixProduct &product) {
  if (product.d.type == typeF64)
    multiplyIn<double>(product);
  else
    multiplyIn<float>(product);
}
