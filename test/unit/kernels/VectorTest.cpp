//===- VectorTest.cpp - elementary functions, special values, the bitcode -===//
#include "codegen/kernels/cpu/Vector.h"
#include "KernelTest.h"
#include "codegen/kernels/Attention.h"
#include "codegen/kernels/RmsNorm.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

extern "C" const char hybridKernelsBitcodeBegin[], hybridKernelsBitcodeEnd[];

HYBRID_DECLARE_KERNEL(rmsnorm_forward, RmsNormParams)
HYBRID_DECLARE_KERNEL(attention_forward, AttentionParams)

namespace {

/// The largest relative error over sixteen numbers at a time in [low, high].
template <typename Function, typename Exact>
double worstError(double low, double high, Function function, Exact exact) {
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    Vector<float> x;
    for (int lane = 0; lane < 16; ++lane)
      x[lane] = static_cast<float>(low + (high - low) * (i * 16 + lane) / 1600000);
    Vector<float> y = function(x);
    for (int lane = 0; lane < 16; ++lane) {
      double expected = exact(static_cast<double>(x[lane]));
      worst = std::fmax(worst, std::fabs(static_cast<double>(y[lane]) - expected) /
                                   std::fmax(std::fabs(expected), 1e-37));
    }
  }
  return worst;
}

TEST(VectorFunctions, AreAccurate) {
  auto exp = [](double x) { return std::exp(x); };
  EXPECT_LT(worstError(-85, 88, [](Vector<float> x) { return exponential(x); }, exp), 1.3e-7);
  EXPECT_LT(worstError(-1, 1, [](Vector<float> x) { return exponential(x); }, exp), 1.3e-7);
  EXPECT_LT(worstError(
                -125, 0, [](Vector<float> x) { return powerOfTwo(x); },
                [](double x) { return std::exp2(x); }),
            1.3e-7);
  auto log = [](double x) { return std::log(x); };
  EXPECT_LT(worstError(1e-30, 0.9, [](Vector<float> x) { return logarithm(x); }, log), 1.3e-7);
  EXPECT_LT(worstError(0.9, 1.1, [](Vector<float> x) { return logarithm(x); }, log), 1.3e-7);
  EXPECT_LT(worstError(1.1, 1e6, [](Vector<float> x) { return logarithm(x); }, log), 1.3e-7);
}

TEST(VectorFunctions, CosineAndSineStayOnTheCircle) {
  for (int i = 0; i < 100000; ++i) {
    double u = static_cast<double>(static_cast<float>(i / 100000.0));
    Vector<float> cosine, sine;
    cosineAndSine(splat(static_cast<float>(u)), cosine, sine);
    EXPECT_NEAR(static_cast<double>(cosine[3]), std::cos(2 * M_PI * u), 1.5e-7);
    EXPECT_NEAR(static_cast<double>(sine[3]), std::sin(2 * M_PI * u), 1.5e-7);
  }
}

TEST(VectorFunctions, TreatSpecialValues) {
  auto one = [](Vector<float> v) { return v[0]; };
  EXPECT_EQ(one(exponential(splat(-INFINITY))), 0);
  EXPECT_EQ(one(exponential(splat(INFINITY))), INFINITY);
  EXPECT_EQ(one(exponential(splat(89.0f))), INFINITY);
  EXPECT_EQ(one(exponential(splat(0.0f))), 1);
  EXPECT_NEAR(one(exponential(splat(-100.0f))), 3.8e-44, 2e-45); // a denormal
  EXPECT_TRUE(std::isnan(one(exponential(splat(NAN)))));
  EXPECT_EQ(one(powerOfTwo(splat(-INFINITY))), 0);
  EXPECT_EQ(one(powerOfTwo(splat(0.0f))), 1);
  EXPECT_TRUE(std::isnan(one(powerOfTwo(splat(NAN)))));
}

TEST(Kernels, CarryNaNToTheirResults) {
  for (float bad : {NAN, INFINITY}) {
    std::vector<float> x(40, 1), y(40, 0);
    x[35] = bad;
    RmsNormParams norm{1, 40, 40, 40, 40, 1, 0, 0, 1, 1e-5};
    callWhole<RmsNormParams>(rmsnorm_forward<float>, 1, {x.data(), nullptr, y.data()}, norm);
    EXPECT_TRUE(std::isnan(y[35]));

    AttentionParams p{};
    p.batch = p.heads = p.kvHeads = p.headSize = p.valueSize = 1, p.length = p.keyLength = 40,
    p.window = -1;
    p.qStride = p.kStride = p.vStride = p.oStride = 1, p.causal = 1, p.scale = 1;
    std::vector<float> q(40, 1), o(40), lse(40);
    callWhole<AttentionParams>(
        attention_forward<float>, 1,
        {q.data(), x.data(), q.data(), nullptr, nullptr, nullptr, nullptr, o.data(), lse.data()}, p,
        scratchOf<AttentionForward, float>(p));
    for (size_t t = 0; t < 40; ++t)
      EXPECT_EQ(std::isnan(o[t]), t >= 35) << t;
  }
}

TEST(Kernels, AreEmbeddedAsBitcode) {
  ASSERT_GT(hybridKernelsBitcodeEnd - hybridKernelsBitcodeBegin, 10000);
  EXPECT_EQ(std::memcmp(hybridKernelsBitcodeBegin, "BC\xC0\xDE", 4), 0);
}

} // namespace
