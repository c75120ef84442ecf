//===- TileProducts.h - products of small matrices in cache ---------------===//
//
// Sums of products A B, row by row of A and vector by vector of B, a few rows and two vectors at a
// time in registers; A is read element by element in any order. For matrices that a kernel has in
// its own memory: rows of B are whole vectors.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "Vector.h"

namespace hybrid::cpu {

/// Which elements (i, p) of a square matrix are not zero.
enum class Triangle { None, Lower /* p <= i */, Upper /* p >= i */ };

/// A product: element (i, p) of A is left[i * leftRow + p * leftColumn], p < inner; row p of B
/// starts at right[p * rightRow].
template <typename T, Triangle triangle = Triangle::None> struct Product {
  const T *left;
  int64_t leftRow, leftColumn, inner;
  const T *right;
  int64_t rightRow;

  int64_t first(int64_t row) const { return triangle == Triangle::Upper ? row : 0; }
  int64_t end(int64_t row, int64_t rows) const {
    return triangle == Triangle::Lower ? minimum(row + rows, inner) : inner;
  }
};

/// sum[r][v] += row `row` + r of A times vector v of B from `column` on, over p in [first, end).
template <typename T, int64_t rows, int64_t vectors, typename P>
HYBRID_INLINE void addProduct(Vector<T> (&sum)[rows][vectors], const P &product, int64_t row,
                              int64_t column, int64_t first, int64_t end) {
  for (int64_t p = first; p < end; ++p) {
    Vector<T> right[vectors];
    HYBRID_UNROLL
    for (int64_t v = 0; v < vectors; ++v)
      right[v] = load(product.right + p * product.rightRow + column + v * lanes<T>);
    HYBRID_UNROLL
    for (int64_t r = 0; r < rows; ++r) {
      const T left = product.left[(row + r) * product.leftRow + p * product.leftColumn];
      HYBRID_UNROLL
      for (int64_t v = 0; v < vectors; ++v)
        sum[r][v] += left * right[v];
    }
  }
}

/// One block of rows and vectors: end(i, column, begin(i, column) + the products).
template <typename T, int64_t rows, int64_t vectors, typename Begin, typename End,
          typename... Products>
HYBRID_INLINE void multiplyBlock(int64_t row, int64_t column, Begin begin, End end,
                                 const Products &...products) {
  Vector<T> sum[rows][vectors];
  HYBRID_UNROLL
  for (int64_t r = 0; r < rows; ++r) {
    HYBRID_UNROLL
    for (int64_t v = 0; v < vectors; ++v)
      sum[r][v] = begin(row + r, column + v * lanes<T>);
  }
  (addProduct<T, rows, vectors>(sum, products, row, column, products.first(row),
                                products.end(row, rows)),
   ...);
  HYBRID_UNROLL
  for (int64_t r = 0; r < rows; ++r) {
    HYBRID_UNROLL
    for (int64_t v = 0; v < vectors; ++v)
      end(row + r, column + v * lanes<T>, sum[r][v]);
  }
}

template <typename T, int64_t vectors, typename Begin, typename End, typename... Products>
HYBRID_INLINE void multiplyColumns(int64_t rows, int64_t column, Begin begin, End end,
                                   const Products &...products) {
  constexpr int64_t block = vectors == 1 ? 8 : 4;
  int64_t row = 0;
  for (; row + block <= rows; row += block)
    multiplyBlock<T, block, vectors>(row, column, begin, end, products...);
  for (; row < rows; ++row)
    multiplyBlock<T, 1, vectors>(row, column, begin, end, products...);
}

/// For each of `rows` rows i and each vector of `columns` columns (in whole vectors):
/// end(i, column, begin(i, column) + sum of the products).
template <typename T, typename Begin, typename End, typename... Products>
HYBRID_INLINE void multiply(int64_t rows, int64_t columns, Begin begin, End end,
                            const Products &...products) {
  int64_t column = 0;
  for (; column + 2 * lanes<T> <= columns; column += 2 * lanes<T>)
    multiplyColumns<T, 2>(rows, column, begin, end, products...);
  if (column < columns)
    multiplyColumns<T, 1>(rows, column, begin, end, products...);
}

/// Solves (I - A) X = X for a strictly triangular A, in place: row i of X gets the rows before it
/// (Lower), or behind it (Upper), by A's element (i, p). A has zeros outside its triangle.
template <typename T, Triangle triangle, int64_t rows, int64_t vectors>
HYBRID_INLINE void solveBlock(const Product<T> &a, T *x, int64_t row, int64_t column, int64_t end) {
  Vector<T> sum[rows][vectors];
  auto at = [&](int64_t r, int64_t v)
                HYBRID_INLINE_LAMBDA { return x + (row + r) * a.rightRow + column + v * lanes<T>; };
  HYBRID_UNROLL
  for (int64_t r = 0; r < rows; ++r) {
    HYBRID_UNROLL
    for (int64_t v = 0; v < vectors; ++v)
      sum[r][v] = load(at(r, v));
  }
  if constexpr (triangle == Triangle::Lower)
    addProduct<T, rows, vectors>(sum, a, row, column, 0, row);
  else
    addProduct<T, rows, vectors>(sum, a, row, column, row + rows, end);
  // Within the block, in the order in which its rows become known.
  HYBRID_UNROLL
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t r = triangle == Triangle::Lower ? i : rows - 1 - i;
    HYBRID_UNROLL
    for (int64_t j = 0; j < i; ++j) {
      const int64_t known = triangle == Triangle::Lower ? j : rows - 1 - j;
      const T factor = a.left[(row + r) * a.leftRow + (row + known) * a.leftColumn];
      HYBRID_UNROLL
      for (int64_t v = 0; v < vectors; ++v)
        sum[r][v] += factor * sum[known][v];
    }
    HYBRID_UNROLL
    for (int64_t v = 0; v < vectors; ++v)
      store(at(r, v), sum[r][v]);
  }
}

template <typename T, Triangle triangle, int64_t vectors>
HYBRID_INLINE void solveColumns(const Product<T> &a, T *x, int64_t rows, int64_t column) {
  constexpr int64_t block = 4;
  const int64_t whole = rows / block * block;
  if constexpr (triangle == Triangle::Lower) {
    for (int64_t row = 0; row < whole; row += block)
      solveBlock<T, triangle, block, vectors>(a, x, row, column, rows);
    for (int64_t row = whole; row < rows; ++row)
      solveBlock<T, triangle, 1, vectors>(a, x, row, column, rows);
  } else {
    for (int64_t row = rows - 1; row >= whole; --row)
      solveBlock<T, triangle, 1, vectors>(a, x, row, column, rows);
    for (int64_t row = whole - block; row >= 0; row -= block)
      solveBlock<T, triangle, block, vectors>(a, x, row, column, rows);
  }
}

/// Element (i, p) of A is left[i * leftRow + p * leftColumn]; X has `rows` rows of `columns`
/// columns.
template <typename T, Triangle triangle>
HYBRID_INLINE void solve(const T *left, int64_t leftRow, int64_t leftColumn, T *x, int64_t rows,
                         int64_t columns) {
  const Product<T> a{left, leftRow, leftColumn, rows, x, columns};
  int64_t column = 0;
  for (; column + 2 * lanes<T> <= columns; column += 2 * lanes<T>)
    solveColumns<T, triangle, 2>(a, x, rows, column);
  if (column < columns)
    solveColumns<T, triangle, 1>(a, x, rows, column);
}

} // namespace hybrid::cpu
