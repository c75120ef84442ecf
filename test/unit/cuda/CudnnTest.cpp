//===- CudnnTest.cpp - attention by cuDNN, on the tests' library ------------===//
#include "runtime/cuda/Attention.h"
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace hybrid;
using namespace hybrid::rt::cuda;

namespace {

uint16_t toBf16(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
}
float fromBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// [batch, rows, heads, size] in rows of `width` elements, of which it takes the first.
struct Tensor {
  int64_t batch, rows, heads, size, width;
  std::vector<float> values;

  Tensor(int64_t batch, int64_t rows, int64_t heads, int64_t size, int64_t spare)
      : batch(batch), rows(rows), heads(heads), size(size), width(heads * size + spare),
        values(static_cast<size_t>(batch * rows * width)) {}
  static Tensor random(int64_t batch, int64_t rows, int64_t heads, int64_t size, int64_t spare,
                       unsigned seed) {
    Tensor tensor(batch, rows, heads, size, spare);
    std::mt19937 engine(seed);
    std::normal_distribution<float> draw;
    for (float &value : tensor.values)
      value = fromBf16(toBf16(draw(engine)));
    return tensor;
  }
  float &at(int64_t b, int64_t row, int64_t head, int64_t column) {
    return values[static_cast<size_t>((b * rows + row) * width + head * size + column)];
  }
  AttentionStrides strides() const { return {rows * width, width, size}; }
};

struct Problem {
  int64_t batch, length, keyLength, heads, kvHeads, size;
  bool causal;
  int64_t spare = 0;
};

/// In f64, plainly.
struct Reference {
  Tensor o, dq, dk, dv;
  std::vector<double> lse;

  Reference(const Problem &p, float scale, Tensor &q, Tensor &k, Tensor &v, Tensor &dO)
      : o(p.batch, p.length, p.heads, p.size, 0), dq(o),
        dk(p.batch, p.keyLength, p.kvHeads, p.size, 0), dv(dk) {
    for (int64_t b = 0; b < p.batch; ++b)
      for (int64_t h = 0; h < p.heads; ++h)
        for (int64_t i = 0; i < p.length; ++i)
          row(p, scale, q, k, v, dO, b, h, i);
  }

private:
  void row(const Problem &p, float scale, Tensor &q, Tensor &k, Tensor &v, Tensor &dO, int64_t b,
           int64_t h, int64_t i) {
    const int64_t g = h / (p.heads / p.kvHeads), end = p.causal ? i + 1 : p.keyLength;
    std::vector<double> weight(static_cast<size_t>(end)), slope(weight.size());
    double largest = -std::numeric_limits<double>::infinity(), total = 0, delta = 0;
    for (int64_t j = 0; j < end; ++j) {
      for (int64_t c = 0; c < p.size; ++c)
        weight[j] += double(q.at(b, i, h, c)) * k.at(b, j, g, c);
      largest = std::max(largest, weight[j] *= scale);
    }
    for (double &each : weight)
      total += each = std::exp(each - largest);
    lse.push_back(largest + std::log(total));
    for (int64_t j = 0; j < end; ++j) {
      weight[j] /= total;
      for (int64_t c = 0; c < p.size; ++c) {
        o.at(b, i, h, c) += static_cast<float>(weight[j] * v.at(b, j, g, c));
        slope[j] += double(dO.at(b, i, h, c)) * v.at(b, j, g, c);
      }
      delta += weight[j] * slope[j];
    }
    for (int64_t j = 0; j < end; ++j) {
      const double ds = weight[j] * (slope[j] - delta) * scale;
      for (int64_t c = 0; c < p.size; ++c) {
        dq.at(b, i, h, c) += static_cast<float>(ds * k.at(b, j, g, c));
        dk.at(b, j, g, c) += static_cast<float>(ds * q.at(b, i, h, c));
        dv.at(b, j, g, c) += static_cast<float>(weight[j] * dO.at(b, i, h, c));
      }
    }
  }
};

class CudnnAttention : public testing::Test {
protected:
  void SetUp() override {
    setenv("HYBRID_CUDA_DRIVER", HYBRID_SHIM_DRIVER, 1);
    setenv("HYBRID_CUDNN", HYBRID_SHIM_DRIVER, 1);
    auto opened = Gpu::open();
    ASSERT_TRUE(opened) << opened.error().message;
    gpu = std::move(*opened);
    ASSERT_TRUE(gpu->enter());
    auto library = Cudnn::open(*gpu);
    ASSERT_TRUE(library) << library.error().message;
    cudnn = std::move(*library);
  }

