#include "training/Schedule.h"
#include <gtest/gtest.h>
#include <vector>

using namespace hybrid::rt;

static void expectRates(const Schedule &schedule, const std::vector<double> &rates) {
  for (size_t step = 0; step < rates.size(); ++step)
    EXPECT_NEAR(schedule.at(static_cast<int64_t>(step)), rates[step], 1e-15) << "step " << step;
}

// Numbers of timm's CosineLRScheduler: warm-up of 6 from 1e-6, 30 steps in all, the cosine not
// shifted.
TEST(Schedule, AgreesWithTimm) {
  expectRates({ScheduleKind::TimmCosine, 6e-4, 6e-5, 1e-6, 6, 30}, {1e-06,
                                                                    0.00010083333333333332,
                                                                    0.00020066666666666665,
                                                                    0.0003005,
                                                                    0.0004003333333333333,
                                                                    0.0005001666666666667,
                                                                    0.0005484345884812357,
                                                                    0.0005306491028788964,
                                                                    0.0005106652637168916,
                                                                    0.0004887020181189677,
                                                                    0.00046499999999999997,
                                                                    0.00043981889363046604,
                                                                    0.00041343458848123576,
                                                                    0.0003861361565207949,
                                                                    0.0003582226850822664,
                                                                    0.00033,
                                                                    0.0003017773149177336,
                                                                    0.00027386384347920494,
                                                                    0.0002465654115187642,
                                                                    0.00022018110636953396,
                                                                    0.00019500000000000002,
                                                                    0.00017129798188103226,
                                                                    0.00014933473628310834,
                                                                    0.00012935089712110361,
                                                                    0.00011156541151876421,
                                                                    9.617314097820154e-05,
                                                                    8.334272643649774e-05,
                                                                    7.321474060030854e-05,
                                                                    6.590014780187247e-05,
                                                                    6.147908825056618e-05,
                                                                    6e-05,
                                                                    6e-05,
                                                                    6e-05});
}

// Numbers of the common warm-up-cosine schedule: 5 of 30 steps of warm-up, to 0.
TEST(Schedule, AgreesWithWarmupCosine) {
  expectRates({ScheduleKind::Cosine, 5e-4, 0, 0, 5, 30}, {0.0,
                                                          0.0001,
                                                          0.0002,
                                                          0.0003,
                                                          0.0004,
                                                          0.0005,
                                                          0.0004980286753286195,
                                                          0.0004921457902821578,
                                                          0.00048244412147206283,
                                                          0.0004690766700109659,
                                                          0.0004522542485937369,
                                                          0.00043224215685535287,
                                                          0.00040935599743717243,
                                                          0.00038395669874474915,
                                                          0.0003564448228912682,
                                                          0.00032725424859373687,
                                                          0.0002968453286464312,
                                                          0.0002656976298823284,
                                                          0.00023430237011767165,
                                                          0.0002031546713535688,
                                                          0.00017274575140626317,
                                                          0.00014355517710873183,
                                                          0.00011604330125525078,
                                                          9.064400256282756e-05,
                                                          6.775784314464717e-05,
                                                          4.7745751406263163e-05,
                                                          3.092332998903416e-05,
                                                          1.7555878527937163e-05,
                                                          7.854209717842232e-06,
                                                          1.9713246713805587e-06,
                                                          0.0,
                                                          1.971324671380531e-06});
}

TEST(Schedule, WarmupCosineEndsAtTheLeastRate) {
  expectRates({ScheduleKind::Cosine, 0.01, 0.001, 0, 3, 8},
              {0.0, 0.003333333333333333, 0.006666666666666666, 0.01, 0.009140576474687263,
               0.006890576474687263, 0.004109423525312738, 0.0018594235253127373});
}

TEST(Schedule, LinearAndConstant) {
  expectRates({ScheduleKind::Linear, 1.0, 0.0, 0, 2, 6}, {0, 0.5, 1, 0.75, 0.5, 0.25, 0, 0});
  expectRates({ScheduleKind::Constant, 1.0, 0.0, 0, 2, 6}, {0, 0.5, 1, 1, 1, 1, 1, 1});
}

static Schedule wsd(RampShape rise, RampShape fall, double least) {
  return {ScheduleKind::Wsd, 1.0, least, 0, 2, 10, 4, rise, fall};
}

// Each end from the least rate or to it; the first step of the fall has the base rate.
TEST(Schedule, WarmupStableDecay) {
  expectRates(wsd(RampShape::Linear, RampShape::Linear, 0.2),
              {0.2, 0.6, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2});
  expectRates(wsd(RampShape::Cosine, RampShape::Cosine, 0),
              {0, 0.5, 1, 1, 1, 1, 1, 0.8535533905932737, 0.5, 0.14644660940672627, 0, 0});
  expectRates(
      wsd(RampShape::OneMinusSqrt, RampShape::OneMinusSqrt, 0),
      {0, 0.29289321881345254, 1, 1, 1, 1, 1, 0.5, 0.29289321881345254, 0.1339745962155614, 0, 0});
}

TEST(Schedule, TrapezoidWarmsUpFromZero) {
  expectRates({ScheduleKind::Trapezoid, 1.0, 0.2, 0, 2, 10, 4},
              {0, 0.5, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2});
}

TEST(Schedule, InverseSquareRootFallsFromTheWarmupOn) {
  expectRates({ScheduleKind::InverseSqrt, 1.0, 0.3, 0, 4, 100},
              {0, 0.25, 0.5, 0.75, 1, 0.8944271909999159});
  const Schedule schedule{ScheduleKind::InverseSqrt, 1.0, 0.3, 0, 4, 100};
  EXPECT_DOUBLE_EQ(schedule.at(16), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(99), 0.3);
  EXPECT_DOUBLE_EQ((Schedule{ScheduleKind::InverseSqrt, 1.0, 0, 0, 0, 100}.at(3)), 0.5);
}

TEST(Schedule, WithoutWarmupStartsAtTheBaseRate) {
  for (ScheduleKind kind : {ScheduleKind::Constant, ScheduleKind::Cosine, ScheduleKind::Linear,
                            ScheduleKind::TimmCosine, ScheduleKind::InverseSqrt,
                            ScheduleKind::Trapezoid, ScheduleKind::Wsd})
    EXPECT_DOUBLE_EQ((Schedule{kind, 0.5, 0.1, 1e-6, 0, 10}.at(0)), 0.5) << nameOf(kind);
}

TEST(Schedule, NamesItsKinds) {
  EXPECT_EQ(*scheduleKind("timm-cosine"), ScheduleKind::TimmCosine);
  EXPECT_EQ(nameOf(*scheduleKind("wsd")), "wsd");
  EXPECT_EQ(*rampShape("1-sqrt"), RampShape::OneMinusSqrt);
  EXPECT_NE(scheduleKind("cos").error().message.find("known: constant"), std::string::npos);
  EXPECT_NE(rampShape("sqrt").error().message.find("known: linear, cosine, 1-sqrt"),
            std::string::npos);
}
