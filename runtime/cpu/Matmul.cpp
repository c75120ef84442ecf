//===- Matmul.cpp - matrix products of the library ----------------------------===//
//
// The only file of the runtime built with exceptions: oneDNN's C++ interface throws, and nothing
// thrown leaves this file.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Matmul.h"
#include "runtime/cpu/ProductParts.h"
#include "runtime/cpu/Team.h"
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstring>
#include <dnnl.hpp>
#include <fmt/format.h>
#include <unordered_map>
#include <vector>

namespace hybrid::rt {
namespace {

struct OneDnn {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

OneDnn &oneDnn() {
  static OneDnn instance;
  return instance;
}

/// A part of a product: whole as the library sees it, computed by the thread that calls.
class PartProduct {
public:
  virtual ~PartProduct() = default;
  virtual Result<void> run(const void *a, const void *b, void *c, const void *bias) = 0;
};

class OneDnnProduct : public PartProduct {
public:
  explicit OneDnnProduct(const MatmulShape &s) {
    using dim = dnnl::memory::dim;
    bool batched = s.batch > 1;
    using Type = dnnl::memory::data_type;
    const Type factor = s.dtype == DType::BF16 ? Type::bf16 : Type::f32,
               result = s.roundsResult ? factor : Type::f32;
    auto descriptor = [&](Type type, int64_t rows, int64_t columns, int64_t ld, bool transposed,
                          int64_t batchStride) {
      dim rowStride = transposed ? 1 : ld, columnStride = transposed ? ld : 1;
      if (batched)
        return dnnl::memory::desc({s.batch, rows, columns}, type,
                                  dnnl::memory::dims{batchStride, rowStride, columnStride});
      return dnnl::memory::desc({rows, columns}, type, dnnl::memory::dims{rowStride, columnStride});
    };
    auto a = descriptor(factor, s.m, s.k, s.lda, s.transposeA, s.batchStrideA),
         b = descriptor(factor, s.k, s.n, s.ldb, s.transposeB, s.batchStrideB),
         c = descriptor(result, s.m, s.n, s.ldc, false, s.batchStrideC);
    dnnl::primitive_attr attributes;
    if (s.accumulate) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attributes.set_post_ops(sum);
    }
    auto bias = batched ? dnnl::memory::desc({1, 1, s.n}, result, dnnl::memory::dims{s.n, s.n, 1})
                        : dnnl::memory::desc({1, s.n}, result, dnnl::memory::dims{s.n, 1});
    auto operation = s.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
    dnnl::matmul::primitive_desc primitiveDescriptor(operation, attributes, oneDnn().engine);
    primitive = dnnl::matmul(primitiveDescriptor);
    memoryA = dnnl::memory(a, oneDnn().engine, nullptr);
    memoryB = dnnl::memory(b, oneDnn().engine, nullptr);
    memoryC = dnnl::memory(c, oneDnn().engine, nullptr);
    arguments = {{DNNL_ARG_SRC, memoryA}, {DNNL_ARG_WEIGHTS, memoryB}, {DNNL_ARG_DST, memoryC}};
    if (s.bias) {
      memoryBias = dnnl::memory(bias, oneDnn().engine, nullptr);
      arguments.insert({DNNL_ARG_BIAS, memoryBias});
    }
  }

  Result<void> run(const void *a, const void *b, void *c, const void *bias) override try {
    memoryA.set_data_handle(const_cast<void *>(a));
    memoryB.set_data_handle(const_cast<void *>(b));
    memoryC.set_data_handle(c);
    if (bias)
      memoryBias.set_data_handle(const_cast<void *>(bias));
    primitive.execute(oneDnn().stream, arguments);
    return {};
  } catch (const std::exception &error) {
    return Error{fmt::format("the matrix library failed: {}", error.what())};
  }

private:
  dnnl::matmul primitive;
  dnnl::memory memoryA, memoryB, memoryC, memoryBias;
  std::unordered_map<int, dnnl::memory> arguments;
};

/// Aᵀ·B of f32 with a long sum, as in the gradient of a weight. oneDNN's matmul primitive
/// transposes A into a buffer first; its BLAS entry packs while it reads. Measured on an EPYC with
/// AVX-512, oneDNN 2.6.3, one thread, GFLOP/s of matmul and of sgemm, for m x n x k:
///   512 x 128 x 4096:  101, 115    128 x 512 x 4096: 106, 115
///   384 x 128 x 4096:  106, 116    128 x 128 x 4096: 112, 117
/// Without the transpose the two are within 5 % of each other (4096 x 512 x 128: 111, 107), down to
/// n = 16 where the primitive wins (4096 x 16 x 128: 112, 81), so it stays the choice there.
class SgemmProduct : public PartProduct {
public:
  explicit SgemmProduct(const MatmulShape &shape) : s(shape) {}

  static bool suits(const MatmulShape &shape) {
    return shape.dtype == DType::F32 && shape.transposeA && !shape.bias && shape.batch == 1;
  }

