//===- ProductTest.cpp - matrix products of the library, with the tests' driver -===//
#include "runtime/cuda/Product.h"
#include "runtime/cuda/Gpu.h"
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace hybrid;
using namespace hybrid::rt;

namespace {

struct ProductCase {
  bool transposeA, transposeB, bias;
  enum { Alone, InPlace, Apart } addend; // what it is added to
  DType type;
  bool roundsResult = false;
};

float asBf16(float value) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffff0000u);
}

double numberAt(const std::byte *place, DType type) {
  double wide = 0;
  float narrow = 0;
  uint16_t half = 0;
  switch (type) {
  case DType::F64:
    std::memcpy(&wide, place, sizeof(wide));
    return wide;
  case DType::BF16:
    std::memcpy(&half, place, sizeof(half));
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(half) << 16));
  default:
    std::memcpy(&narrow, place, sizeof(narrow));
    return static_cast<double>(narrow);
  }
}

/// Compares a strided, batched product with a plain loop.
void checkProduct(const ProductCase &test) {
  auto gpu = cuda::Gpu::open();
  ASSERT_TRUE(gpu) << gpu.error().message;
  auto blas = cuda::Blas::open(**gpu);
  ASSERT_TRUE(blas) << blas.error().message;
  constexpr int64_t m = 5, n = 7, k = 6, batch = 3;
  cuda::ProductShape shape{m, n, k};
  shape.transposeA = test.transposeA, shape.transposeB = test.transposeB;
  shape.lda = (test.transposeA ? m : k) + 1, shape.ldb = (test.transposeB ? k : n) + 2;
  shape.ldc = n + 3;
  shape.type = test.type, shape.batch = batch, shape.roundsResult = test.roundsResult;
  const int64_t rowsA = test.transposeA ? k : m, rowsB = test.transposeB ? n : k;
  shape.batchStrideA = rowsA * shape.lda, shape.batchStrideB = rowsB * shape.ldb;
  shape.batchStrideC = m * shape.ldc;
  auto number = [](int64_t i, int64_t of) {
    return asBf16(static_cast<float>((i * 37 + of) % 23) / 8);
  };
  // Values in the type's memory form.
  auto upload = [&](int64_t count, int64_t of, DType type, cuda::GpuMemory &memory) {
    std::vector<std::byte> bytes(static_cast<size_t>(count * bytesOf(type)));
    for (int64_t i = 0; i < count; ++i) {
      float value = number(i, of);
      double wide = value;
      uint16_t half = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
      const void *from = type == DType::F64    ? static_cast<const void *>(&wide)
                         : type == DType::BF16 ? static_cast<const void *>(&half)
                                               : &value;
      std::memcpy(bytes.data() + i * bytesOf(type), from, static_cast<size_t>(bytesOf(type)));
    }
    auto made = cuda::GpuMemory::allocate(**gpu, bytes.size());
    ASSERT_TRUE(made);
    memory = std::move(*made);
    ASSERT_TRUE((*gpu)->copyIn(memory.address(), bytes.data(), bytes.size()));
    ASSERT_TRUE((*gpu)->synchronize());
  };
  const DType sumType = test.type == DType::F64 ? DType::F64
                        : test.roundsResult     ? DType::BF16
                                                : DType::F32;
  cuda::GpuMemory a, b, c, bias;
  const int64_t sizeC = batch * shape.batchStrideC;
  upload(batch * shape.batchStrideA, 1, test.type, a);
  upload(batch * shape.batchStrideB, 2, test.type, b);
  upload(sizeC, 3, sumType, c);
  upload(n, 4, sumType, bias);
  if (test.bias)
    shape.bias = bias.address();
  cuda::GpuMemory apart;
  cuda::DeviceAddress addend = test.addend == ProductCase::InPlace ? c.address() : 0;
  if (test.addend == ProductCase::Apart) {
    shape.ldAddend = n + 1, shape.batchStrideAddend = (m + 1) * shape.ldAddend;
    upload(batch * shape.batchStrideAddend, 5, sumType, apart);
    addend = apart.address();
  }
  auto product = cuda::Product::create(**blas, shape);
  ASSERT_TRUE(product) << product.error().message;
  auto done = (*product)->run(a.address(), b.address(), c.address(), addend);
  ASSERT_TRUE(done) << done.error().message;
  std::vector<std::byte> result(static_cast<size_t>(sizeC * bytesOf(sumType)));
  ASSERT_TRUE((*gpu)->copyOut(result.data(), c.address(), result.size()));
  ASSERT_TRUE((*gpu)->synchronize());
  for (int64_t e = 0; e < batch; ++e)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < shape.ldc; ++j) {
        const int64_t at = e * shape.batchStrideC + i * shape.ldc + j;
        double expected = number(at, 3); // columns beyond n stay
        if (j < n) {
          if (test.addend == ProductCase::Apart)
            expected = number(e * shape.batchStrideAddend + i * shape.ldAddend + j, 5);
          else if (test.addend == ProductCase::Alone)
            expected = 0;
          expected += test.bias ? number(j, 4) : 0;
          for (int64_t l = 0; l < k; ++l) {
            int64_t left = test.transposeA ? l * shape.lda + i : i * shape.lda + l,
                    right = test.transposeB ? j * shape.ldb + l : l * shape.ldb + j;
            expected += static_cast<double>(number(e * shape.batchStrideA + left, 1)) *
                        number(e * shape.batchStrideB + right, 2);
          }
        }
        const double tolerance = sumType == DType::BF16 ? 0x1p-8 : 1e-5;
        EXPECT_NEAR(numberAt(result.data() + at * bytesOf(sumType), sumType), expected,
                    tolerance * std::max(1.0, std::abs(expected)))
            << e << " " << i << " " << j;
      }
}

TEST(CudaProduct, OfEveryForm) {
  setenv("HYBRID_CUDA_DRIVER", HYBRID_SHIM_DRIVER, 1);
  setenv("HYBRID_CUBLASLT", HYBRID_SHIM_DRIVER, 1);
  for (DType type : {DType::F32, DType::F64, DType::BF16})
    for (auto addend : {ProductCase::Alone, ProductCase::InPlace, ProductCase::Apart})
      for (int bits = 0; bits < 8; ++bits) {
        SCOPED_TRACE(std::string(nameOf(type)) + " form " + std::to_string(bits) + ", addend " +
                     std::to_string(addend));
        checkProduct({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, addend, type});
      }
}

TEST(CudaProduct, WhoseResultsAreRounded) {
  setenv("HYBRID_CUDA_DRIVER", HYBRID_SHIM_DRIVER, 1);
  setenv("HYBRID_CUBLASLT", HYBRID_SHIM_DRIVER, 1);
  for (int bits = 0; bits < 8; ++bits) { // a bias is bf16 then
    SCOPED_TRACE("form " + std::to_string(bits));
    checkProduct(
        {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, ProductCase::Alone, DType::BF16, true});
  }
}

} // namespace
