//===- Matmul.cpp - matrix products of the library ----------------------------===//
//
// The only file of the runtime built with exceptions: oneDNN's C++ interface throws, and nothing
// thrown leaves this file.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Matmul.h"
#include <Eigen/Core>
#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <fmt/format.h>
#include <unordered_map>

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

class OneDnnMatmul : public Matmul {
public:
  explicit OneDnnMatmul(const MatmulShape &s) {
    using dim = dnnl::memory::dim;
    bool batched = s.batch > 1;
    using Type = dnnl::memory::data_type;
    Type factor = s.dtype == DType::BF16 ? Type::bf16 : Type::f32;
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
         c = descriptor(Type::f32, s.m, s.n, s.ldc, false, s.batchStrideC);
    dnnl::primitive_attr attributes;
    if (s.accumulate) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attributes.set_post_ops(sum);
    }
    auto bias = batched
                    ? dnnl::memory::desc({1, 1, s.n}, Type::f32, dnnl::memory::dims{s.n, s.n, 1})
                    : dnnl::memory::desc({1, s.n}, Type::f32, dnnl::memory::dims{s.n, 1});
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
/// transposes A into a buffer first; its BLAS entry packs while it reads and splits the sum over
/// threads. Measured on an EPYC with AVX-512, oneDNN 2.6.3, GFLOP/s of matmul and of sgemm, for m x
/// n x k:
///   512 x 128 x 4096:  101, 115 (1 thread), 179, 217 (2)    128 x 512 x 4096: 106, 115
///   384 x 128 x 4096:  106, 116             202, 217        128 x 128 x 4096: 112, 117
/// Without the transpose the two are within 5 % of each other (4096 x 512 x 128: 111, 107), down to
/// n = 16 where the primitive wins (4096 x 16 x 128: 112, 81), so it stays the choice there.
class SgemmMatmul : public Matmul {
public:
  explicit SgemmMatmul(const MatmulShape &shape) : s(shape) {}

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

class EigenMatmul : public Matmul {
public:
  explicit EigenMatmul(const MatmulShape &shape) : s(shape) {}

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

/// Products of groups of rows. Sizes differ from run to run, so nothing can be prepared: the BLAS
/// entries serve.
class GroupedMatmul : public Matmul {
public:
  explicit GroupedMatmul(const MatmulShape &shape) : s(shape) {}

  Result<void> run(const void *a, const void *b, void *c, const void *extra) override {
    const auto *offsets = static_cast<const int32_t *>(extra);
    const int64_t rows = s.transposeA ? s.k : s.m, size = bytesOf(s.dtype);
    auto at = [&](const void *from, int64_t elements) {
      return static_cast<const std::byte *>(from) + elements * size;
    };
    int64_t first = 0;
    for (int64_t group = 0; group < s.batch; ++group) {
      // Offsets are data: they may be anything, but lead nowhere outside.
      int64_t last = std::clamp<int64_t>(offsets[group + 1], first, rows);
      MatmulShape product = s;
      product.batch = 1;
      (s.transposeA ? product.k : product.m) = last - first;
      const std::byte *left = at(a, first * s.lda);
      const std::byte *right = at(b, s.transposeA ? first * s.ldb : group * s.batchStrideB);
      auto *out =
          const_cast<std::byte *>(at(c, s.transposeA ? group * s.batchStrideC : first * s.ldc));
      if (last > first) {
        if (auto done = multiply(product, left, right, out); !done)
          return done;
      } else if (s.transposeA) {
        clear(out, s.m);
      }
      first = last;
    }
    if (!s.transposeA)
      clear(const_cast<std::byte *>(at(c, first * s.ldc)), rows - first);
    return {};
  }

private:
  Result<void> multiply(const MatmulShape &product, const void *a, const void *b, void *c) const {
    if (s.dtype == DType::F64)
      return EigenMatmul(product).run(a, b, c, nullptr);
    return SgemmMatmul(product).run(a, b, c, nullptr);
  }
  void clear(std::byte *out, int64_t rows) const {
    const auto size = static_cast<int64_t>(bytesOf(s.dtype));
    for (int64_t row = 0; row < rows; ++row)
      std::memset(out + row * s.ldc * size, 0, static_cast<size_t>(s.n * size));
  }

  MatmulShape s;
};

} // namespace

Result<std::unique_ptr<Matmul>> Matmul::create(const MatmulShape &shape) {
  if (shape.grouped)
    return std::unique_ptr<Matmul>(new GroupedMatmul(shape));
  if (shape.dtype == DType::F64)
    return std::unique_ptr<Matmul>(new EigenMatmul(shape));
  if (SgemmMatmul::suits(shape))
    return std::unique_ptr<Matmul>(new SgemmMatmul(shape));
  try {
    return std::unique_ptr<Matmul>(new OneDnnMatmul(shape));
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