  Result<void> run(const void *a, const void *b, void *c, const void *) override {
    dnnl_status_t status =
        dnnl_sgemm(s.transposeA ? 'T' : 'N', s.transposeB ? 'T' : 'N', s.m, s.n, s.k, 1.0f,
                   static_cast<const float *>(a), s.lda, static_cast<const float *>(b), s.ldb,
                   s.accumulate ? 1.0f : 0.0f, static_cast<float *>(c), s.ldc);
    if (status != dnnl_success)
      return Error{
          fmt::format("the matrix library failed in a {} x {} x {} product", s.m, s.n, s.k)};
    return {};
  }

private:
  MatmulShape s;
};

class EigenProduct : public PartProduct {
public:
  explicit EigenProduct(const MatmulShape &shape) : s(shape) {}

  Result<void> run(const void *a, const void *b, void *c, const void *bias) override {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Stride = Eigen::OuterStride<>;
    for (int64_t i = 0; i < s.batch; ++i) {
      Eigen::Map<const Matrix, 0, Stride> left(static_cast<const double *>(a) + i * s.batchStrideA,
                                               s.transposeA ? s.k : s.m, s.transposeA ? s.m : s.k,
                                               Stride(s.lda));
      Eigen::Map<const Matrix, 0, Stride> right(static_cast<const double *>(b) + i * s.batchStrideB,
                                                s.transposeB ? s.n : s.k, s.transposeB ? s.k : s.n,
                                                Stride(s.ldb));
      Eigen::Map<Matrix, 0, Stride> out(static_cast<double *>(c) + i * s.batchStrideC, s.m, s.n,
                                        Stride(s.ldc));
      if (!s.accumulate)
        out.setZero();
      if (s.transposeA && s.transposeB)
        out.noalias() += left.transpose() * right.transpose();
      else if (s.transposeA)
        out.noalias() += left.transpose() * right;
      else if (s.transposeB)
        out.noalias() += left * right.transpose();
      else
        out.noalias() += left * right;
      if (bias)
        out.rowwise() +=
            Eigen::Map<const Eigen::RowVectorXd>(static_cast<const double *>(bias), s.n);
    }
    return {};
  }

private:
  MatmulShape s;
};

std::unique_ptr<PartProduct> makeProduct(const MatmulShape &shape) {
  if (shape.dtype == DType::F64)
    return std::make_unique<EigenProduct>(shape);
  if (SgemmProduct::suits(shape))
    return std::make_unique<SgemmProduct>(shape);
  return std::make_unique<OneDnnProduct>(shape);
}

const std::byte *skip(const void *from, int64_t elements, DType type) {
  return static_cast<const std::byte *>(from) + elements * bytesOf(type);
}
/// Of C and the bias.
DType resultType(const MatmulShape &s) {
  return s.dtype == DType::BF16 && !s.roundsResult ? DType::F32 : s.dtype;
}
std::byte *skipInResult(void *c, int64_t elements, const MatmulShape &s) {
  return static_cast<std::byte *>(c) + elements * bytesOf(resultType(s));
}

/// A product whose parts are all known before it runs. A prepared product of the library holds the
/// places of its operands while it runs, so each thread has its own.
class PreparedMatmul : public Matmul {
public:
  PreparedMatmul(const MatmulShape &shape, const ProductParts &parts, int threads)
      : Matmul(parts.count()), s(shape), division(parts), products(static_cast<size_t>(threads)) {
    for (Products &own : products)
      for (int64_t part = 0; part < parts.count(); ++part)
        if (Place place = placeOf(part); !own[place.form])
          own[place.form] = makeProduct(shapeOf(place));
  }

  Result<void> run(int64_t part, int thread, const void *a, const void *b, void *c,
                   const void *bias) override {
    Place at = placeOf(part);
    const int64_t product = at.batch.first, row = at.rows.first, column = at.columns.first;
    return products[static_cast<size_t>(thread)][at.form]->run(
        skip(a, product * s.batchStrideA + row * (s.transposeA ? 1 : s.lda), s.dtype),
        skip(b, product * s.batchStrideB + column * (s.transposeB ? s.ldb : 1), s.dtype),
        skipInResult(c, product * s.batchStrideC + row * s.ldc + column, s),
        bias ? skip(bias, column, resultType(s)) : nullptr);
  }

private:
  struct Place {
    Stretch batch, rows, columns;
    size_t form; // which of the dimensions are the shorter last stretch
  };
  using Products = std::array<std::unique_ptr<PartProduct>, 8>;

  Place placeOf(int64_t part) const {
    const int64_t columns = division.columns.count(), rows = division.rows.count();
    Place place{division.batch[part / columns / rows], division.rows[part / columns % rows],
                division.columns[part % columns], 0};
    place.form = size_t(place.batch.size != division.batch.step) |
                 size_t(place.rows.size != division.rows.step) << 1 |
                 size_t(place.columns.size != division.columns.step) << 2;
    return place;
  }
  MatmulShape shapeOf(const Place &place) const {
    MatmulShape part = s;
    part.batch = place.batch.size, part.m = place.rows.size, part.n = place.columns.size;
    return part;
  }

