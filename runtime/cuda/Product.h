//===- Product.h - matrix products by cuBLASLt ------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/cuda/CublasLtApi.h"
#include "runtime/cuda/Gpu.h"
#include <array>
#include <memory>
#include <vector>

namespace hybrid::rt::cuda {

/// The library's handle and what all products share.
class Blas {
public:
  /// `mostOnes`: how many ones() will be asked for, as far as that is known.
  static Result<std::unique_ptr<Blas>> open(const Gpu &gpu, uint64_t mostOnes = 0);
  ~Blas();
  Blas(const Blas &) = delete;
  Blas &operator=(const Blas &) = delete;

  const CublasLtApi &api() const { return library; }
  LtHandle handle() const { return context; }
  const Gpu &gpu() const { return device; }
  /// Memory for the products of a branch, one at a time; those of another may run meanwhile.
  const GpuMemory &workspace(unsigned branch) const { return spaces[branch]; }
  /// Before products run on it. Branch 0 is ready.
  Result<void> prepare(unsigned branch);
  uint64_t allocatedBytes() const;
  Result<void> check(std::string_view call, LtStatus status) const;
  /// `count` times 1.0 (f64) on the device.
  Result<DeviceAddress> ones(int64_t count);

private:
  Blas(const Gpu &gpu, const CublasLtApi &library, uint64_t mostOnes)
      : device(gpu), library(library), mostOnes(mostOnes) {}
  const Gpu &device;
  const CublasLtApi &library;
  const uint64_t mostOnes;
  LtHandle context = nullptr;
  std::array<GpuMemory, mostBranches> spaces;
  std::vector<GpuMemory> vectorsOfOnes;
};

/// C[m, n] = A B (+ bias[n]) (+ addend), row-major, as fb::Matmul; bf16 operands give f32 results,
/// or with `roundsResult`, without an addend, bf16 ones; a bias is of the result's type, and added
/// to sums in f32.
struct ProductShape {
  int64_t m = 1, n = 1, k = 1, lda = 1, ldb = 1, ldc = 1;
  bool transposeA = false, transposeB = false;
  DType type = DType::F32;
  int64_t batch = 1, batchStrideA = 0, batchStrideB = 0, batchStrideC = 0;
  DeviceAddress bias = 0; // 0: none
  int64_t biasBatchStride = 0;
  // Powers of two that divide the addresses of the operands.
  uint32_t alignmentA = 4, alignmentB = 4, alignmentC = 4;
  // What it may be added to: C itself, unless ldAddend says how that lies elsewhere.
  int64_t ldAddend = 0, batchStrideAddend = 0;
  uint32_t alignmentAddend = 4;
  bool roundsResult = false;
};

/// A product whose algorithm has been chosen.
class Product {
public:
  static Result<std::unique_ptr<Product>> create(Blas &blas, const ProductShape &shape);
  ~Product();
  Product(const Product &) = delete;
  Product &operator=(const Product &) = delete;

  /// Appends it to the stream of a branch. An addend of 0: there is none. Another than C needs a
  /// shape that says how it lies, and must not overlap C.
  Result<void> run(DeviceAddress a, DeviceAddress b, DeviceAddress c, DeviceAddress addend,
                   unsigned branch = 0) const;

private:
  explicit Product(const Blas &blas) : blas(blas) {}
  Result<void> describe(const ProductShape &shape, bool epilogue);
  Result<void> chooseAlgorithm(const ProductShape &shape);

  const Blas &blas;
  bool wide = false; // f64
  LtProduct product = nullptr;
  // In the library's order; the addend's is its C, and C its D.
  LtLayout layoutA = nullptr, layoutB = nullptr, layoutAddend = nullptr, layoutC = nullptr;
  LtAlgorithm algorithm{};
  // The library adds no bias to f64 products: it is a product of its own, ones[m, 1] bias[1, n].
  std::unique_ptr<Product> biasProduct;
  DeviceAddress ones = 0, bias = 0;
};

} // namespace hybrid::rt::cuda
