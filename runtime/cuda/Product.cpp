//===- Product.cpp - matrix products by cuBLASLt ----------------------------===//
//
// The library's matrices are column-major, which a row-major matrix is when its transpose is meant:
// C^T = B^T A^T, so our B is its first operand and our A its second. A bias along our n then is
// along its rows, which is what its epilogue adds.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Product.h"
#include "executable/SessionMemory.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

//===-- the library ------------------------------------------------------------===//

Result<std::unique_ptr<Blas>> Blas::open(const Gpu &gpu, uint64_t mostOnes) {
  auto library = openCublasLt();
  if (!library)
    return library.error();
  std::unique_ptr<Blas> blas(new Blas(gpu, **library, mostOnes));
  if (auto done = blas->check("cublasLtCreate", blas->library.create(&blas->context)); !done)
    return done.error();
  if (auto done = blas->prepare(0); !done)
    return done.error();
  return blas;
}

Result<void> Blas::prepare(unsigned branch) {
  if (spaces[branch])
    return {};
  auto space = GpuMemory::allocate(device, matrixLibraryBytes);
  if (!space)
    return Error{fmt::format("no memory for the matrix library's {} MiB: {}",
                             matrixLibraryBytes >> 20, space.error().message)};
  spaces[branch] = std::move(*space);
  return {};
}

Blas::~Blas() {
  if (context)
    library.destroy(context);
}

uint64_t Blas::allocatedBytes() const {
  uint64_t bytes = 0;
  for (const GpuMemory &space : spaces)
    bytes += space.size();
  for (const GpuMemory &vector : vectorsOfOnes)
    bytes += vector.size();
  return bytes;
}

Result<void> Blas::check(std::string_view call, LtStatus status) const {
  if (status == 0)
    return {};
  return Error{cuda::describe(library, call, status)};
}

Result<DeviceAddress> Blas::ones(int64_t count) {
  const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(double);
  if (vectorsOfOnes.empty() || vectorsOfOnes.back().size() < bytes) {
    // Products hold the address of earlier ones.
    auto memory = GpuMemory::allocate(device, std::max(bytes, mostOnes * sizeof(double)));
    if (!memory)
      return memory.error();
    std::vector<double> values(memory->size() / sizeof(double), 1.0);
    if (auto done = device.copyIn(memory->address(), values.data(), memory->size()); !done)
      return done.error();
    if (auto done = device.synchronize(); !done)
      return done.error();
    vectorsOfOnes.push_back(std::move(*memory));
  }
  return vectorsOfOnes.back().address();
}

//===-- a product --------------------------------------------------------------===//

Result<std::unique_ptr<Product>> Product::create(Blas &blas, const ProductShape &shape) {
  std::unique_ptr<Product> created(new Product(blas));
  created->wide = shape.type == DType::F64;
  const bool epilogue = shape.bias && !created->wide;
  ProductShape own = shape;
  if (own.ldAddend == 0 || (shape.bias && !epilogue)) // the product with the bias takes the addend
    own.ldAddend = own.ldc, own.batchStrideAddend = own.batchStrideC,
    own.alignmentAddend = own.alignmentC;
  if (auto done = created->describe(own, epilogue); !done)
    return done.error();
  if (auto done = created->chooseAlgorithm(own); !done)
    return done.error();
  if (shape.bias && !epilogue) {
    auto ones = blas.ones(shape.m);
    if (!ones)
      return ones.error();
    ProductShape outer{shape.m, shape.n, 1, 1, shape.n, shape.ldc};
    outer.type = shape.type;
    outer.batch = shape.batch, outer.batchStrideC = shape.batchStrideC;
    outer.batchStrideB = shape.biasBatchStride;
    outer.alignmentA = outer.alignmentB = 8;
    outer.alignmentC = shape.alignmentC;
    outer.ldAddend = shape.ldAddend, outer.batchStrideAddend = shape.batchStrideAddend;
    outer.alignmentAddend = shape.alignmentAddend;
    auto product = create(blas, outer);
    if (!product)
      return product.error();
    created->biasProduct = std::move(*product);
    created->ones = *ones, created->bias = shape.bias;
  }
  return created;
}

Product::~Product() {
  const CublasLtApi &api = blas.api();
  for (LtLayout layout : {layoutA, layoutB, layoutAddend, layoutC})
    if (layout)
      api.layoutDestroy(layout);
  if (product)
    api.productDestroy(product);
}

