//===- Rules.cpp - batch size and learning rate by budget and size ---------------------===//
#include "laboratory/scale/Rules.h"
#include <algorithm>
#include <array>
#include <cmath>

namespace hybrid::rt::lab::scale {
namespace {

struct BatchRow {
  double flops, tokens;
};
/// Table D.1: where the batch changes.
constexpr std::array<BatchRow, 3> batches{{{4e18, 0x1p19}, {2e20, 0x1p20}, {2e21, 0x1p21}}};
constexpr double smallModel = 54e6, smallBatch = 0x1p18, leastBatch = 0x1p8;
constexpr double batchExponent = 0.3271, rateExponent = -0.1250;

struct RateRow {
  double millions, rate;
};
/// Table D.2.
constexpr std::array<RateRow, 35> rates{{
    {8, 9.77e-4},    {22, 9.57e-4},   {38, 9.36e-4},   {54, 9.15e-4},   {70, 8.95e-4},
    {102, 8.56e-4},  {118, 8.37e-4},  {134, 8.18e-4},  {150, 8.00e-4},  {163, 7.75e-4},
    {175, 7.50e-4},  {196, 7.25e-4},  {217, 7.00e-4},  {251, 6.75e-4},  {278, 6.50e-4},
    {306, 6.25e-4},  {350, 6.00e-4},  {440, 5.66e-4},  {536, 5.33e-4},  {641, 5.00e-4},
    {756, 4.75e-4},  {881, 4.55e-4},  {1010, 4.33e-4}, {1160, 4.15e-4}, {1200, 4.11e-4},
    {1300, 4.00e-4}, {1600, 3.84e-4}, {1900, 3.67e-4}, {2250, 3.47e-4}, {2400, 3.39e-4},
    {2640, 3.25e-4}, {3100, 3.00e-4}, {4200, 2.72e-4}, {5200, 2.46e-4}, {7000, 2.00e-4},
}};

} // namespace

double batchTokens(double flops, double params) {
  double tokens = batches[0].tokens;
  if (flops < batches[0].flops) {
    double smooth = tokens * std::pow(flops / batches[0].flops, batchExponent);
    tokens = std::max(std::exp2(std::round(std::log2(smooth))), leastBatch);
  }
  for (const BatchRow &row : batches)
    if (flops >= row.flops)
      tokens = row.tokens;
  return params < smallModel ? std::min(tokens, smallBatch) : tokens;
}

double learningRate(double flops, double params) {
  const double below = std::pow(std::min(1.0, flops / batches[0].flops), rateExponent);
  double millions = params / 1e6;
  if (millions >= rates.back().millions)
    return below * rates.back().rate;
  auto above = std::upper_bound(rates.begin() + 1, rates.end() - 1, millions,
                                [](double m, const RateRow &row) { return m < row.millions; });
  const RateRow &low = *(above - 1), &high = *above;
  return below * (low.rate + (millions - low.millions) / (high.millions - low.millions) *
                                 (high.rate - low.rate));
}

std::vector<double> tableParams() {
  std::vector<double> params;
  for (const RateRow &row : rates)
    params.push_back(row.millions * 1e6);
  return params;
}

} // namespace hybrid::rt::lab::scale