  DeviceAddress allocate(uint64_t bytes) {
    auto made = GpuMemory::allocate(*gpu, bytes);
    EXPECT_TRUE(made);
    memory.push_back(std::move(*made));
    return memory.back().address();
  }
  DeviceAddress upload(const Tensor &tensor) {
    std::vector<uint16_t> bits;
    for (float value : tensor.values)
      bits.push_back(toBf16(value));
    DeviceAddress address = allocate(bits.size() * 2);
    EXPECT_TRUE(gpu->copyIn(address, bits.data(), bits.size() * 2));
    EXPECT_TRUE(gpu->synchronize());
    return address;
  }
  std::vector<uint16_t> download(DeviceAddress address, size_t count) {
    std::vector<uint16_t> bits(count);
    EXPECT_TRUE(gpu->copyOut(bits.data(), address, count * 2));
    EXPECT_TRUE(gpu->synchronize());
    return bits;
  }
  void expectClose(DeviceAddress address, Tensor like, Tensor &expected, const char *what) {
    std::vector<uint16_t> bits = download(address, like.values.size());
    for (size_t i = 0; i < bits.size(); ++i)
      like.values[i] = fromBf16(bits[i]);
    double worst = 0, largest = 0;
    for (int64_t b = 0; b < like.batch; ++b)
      for (int64_t row = 0; row < like.rows; ++row)
        for (int64_t head = 0; head < like.heads; ++head)
          for (int64_t c = 0; c < like.size; ++c) {
            const double wanted = expected.at(b, row, head, c), is = like.at(b, row, head, c);
            ASSERT_TRUE(std::isfinite(is)) << what;
            worst = std::max(worst, std::abs(wanted - is));
            largest = std::max(largest, std::abs(wanted));
          }
    EXPECT_LT(worst, 1e-2 * largest) << what;
  }

  /// Forward and backward, compared; parts that run is what `goal` makes of it.
  void check(const Problem &p, uint64_t goal = attentionWorkspaceGoal, size_t parts = 1) {
    const float scale = 1.0f / std::sqrt(static_cast<float>(p.size));
    auto ofQueries = [&](unsigned seed) {
      return Tensor::random(p.batch, p.length, p.heads, p.size, p.spare, seed);
    };
    auto ofKeys = [&](unsigned seed) {
      return Tensor::random(p.batch, p.keyLength, p.kvHeads, p.size, 2 * p.spare, seed);
    };
    Tensor q = ofQueries(1), k = ofKeys(2), v = ofKeys(3), dO = ofQueries(4);
    Reference reference(p, scale, q, k, v, dO);

    AttentionShape shape;
    shape.batch = p.batch, shape.length = p.length, shape.keyLength = p.keyLength;
    shape.heads = p.heads, shape.kvHeads = p.kvHeads, shape.headSize = p.size;
    shape.causal = p.causal, shape.scale = scale;
    shape.q = shape.o = shape.dO = shape.dq = q.strides();
    shape.k = shape.v = shape.dk = shape.dv = k.strides();
    AttentionOperands at;
    at.q = upload(q), at.k = upload(k), at.v = upload(v), at.dO = upload(dO);
    at.o = allocate(q.values.size() * 2), at.dq = allocate(q.values.size() * 2);
    at.dk = allocate(k.values.size() * 2), at.dv = allocate(k.values.size() * 2);
    at.lse = allocate(reference.lse.size() * 4), at.room = allocate(reference.lse.size() * 4);

    auto forward = Attention::create(*cudnn, shape, at, goal);
    ASSERT_TRUE(forward) << forward.error().message;
    ASSERT_TRUE((*forward)->run());
    expectClose(at.o, q, reference.o, "o");
    std::vector<float> lse(reference.lse.size());
    ASSERT_TRUE(gpu->copyOut(lse.data(), at.lse, lse.size() * 4));
    ASSERT_TRUE(gpu->synchronize());
    for (size_t i = 0; i < lse.size(); ++i)
      ASSERT_NEAR(lse[i], reference.lse[i], 1e-4) << "lse " << i;

    shape.backward = true;
    auto backward = Attention::create(*cudnn, shape, at, goal);
    ASSERT_TRUE(backward) << backward.error().message;
    EXPECT_EQ((*backward)->parts(), parts);
    ASSERT_TRUE((*backward)->run());
    expectClose(at.dq, q, reference.dq, "dq");
    expectClose(at.dk, k, reference.dk, "dk");
    expectClose(at.dv, k, reference.dv, "dv");
  }

