//===- TrainingTest.cpp - embedding, loss, optimizer and random numbers ---===//
#include "KernelTest.h"
#include "codegen/kernels/AdamW.h"
#include "codegen/kernels/CrossEntropy.h"
#include "codegen/kernels/Embedding.h"
#include "codegen/kernels/Random.h"
#include "codegen/kernels/TargetWeight.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

namespace kernels { // because the C library has a random() too
HYBRID_DECLARE_KERNEL(embedding_forward, EmbeddingParams)
HYBRID_DECLARE_KERNEL(embedding_backward, EmbeddingGradParams)
HYBRID_DECLARE_KERNEL(cross_entropy_forward, CrossEntropyParams)
HYBRID_DECLARE_KERNEL(cross_entropy_finish, CrossEntropyParams)
HYBRID_DECLARE_KERNEL(target_weight, TargetWeightParams)
HYBRID_DECLARE_KERNEL(cross_entropy_backward, CrossEntropyParams)
HYBRID_DECLARE_KERNEL(squared_norm, AdamWParams)
HYBRID_DECLARE_KERNEL(gradient_norm, AdamWParams)
HYBRID_DECLARE_KERNEL(adamw, AdamWParams)
HYBRID_DECLARE_KERNEL(random, RandomParams)
} // namespace kernels
using namespace kernels;