Result<void> Product::describe(const ProductShape &shape, bool epilogue) {
  const CublasLtApi &api = blas.api();
  const int sumType = wide ? typeF64 : typeF32;
  const int factorType = shape.type == DType::BF16 ? typeBF16 : sumType;
  const int resultType = shape.roundsResult ? factorType : sumType;
  if (auto done = blas.check("cublasLtMatmulDescCreate",
                             api.productCreate(&product, wide ? computeF64 : computeF32, sumType));
      !done)
    return done;
  auto set = [&](int attribute, const auto &value) {
    return blas.check("cublasLtMatmulDescSetAttribute",
                      api.productSet(product, attribute, &value, sizeof(value)));
  };
  const int32_t first = shape.transposeB ? operationTranspose : operationNone,
                second = shape.transposeA ? operationTranspose : operationNone;
  if (auto done = set(productTransposeA, first); !done)
    return done;
  if (auto done = set(productTransposeB, second); !done)
    return done;
  if (epilogue) {
    if (auto done = set(productEpilogue, epilogueBias); !done)
      return done;
    if (auto done = set(productBiasPointer, shape.bias); !done)
      return done;
    if (shape.biasBatchStride)
      if (auto done = set(productBiasBatchStride, shape.biasBatchStride); !done)
        return done;
  }
  auto layout = [&](LtLayout &made, int type, int64_t rows, int64_t columns, int64_t stride,
                    int64_t batchStride) -> Result<void> {
    if (auto done = blas.check("cublasLtMatrixLayoutCreate",
                               api.layoutCreate(&made, type, static_cast<uint64_t>(rows),
                                                static_cast<uint64_t>(columns), stride));
        !done || shape.batch == 1)
      return done;
    const auto count = static_cast<int32_t>(shape.batch);
    if (auto done = blas.check("cublasLtMatrixLayoutSetAttribute",
                               api.layoutSet(made, layoutBatchCount, &count, sizeof(count)));
        !done)
      return done;
    return blas.check("cublasLtMatrixLayoutSetAttribute",
                      api.layoutSet(made, layoutBatchStride, &batchStride, sizeof(batchStride)));
  };
  // Our B as it lies in memory is its column-major transpose: n x k, or k x n when it is
  // transposed.
  if (auto done = layout(layoutA, factorType, shape.transposeB ? shape.k : shape.n,
                         shape.transposeB ? shape.n : shape.k, shape.ldb, shape.batchStrideB);
      !done)
    return done;
  if (auto done = layout(layoutB, factorType, shape.transposeA ? shape.m : shape.k,
                         shape.transposeA ? shape.k : shape.m, shape.lda, shape.batchStrideA);
      !done)
    return done;
  if (auto done = layout(layoutAddend, resultType, shape.n, shape.m, shape.ldAddend,
                         shape.batchStrideAddend);
      !done)
    return done;
  return layout(layoutC, resultType, shape.n, shape.m, shape.ldc, shape.batchStrideC);
}

Result<void> Product::chooseAlgorithm(const ProductShape &shape) {
  const CublasLtApi &api = blas.api();
  LtPreference preference = nullptr;
  if (auto done = blas.check("cublasLtMatmulPreferenceCreate", api.preferenceCreate(&preference));
      !done)
    return done;
  Result<void> outcome;
  auto set = [&](int attribute, const auto &value) {
    if (outcome)
      outcome = blas.check("cublasLtMatmulPreferenceSetAttribute",
                           api.preferenceSet(preference, attribute, &value, sizeof(value)));
  };
  set(preferenceWorkspace, static_cast<size_t>(matrixLibraryBytes));
  set(preferenceAlignmentA, shape.alignmentB);
  set(preferenceAlignmentB, shape.alignmentA);
  set(preferenceAlignmentC, shape.alignmentAddend);
  set(preferenceAlignmentD, shape.alignmentC);
  LtChoice choice{};
  int found = 0;
  if (outcome)
    outcome = blas.check("cublasLtMatmulAlgoGetHeuristic",
                         api.choose(blas.handle(), product, layoutA, layoutB, layoutAddend, layoutC,
                                    preference, 1, &choice, &found));
  api.preferenceDestroy(preference);
  if (outcome && (found == 0 || choice.state != 0))
    outcome = Error{"cublasLtMatmulAlgoGetHeuristic: the library knows no way to compute it"};
  if (!outcome)
    return Error{fmt::format("the {} product of {} x {} x {} (strides {}, {}, {}; batch {}): {}",
                             nameOf(shape.type), shape.m, shape.n, shape.k, shape.lda, shape.ldb,
                             shape.ldc, shape.batch, outcome.error().message)};
  algorithm = choice.algorithm;
  return {};
}

Result<void> Product::run(DeviceAddress a, DeviceAddress b, DeviceAddress c, DeviceAddress addend,
                          unsigned branch) const {
  if (biasProduct) {
    if (auto done = biasProduct->run(ones, bias, c, addend, branch); !done)
      return done;
    addend = c;
  }
  static constexpr float oneF = 1, zeroF = 0;
  static constexpr double one = 1, zero = 0;
  const void *alpha = wide ? static_cast<const void *>(&one) : &oneF;
  const void *beta =
      wide ? static_cast<const void *>(addend ? &one : &zero) : (addend ? &oneF : &zeroF);
  auto pointer = [](DeviceAddress address) { return reinterpret_cast<void *>(address); };
  const GpuMemory &workspace = blas.workspace(branch);
  return blas.check("cublasLtMatmul",
                    blas.api().run(blas.handle(), product, alpha, pointer(b), layoutA, pointer(a),
                                   layoutB, beta, pointer(addend ? addend : c), layoutAddend,
                                   pointer(c), layoutC, &algorithm, pointer(workspace.address()),
                                   workspace.size(), blas.gpu().streamOf(branch)));
}

} // namespace hybrid::rt::cuda