  std::unique_ptr<Gpu> gpu;
  std::unique_ptr<Cudnn> cudnn;
  std::vector<GpuMemory> memory;
};

TEST_F(CudnnAttention, AgreesWithAPlainComputation) {
  check({.batch = 2,
         .length = 37,
         .keyLength = 37,
         .heads = 2,
         .kvHeads = 2,
         .size = 64,
         .causal = true});
  check({.batch = 1,
         .length = 20,
         .keyLength = 33,
         .heads = 3,
         .kvHeads = 3,
         .size = 24,
         .causal = false});
}

TEST_F(CudnnAttention, HeadsShareKeys) {
  check({.batch = 2,
         .length = 19,
         .keyLength = 19,
         .heads = 6,
         .kvHeads = 2,
         .size = 16,
         .causal = true});
  check({.batch = 1,
         .length = 9,
         .keyLength = 30,
         .heads = 4,
         .kvHeads = 1,
         .size = 8,
         .causal = false});
}

TEST_F(CudnnAttention, TensorsLieInWiderRows) {
  check({.batch = 2,
         .length = 21,
         .keyLength = 21,
         .heads = 2,
         .kvHeads = 1,
         .size = 16,
         .causal = true,
         .spare = 24});
}

TEST_F(CudnnAttention, RunsInPartsWhereTheWorkspaceWouldBeLarge) {
  Problem problem{.batch = 4,
                  .length = 30,
                  .keyLength = 30,
                  .heads = 6,
                  .kvHeads = 3,
                  .size = 8,
                  .causal = true,
                  .spare = 8};
  auto bytes = [](uint64_t heads) { return attentionWorkspace(true, heads, 30, 30, 8, true); };
  check(problem, bytes(24), 1);
  check(problem, bytes(24) - 1, 2);
  check(problem, bytes(6), 4);
  check(problem, bytes(5), 12); // a head of keys at a time
  check(problem, 1, 12);        // no smaller parts
}

TEST_F(CudnnAttention, RunsAsAPartOfAGraph) {
  Tensor x = Tensor::random(1, 16, 1, 8, 0, 1);
  AttentionShape shape;
  shape.length = shape.keyLength = 16, shape.headSize = 8, shape.causal = true;
  shape.q = shape.k = shape.v = shape.o = x.strides();
  AttentionOperands at;
  at.q = at.k = at.v = upload(x), at.o = allocate(x.values.size() * 2), at.lse = allocate(64);
  auto attention = Attention::create(*cudnn, shape, at);
  ASSERT_TRUE(attention) << attention.error().message;
  const DriverApi &driver = gpu->driver();
  Graph graph = nullptr;
  GraphExec executable = nullptr;
  ASSERT_EQ(driver.captureBegin(gpu->stream(), captureThreadLocal), success);
  ASSERT_TRUE((*attention)->run());
  ASSERT_EQ(driver.captureEnd(gpu->stream(), &graph), success);
  ASSERT_EQ(driver.graphInstantiate(&executable, graph, 0), success);
  EXPECT_EQ(download(at.o, 1)[0], 0xffff) << "only captured";
  ASSERT_EQ(driver.graphLaunch(executable, gpu->stream()), success);
  const std::vector<uint16_t> replayed = download(at.o, x.values.size());
  EXPECT_EQ(replayed[0], toBf16(x.values[0])) << "the first query sees the first value only";
  ASSERT_TRUE((*attention)->run());
  EXPECT_EQ(download(at.o, x.values.size()), replayed);
  EXPECT_EQ(driver.graphExecDestroy(executable), success);
  EXPECT_EQ(driver.graphDestroy(graph), success);
}

TEST_F(CudnnAttention, LayersThatAreAlikeShareAPlan) {
  AttentionShape shape;
  shape.length = shape.keyLength = 16, shape.headSize = 8;
  shape.q = shape.k = shape.v = shape.o = {128, 8, 8};
  auto first = cudnn->plan(shape), again = cudnn->plan(shape);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(*first, *again);
  shape.causal = true;
  auto other = cudnn->plan(shape);
  ASSERT_TRUE(other);
  EXPECT_NE(*first, *other);
}

TEST_F(CudnnAttention, SaysWhatTheLibraryHasAgainstIt) {
  AttentionShape shape;
  shape.heads = 3, shape.kvHeads = 2;
  auto refused = Attention::create(*cudnn, shape, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("cuDNN 9.19.0 does not compute it: cudnnBackendFinalize: "
                                         "CUDNN_STATUS_BAD_PARAM (a product of"),
            std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("--attention=own"), std::string::npos);
}

//===-- the tests' library is strict -----------------------------------------------===//

TEST_F(CudnnAttention, DescriptorsTakeWhatTheyHave) {
  const CudnnApi &api = cudnn->api();
  constexpr int notSupported = 3000, badParameter = 2000;
  DnnDescriptor tensor = nullptr;
  EXPECT_EQ(api.descriptorCreate(99, &tensor), notSupported);
  ASSERT_EQ(api.descriptorCreate(dnn::kindTensor, &tensor), success);
  const int64_t sizes[] = {1, 1, 2, 8}, strides[] = {16, 16, 8, 1}, one = 1;
  auto set = [&](int attribute, int type, int64_t count, const void *values) {
    return api.descriptorSet(tensor, attribute, type, count, values);
  };
  EXPECT_EQ(set(dnn::matmulPrecision, dnn::typeDataType, 1, &dnn::f32), notSupported);
  EXPECT_EQ(set(dnn::tensorSizes, dnn::typeInt64, 3, sizes), badParameter);
  EXPECT_EQ(set(dnn::tensorSizes, dnn::typeDataType, 4, sizes), badParameter);
  EXPECT_EQ(set(dnn::tensorSizes, dnn::typeInt64, 4, sizes), success);
  EXPECT_EQ(set(dnn::tensorStrides, dnn::typeInt64, 4, strides), success);
  EXPECT_EQ(set(dnn::tensorType, dnn::typeDataType, 1, &dnn::bf16), success);
  EXPECT_EQ(set(dnn::tensorName, dnn::typeInt64, 1, &one), success);
  EXPECT_EQ(api.descriptorFinalize(tensor), badParameter) << "its alignment is missing";
  EXPECT_EQ(set(dnn::tensorAlignment, dnn::typeInt64, 1, &one), success);
  DnnDescriptor operation = nullptr;
  ASSERT_EQ(api.descriptorCreate(dnn::kindReshapeOperation, &operation), success);
  for (int attribute : {dnn::reshapeOperationX, dnn::reshapeOperationY})
    EXPECT_EQ(api.descriptorSet(operation, attribute, dnn::typeDescriptor, 1, &tensor), success);
  EXPECT_EQ(api.descriptorFinalize(operation), badParameter) << "its tensor is not finished";
  EXPECT_EQ(api.descriptorFinalize(tensor), success);
  EXPECT_EQ(api.descriptorFinalize(operation), success);
  EXPECT_EQ(api.descriptorFinalize(tensor), badParameter) << "twice";
  EXPECT_EQ(set(dnn::tensorName, dnn::typeInt64, 1, &one), badParameter) << "finished";
  EXPECT_EQ(api.descriptorDestroy(operation), success);
  EXPECT_EQ(api.descriptorDestroy(tensor), success);
  EXPECT_EQ(api.descriptorDestroy(tensor), badParameter);
}

TEST_F(CudnnAttention, PlansWantTheirTensorsInMemory) {
  Tensor x = Tensor::random(1, 16, 1, 8, 0, 1);
  AttentionShape shape;
  shape.length = shape.keyLength = 16, shape.headSize = 8;
  shape.q = shape.k = shape.v = shape.o = x.strides();
  auto plan = AttentionPlan::create(cudnn->api(), {cudnn->handle(), nullptr}, shape);
  ASSERT_TRUE(plan) << plan.error().message;
  AttentionOperands at;
  at.q = at.k = at.v = upload(x), at.o = allocate(x.values.size() * 2), at.lse = allocate(64);
  const DeviceAddress workspace = allocate((*plan)->workspaceBytes());
  auto outcome = [&](const AttentionOperands &operands) -> std::string {
    auto bound = (*plan)->bind(operands, workspace);
    if (!bound)
      return bound.error().message;
    auto done = (*plan)->run(cudnn->handle(), *bound);
    return done ? "runs" : done.error().message;
  };
  EXPECT_EQ(outcome(at), "runs");
  AttentionOperands other = at;
  other.q = at.q + 2;
  EXPECT_NE(outcome(other).find("tensor 1 is not aligned"), std::string::npos);
  other.q = reinterpret_cast<uint64_t>(x.values.data());
  EXPECT_NE(outcome(other).find("does not lie in the device's memory"), std::string::npos);
  other = at, other.v = at.v + 128;
  EXPECT_NE(outcome(other).find("leaves the device's memory"), std::string::npos);
}

TEST(CudnnLibrary, SaysWhatToDoWithoutIt) {
  setenv("HYBRID_CUDNN", "/nonexistent/libcudnn.so.9", 1);
  auto library = openCudnn();
  ASSERT_FALSE(library);
  EXPECT_NE(library.error().message.find("/nonexistent/libcudnn.so.9"), std::string::npos);
}

} // namespace