namespace {

template <typename T> struct Training : testing::Test {};
TYPED_TEST_SUITE(Training, Scalars);

TYPED_TEST(Training, EmbeddingGathersAndScatters) {
  using T = TypeParam;
  for (int64_t columns : {1, 8, 17, 48, 128}) {
    EmbeddingParams p{50, columns, 11, columns + 2, 0};
    Doubles table = randomDoubles(p.classes * columns, 1), dy = randomDoubles(p.rows * columns, 2);
    std::vector<int32_t> ids;
    for (int64_t r = 0; r < p.rows; ++r)
      ids.push_back(static_cast<int32_t>(r * r % 11));
    ids[7] = -1, ids[9] = 11, ids[11] = INT32_MIN;
    Tensor<T> weights(table, p.classes, columns), y(p.rows, columns, p.yStride), y2 = y;
    callWhole<EmbeddingParams>(embedding_forward<T>, p.rows, {weights.data(), ids.data(), y.data()},
                               p);
    callInPieces<EmbeddingParams>(embedding_forward<T>, p.rows,
                                  {weights.data(), ids.data(), y2.data()}, p);
    EXPECT_TRUE(y.sameBits(y2) && y.guardsIntact());
    Doubles expected(table.size(), 0);
    for (int64_t r = 0; r < p.rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        int32_t id = ids[static_cast<size_t>(r)];
        if (id < 0 || id >= 11) {
          EXPECT_TRUE(std::isnan(y.at(r, c)));
          continue;
        }
        EXPECT_EQ(y.at(r, c), weights.at(id, c));
        expected[static_cast<size_t>(id * columns + c)] += dy[static_cast<size_t>(r * columns + c)];
      }
    Tensor<T> cotangent(dy, p.rows, columns, p.yStride), dTable(p.classes, columns), d2 = dTable;
    const EmbeddingGradParams back{p.rows, columns, p.classes, p.yStride, p.rows};
    int64_t grid = itemsOf<EmbeddingBackward, T>(back);
    callWhole<EmbeddingGradParams>(embedding_backward<T>, grid,
                                   {ids.data(), cotangent.data(), dTable.data()}, back);
    callInPieces<EmbeddingGradParams>(embedding_backward<T>, grid,
                                      {ids.data(), cotangent.data(), d2.data()}, back);
    EXPECT_TRUE(dTable.sameBits(d2) && dTable.guardsIntact());
    EXPECT_LT(relativeError(dTable.values(), expected), tolerance<T>(1e-6));
  }
}

/// Runs all kernels of the loss.
template <typename T> struct Loss {
  double loss, weight, correct;
  Doubles dLogits;

  Loss(const CrossEntropyParams &p, const Doubles &logits, std::vector<int32_t> targets,
       const Doubles &weights, double dLoss) {
    int64_t grid = ceilDiv(p.rows, p.rowsPerItem);
    Tensor<T> x(logits, p.rows, p.classes, p.logitsStride), w(weights, 1, p.rows);
    Tensor<T> partial(grid, 3), partial2 = partial, results(1, 3), cotangent(Doubles{dLoss}, 1, 1);
    void *optional = p.hasWeights ? w.data() : nullptr;
    callWhole<CrossEntropyParams>(cross_entropy_forward<T>, grid,
                                  {x.data(), targets.data(), optional, partial.data()}, p);
    callInPieces<CrossEntropyParams>(cross_entropy_forward<T>, grid,
                                     {x.data(), targets.data(), optional, partial2.data()}, p);
    EXPECT_TRUE(partial.sameBits(partial2) && partial.guardsIntact());
    T *out = results.data();
    callWhole<CrossEntropyParams>(cross_entropy_finish<T>, 1,
                                  {partial.data(), out, out + 1, out + 2}, p);
    loss = static_cast<double>(out[0]), weight = static_cast<double>(out[1]);
    correct = static_cast<double>(out[2]);
    // The same total from the targets alone.
    T total = 0;
    callWhole<TargetWeightParams>(target_weight<T>, 1, {targets.data(), optional, &total},
                                  {p.rows, p.ignoreIndex, p.hasWeights});
    EXPECT_NEAR(static_cast<double>(total), weight, 1e-6 * weight);
    Tensor<T> dx(p.rows, p.classes, p.dLogitsStride), dx2 = dx;
    callWhole<CrossEntropyParams>(
        cross_entropy_backward<T>, p.rows,
        {x.data(), targets.data(), optional, &total, cotangent.data(), dx.data()}, p);
    callInPieces<CrossEntropyParams>(
        cross_entropy_backward<T>, p.rows,
        {x.data(), targets.data(), optional, &total, cotangent.data(), dx2.data()}, p);
    EXPECT_TRUE(dx.sameBits(dx2) && dx.guardsIntact());
    dLogits = dx.values();
  }
};

CrossEntropyParams lossParams(int64_t rows, int64_t classes) {
  CrossEntropyParams p{};
  p.rows = rows, p.classes = classes, p.logitsStride = classes + 3, p.dLogitsStride = classes + 1;
  p.rowsPerItem = 7, p.ignoreIndex = -100;
  return p;
}

TYPED_TEST(Training, CrossEntropyAgreesWithFormula) {
  using T = TypeParam;
  for (int64_t classes : {1, 2, 16, 17, 100, 50257})
    for (int variant = 0; variant < 4; ++variant) {
      CrossEntropyParams p = lossParams(classes > 1000 ? 5 : 40, classes);
      p.hasWeights = variant & 1, p.labelSmoothing = variant & 2 ? 0.1 : 0;
      Doubles logits = randomDoubles(p.rows * classes, 1, 5), weights = randomDoubles(p.rows, 2);
      std::vector<int32_t> targets;
      for (int64_t r = 0; r < p.rows; ++r) {
        weights[static_cast<size_t>(r)] = std::fabs(weights[static_cast<size_t>(r)]);
        targets.push_back(r % 5 == 3 ? -100 : static_cast<int32_t>(r * 7919 % classes));
        if (r % 3 == 0) // make some of them right
          logits[static_cast<size_t>(r * classes + r * 7919 % classes)] += 40;
      }
      double sum = 0, total = 0, correct = 0;
      Doubles gradient(logits.size(), 0);
      for (int64_t r = 0; r < p.rows; ++r) {
        int32_t target = targets[static_cast<size_t>(r)];
        const double *row = logits.data() + r * classes;
        if (target < 0)
          continue;
        double top = *std::max_element(row, row + classes), exponentials = 0, loss = 0;
        for (int64_t c = 0; c < classes; ++c)
          exponentials += std::exp(row[c] - top);
        double weight = p.hasWeights ? weights[static_cast<size_t>(r)] : 1;
        for (int64_t c = 0; c < classes; ++c) {
          double wanted = p.labelSmoothing / static_cast<double>(classes) +
                          (c == target ? 1 - p.labelSmoothing : 0);
          loss += wanted * (top + std::log(exponentials) - row[c]);
          gradient[static_cast<size_t>(r * classes + c)] =
              weight * (std::exp(row[c] - top) / exponentials - wanted);
        }
        sum += weight * loss, total += weight;
        correct += std::max_element(row, row + classes) - row == target ? weight : 0;
      }
      for (double &g : gradient)
        g *= 1.5 / total;
      Loss<T> actual(p, logits, targets, weights, 1.5);
      EXPECT_NEAR(actual.loss, sum / total, tolerance<T>(2e-6) * (1 + sum / total)) << classes;
      EXPECT_NEAR(actual.weight, total, tolerance<T>(2e-6) * total);
      EXPECT_NEAR(actual.correct, correct, tolerance<T>(2e-6) * total);
      EXPECT_LT(relativeError(actual.dLogits, gradient), tolerance<T>(2e-6)) << classes;
    }
}

TYPED_TEST(Training, CrossEntropyHandlesBadTargets) {
  using T = TypeParam;
  CrossEntropyParams p = lossParams(4, 5);
  Doubles logits(20, 0.25), weights(4, 1);
  logits[0] = NAN; // on an ignored row
  Loss<T> ignored(p, logits, {-100, -100, -100, -100}, weights, 1);
  EXPECT_EQ(ignored.loss, 0);
  EXPECT_EQ(ignored.weight, 0);
  EXPECT_EQ(ignored.dLogits, Doubles(20, 0));
  // Equal logits: only the first class counts as predicted.
  Loss<T> ties(p, logits, {-100, 0, 1, 4}, weights, 1);
  EXPECT_EQ(ties.correct, 1);
  EXPECT_NEAR(ties.loss, std::log(5.0), 1e-6);
  for (int32_t bad : {-1, 5, INT32_MAX}) {
    Loss<T> wrong(p, logits, {-100, 0, bad, 4}, weights, 1);
    EXPECT_TRUE(std::isnan(wrong.loss));
  }
}

// A table that was changed: its stretch is not read, the norm says so, and nothing is updated.
TYPED_TEST(Training, StretchesOutsideOfTheSpaceAreNotTouched) {
  using T = TypeParam;
  const int64_t elements = 64;
  constexpr int64_t far = int64_t{1} << 40;
  for (ParameterChunk wrong : {ParameterChunk{far, 8, 1, 1},
                               {-1, 8, 1, 1},
                               {60, 5, 1, 1},
                               {0, -8, 1, 1},
                               {8, INT64_MAX, 1, 1}}) {
    std::vector<ParameterChunk> chunks{{0, 8, 1, 1}, wrong};
    const AdamWParams p{2, elements};
    Tensor<T> parameters(randomDoubles(elements, 1), 1, elements);
    Tensor<T> gradients(randomDoubles(elements, 4), 1, elements);
    Tensor<T> moment1(1, elements), moment2(1, elements), norm(1, 1);
    Tensor<double> partial(1, p.chunks);
    Doubles hyper{1e-2, 0.1, 0.9, 0.95, 1e-8, 0, 0.1, 0.05};
    callInPieces<AdamWParams>(squared_norm<T>, p.chunks,
                              {chunks.data(), gradients.data(), partial.data()}, p);
    callWhole<AdamWParams>(gradient_norm<T>, 1, {partial.data(), norm.data()}, p);
    EXPECT_TRUE(std::isnan(norm.values()[0]));
    const Doubles before = parameters.values();
    callInPieces<AdamWParams>(adamw<T>, p.chunks,
                              {chunks.data(), hyper.data(), norm.data(), parameters.data(),
                               gradients.data(), moment1.data(), moment2.data()},
                              p);
    EXPECT_EQ(parameters.values(), before);
  }
}

TYPED_TEST(Training, AdamWAgreesWithFormula) {
  using T = TypeParam;
  const int64_t elements = 1000;
  std::vector<ParameterChunk> chunks{
      {0, 1, 1, 1}, {1, 16, 0, 0.5}, {17, 83, 1, 2}, {104, 640, 0, 1}, {744, 256, 1, 0}};
  AdamWParams p{static_cast<int64_t>(chunks.size()), elements};
  for (double clip : {0.0, 0.5, 1e9}) {
    Doubles w = randomDoubles(elements, 1), m = randomDoubles(elements, 2, 0.1);
    Doubles v = randomDoubles(elements, 3, 0.01), g = randomDoubles(elements, 4);
    for (double &x : v)
      x = std::fabs(x);
    Doubles hyper{1e-2, 0.1, 0.9, 0.95, 1e-8, clip, 1 - std::pow(0.9, 3), 1 - std::pow(0.95, 3)};
    Tensor<T> parameters(w, 1, elements), gradients(g, 1, elements), moment1(m, 1, elements);
    Tensor<T> moment2(v, 1, elements), norm(1, 1);
    Tensor<double> partial(1, p.chunks);
    callInPieces<AdamWParams>(squared_norm<T>, p.chunks,
                              {chunks.data(), gradients.data(), partial.data()}, p);
    callWhole<AdamWParams>(gradient_norm<T>, 1, {partial.data(), norm.data()}, p);
    double squares = 0;
    for (const ParameterChunk &chunk : chunks)
      for (int64_t i = chunk.offset; i < chunk.offset + chunk.count; ++i)
        squares += g[static_cast<size_t>(i)] * g[static_cast<size_t>(i)];
    EXPECT_NEAR(norm.values()[0], std::sqrt(squares), tolerance<T>(1e-7) * std::sqrt(squares));
    double factor = clip > 0 ? std::fmin(1, clip / (std::sqrt(squares) + 1e-6)) : 1;
    for (const ParameterChunk &chunk : chunks)
      for (int64_t k = chunk.offset; k < chunk.offset + chunk.count; ++k) {
        auto i = static_cast<size_t>(k);
        double lr = hyper[0] * chunk.lrScale, gradient = g[i] * factor;
        w[i] *= 1 - lr * hyper[1] * chunk.decay;
        m[i] = hyper[2] * m[i] + (1 - hyper[2]) * gradient;
        v[i] = hyper[3] * v[i] + (1 - hyper[3]) * gradient * gradient;
        w[i] -= lr * (m[i] / hyper[6]) / (std::sqrt(v[i] / hyper[7]) + hyper[4]);
      }
    callInPieces<AdamWParams>(adamw<T>, p.chunks,
                              {chunks.data(), hyper.data(), norm.data(), parameters.data(),
                               gradients.data(), moment1.data(), moment2.data()},
                              p);
    // The elements between chunks (100 to 103) keep their values.
    EXPECT_LT(relativeError(parameters.values(), w), tolerance<T>(1e-6));
    EXPECT_LT(relativeError(moment1.values(), m), tolerance<T>(1e-6));
    EXPECT_LT(relativeError(moment2.values(), v), tolerance<T>(1e-6));
    EXPECT_TRUE(parameters.guardsIntact() && moment1.guardsIntact() && moment2.guardsIntact());
    // A gradient that is no number changes nothing.
    for (double bad : {double(NAN), double(INFINITY)}) {
      Doubles before = parameters.values(), moments = moment1.values();
      norm.data()[0] = static_cast<T>(bad);
      callWhole<AdamWParams>(adamw<T>, p.chunks,
                             {chunks.data(), hyper.data(), norm.data(), parameters.data(),
                              gradients.data(), moment1.data(), moment2.data()},
                             p);
      EXPECT_EQ(parameters.values(), before);
      EXPECT_EQ(moment1.values(), moments);
    }
  }
}

template <typename T>
Doubles draw(int64_t elements, int64_t stream, int64_t distribution, double a, double b,
             int32_t seed = 5) {
  RandomParams p{elements, stream, distribution, a, b};
  int32_t key[2] = {seed, 0};
  Tensor<T> out(1, elements), again = out;
  int64_t grid = ceilDiv(elements, 1024);
  callWhole<RandomParams>(kernels::random<T>, grid, {key, out.data()}, p);
  callInPieces<RandomParams>(kernels::random<T>, grid, {key, again.data()}, p);
  EXPECT_TRUE(out.sameBits(again) && out.guardsIntact());
  return out.values();
}

TYPED_TEST(Training, RandomNumbersHaveTheirMoments) {
  using T = TypeParam;
  const int64_t count = 1 << 20;
  Doubles uniform = draw<T>(count, 1, 0, -2, 4), normal = draw<T>(count, 2, 1, 1, 3);
  double mean = 0, square = 0, lag = 0;
  for (double u : uniform) {
    ASSERT_GE(u, -2);
    ASSERT_LT(u, 4);
    mean += u, square += u * u;
  }
  double n = static_cast<double>(count);
  EXPECT_NEAR(mean / n, 1, 0.01);
  EXPECT_NEAR(square / n - 1, 3, 0.02);
  double third = 0, fourth = 0, extreme = 0;
  mean = square = 0;
  for (size_t i = 0; i < normal.size(); ++i) {
    double z = (normal[i] - 1) / 3;
    mean += z, square += z * z, third += z * z * z, fourth += z * z * z * z;
    extreme = std::fmax(extreme, std::fabs(z));
    lag += i ? z * (normal[i - 1] - 1) / 3 : 0;
  }
  EXPECT_NEAR(mean / n, 0, 0.005);
  EXPECT_NEAR(square / n, 1, 0.01);
  EXPECT_NEAR(third / n, 0, 0.02);
  EXPECT_NEAR(fourth / n, 3, 0.05);
  EXPECT_NEAR(lag / n, 0, 0.005);
  EXPECT_GT(extreme, 4.2);
}

TYPED_TEST(Training, RandomNumbersDependOnSeedStreamAndPlaceAlone) {
  using T = TypeParam;
  Doubles all = draw<T>(5000, 3, 1, 0, 1), few = draw<T>(777, 3, 1, 0, 1);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
  EXPECT_EQ(draw<float>(5000, 3, 1, 0, 1), draw<double>(5000, 3, 1, 0, 1));
  for (const Doubles &other : {draw<T>(5000, 4, 1, 0, 1), draw<T>(5000, int64_t(3) << 32, 1, 0, 1),
                               draw<T>(5000, 3, 1, 0, 1, 6)}) {
    double product = 0;
    for (size_t i = 0; i < all.size(); ++i)
      product += all[i] * other[i];
    EXPECT_NEAR(product / 5000, 0, 0.06);
  }
}

TEST(Random, MatchesThePublishedGenerator) {
  // Known answer of Philox4x32-10 for counter 0 and key 0: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  RandomParams p{4, 0, 0, 0, 1};
  int32_t key[2] = {0, 0};
  Tensor<double> out(1, 4);
  callWhole<RandomParams>(kernels::random<double>, 1, {key, out.data()}, p);
  const uint32_t expected[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(out.at(0, i), static_cast<double>(expected[i] >> 8) / 16777216);
}

} // namespace