  MatmulShape s;
  ProductParts division;
  std::vector<Products> products;
};

/// Products of groups of rows. Sizes differ from run to run, so nothing can be prepared: the BLAS
/// entries serve.
class GroupedMatmul : public Matmul {
public:
  GroupedMatmul(const MatmulShape &shape, const ProductParts &parts)
      : Matmul(shape.transposeA ? parts.batch.count() * parts.rows.count() : parts.rows.count()),
        s(shape), division(parts) {}

  Result<void> run(int64_t part, int, const void *a, const void *b, void *c,
                   const void *extra) override {
    const auto *offsets = static_cast<const int32_t *>(extra);
    return s.transposeA ? sumOfGroup(part, offsets, a, b, c) : someRows(part, offsets, a, b, c);
  }

private:
  /// C of one group, some of its rows: a sum over the group's rows of A and B.
  Result<void> sumOfGroup(int64_t part, const int32_t *offsets, const void *a, const void *b,
                          void *c) const {
    const int64_t group = part / division.rows.count();
    const Stretch rows = division.rows[part % division.rows.count()];
    int64_t first = 0, last = 0;
    for (int64_t each = 0; each <= group; ++each)
      first = last, last = endOfGroup(offsets, each, first, s.k);
    std::byte *out = skipInResult(c, group * s.batchStrideC + rows.first * s.ldc, s);
    if (first == last)
      return clear(out, rows.size);
    return multiply(rows.size, last - first, skip(a, first * s.lda + rows.first, s.dtype),
                    skip(b, first * s.ldb, s.dtype), out);
  }

  /// Some rows of C, each by the factor of the group that it is in; zeros behind the last group.
  Result<void> someRows(int64_t part, const int32_t *offsets, const void *a, const void *b,
                        void *c) const {
    const Stretch rows = division.rows[part];
    const int64_t end = rows.first + rows.size;
    auto out = [&](int64_t row) { return skipInResult(c, row * s.ldc, s); };
    int64_t first = 0;
    for (int64_t group = 0; group < s.batch; ++group) {
      const int64_t last = endOfGroup(offsets, group, first, s.m);
      const int64_t from = std::max(first, rows.first), to = std::min(last, end);
      if (from < to)
        if (auto done = multiply(to - from, s.k, skip(a, from * s.lda, s.dtype),
                                 skip(b, group * s.batchStrideB, s.dtype), out(from));
            !done)
          return done;
      first = last;
    }
    const int64_t from = std::max(first, rows.first);
    return from < end ? clear(out(from), end - from) : Result<void>();
  }

  /// Offsets are data: they may be anything, but lead nowhere outside.
  static int64_t endOfGroup(const int32_t *offsets, int64_t group, int64_t first, int64_t rows) {
    return std::clamp<int64_t>(offsets[group + 1], first, rows);
  }
  Result<void> multiply(int64_t m, int64_t k, const void *a, const void *b, void *c) const {
    MatmulShape product = s;
    product.batch = 1, product.m = m, product.k = k;
    if (s.dtype == DType::F64)
      return EigenProduct(product).run(a, b, c, nullptr);
    return SgemmProduct(product).run(a, b, c, nullptr);
  }
  Result<void> clear(std::byte *out, int64_t rows) const {
    const int64_t size = bytesOf(resultType(s));
    for (int64_t row = 0; row < rows; ++row)
      std::memset(out + row * s.ldc * size, 0, static_cast<size_t>(s.n * size));
    return {};
  }

  MatmulShape s;
  ProductParts division;
};

} // namespace

Result<void> Matmul::runWhole(int thread, const void *a, const void *b, void *c,
                              const void *extra) {
  for (int64_t part = 0; part < partCount; ++part)
    if (auto done = run(part, thread, a, b, c, extra); !done)
      return done;
  return {};
}

Result<std::unique_ptr<Matmul>> Matmul::create(const MatmulShape &shape, int threads, Use use) {
  const ProductParts parts =
      use == Use::Whole ? ProductParts::whole(shape) : ProductParts::of(shape);
  if (shape.grouped)
    return std::unique_ptr<Matmul>(new GroupedMatmul(shape, parts));
  OneThreadOfLibraries one; // the library plans for as many as it may use when it is asked
  try {
    return std::unique_ptr<Matmul>(new PreparedMatmul(shape, parts, threads));
  } catch (const std::exception &error) {
    return Error{fmt::format("the matrix library refuses a {} x {} x {} product: {}", shape.m,
                             shape.n, shape.k, error.what())};
  }
}

std::string matrixLibraryVersion() {
  const dnnl_version_t *version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

} // namespace hybrid::rt
