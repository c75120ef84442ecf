//===- Rules.cpp - batch size and learning rate by budget and size ---------------------===//
#include "laboratory/scale/Rules.h"
#include "laboratory/paper/Preset.h"
#include <algorithm>
#include <cmath>

namespace hybrid::rt::lab::scale {
namespace {

constexpr double leastBatch = 0x1p8, batchExponent = 0.3271, rateExponent = -0.1250;

/// Tables D.1, by budgets, and D.2, by sizes.
const Preset &tables() {
  static const Preset preset = *findPreset("mad-scaling");
  return preset;
}

double leastBudget() { return tables().budgets.front().flops; }

/// The last row that is no larger, or the first.
template <typename Row>
const Row &rowOf(const std::vector<Row> &rows, double number, double Row::*key) {
  auto above = std::upper_bound(rows.begin() + 1, rows.end(), number,
                                [&](double each, const Row &row) { return each < row.*key; });
  return *(above - 1);
}

} // namespace

double batchTokens(double flops, double params) {
  double tokens = static_cast<double>(
      *rowOf(tables().budgets, flops, &Preset::Budget::flops).values.batchTokens);
  if (flops < leastBudget())
    tokens = std::max(
        std::exp2(std::round(std::log2(tokens * std::pow(flops / leastBudget(), batchExponent)))),
        leastBatch);
  // Small models have a batch of their own.
  const auto &most = rowOf(tables().sizes, params, &Preset::Size::parameters).values.batchTokens;
  return most ? std::min(tokens, static_cast<double>(*most)) : tokens;
}

double learningRate(double flops, double params) {
  const auto &sizes = tables().sizes;
  const double below = std::pow(std::min(1.0, flops / leastBudget()), rateExponent);
  if (params >= sizes.back().parameters)
    return below * *sizes.back().values.learningRate;
  const Preset::Size &low = rowOf(sizes, params, &Preset::Size::parameters), &high = *(&low + 1);
  // In millions: a study finds its runs by their rates, to the last bit.
  const double millions = params / 1e6, from = low.parameters / 1e6, to = high.parameters / 1e6;
  const double way = (millions - from) / (to - from);
  return below *
         (*low.values.learningRate + way * (*high.values.learningRate - *low.values.learningRate));
}

std::vector<double> tableParams() {
  std::vector<double> params;
  for (const Preset::Size &size : tables().sizes)
    params.push_back(size.parameters);
  return params;
}

} // namespace hybrid::rt::lab::scale
