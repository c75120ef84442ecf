//===- LinearFunctions.cpp - in-context learning of linear functions --------===//
//
// Prompts x_1, w·x_1, ..., x_n, at the end of which w·x_n is to be said (Poli et al. 2023, section
// 4.1, after Garg et al. 2022): vectors x_k and w of `dimension` independent standard normal
// numbers, a new w in every prompt, a value w·x_k as the vector [w·x_k, 0, ..., 0]. Training
// instances ask at every x_k, test instances at the last one, where `dimension` pairs before it
// determine the answer. The difficulty is the dimension.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/LinearFunctions.h"
#include "training/Distributions.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace hybrid::rt {
namespace {

void drawNormals(Rng &rng, std::span<double> values) {
  for (size_t i = 0; i < values.size(); i += 2) {
    auto [first, second] = drawNormals(rng);
    values[i] = first;
    if (i + 1 < values.size())
      values[i + 1] = second;
  }
}

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// What least squares of smallest norm knows after some pairs: w on the span of their x.
class LeastSquares {
public:
  double predict(std::span<const double> x) const {
    double sum = 0;
    for (const Direction &direction : directions)
      sum += product(x, direction.unit) * direction.value;
    return sum;
  }
  void learn(std::vector<double> x, double y) {
    double whole = std::sqrt(product(x, x));
    for (const Direction &direction : directions) {
      double along = product(x, direction.unit);
      y -= along * direction.value;
      for (size_t i = 0; i < x.size(); ++i)
        x[i] -= along * direction.unit[i];
    }
    double norm = std::sqrt(product(x, x));
    if (norm < 1e-5 * whole) // nothing new but rounding
      return;
    for (double &value : x)
      value /= norm;
    directions.push_back({std::move(x), y / norm});
  }

private:
  struct Direction {
    std::vector<double> unit;
    double value; // of w along it
  };
  std::vector<Direction> directions;
};

class LinearFunctions final : public Task {
public:
  LinearFunctions(std::string name, Settings settings, int64_t dimension, int64_t pairs)
      : Task(std::move(name), std::move(settings)), dimension(static_cast<size_t>(dimension)),
        pairs(static_cast<size_t>(pairs)) {}

  int64_t vocabulary() const override { return 0; }
  int64_t positions() const override { return static_cast<int64_t>(2 * pairs - 1); }
  int64_t inputNumbers() const override { return static_cast<int64_t>(dimension); }
  uint64_t epochExamples() const override { return 2000; }
  void draw(Instance &instance) const override;
  double referenceLoss(uint64_t seed, Split split, uint64_t index) const override;
  std::string spell(int32_t) const override { return ""; }

private:
  size_t dimension, pairs;
};

void LinearFunctions::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  std::fill(inputs.begin(), inputs.end(), 0);
  std::fill(targets.begin(), targets.end(), 0);
  std::vector<double> weights(dimension), x(dimension);
  drawNormals(rng, weights);
  for (size_t pair = 0; pair < pairs; ++pair) {
    drawNormals(rng, x);
    // The value belongs to the x that is shown, rounded as it is.
    for (size_t i = 0; i < dimension; ++i) {
      inputs[2 * pair * dimension + i] = wordOf(static_cast<float>(x[i]));
      x[i] = numberOf(inputs[2 * pair * dimension + i]);
    }
    int32_t value = wordOf(static_cast<float>(product(weights, x)));
    bool last = pair + 1 == pairs;
    targets[4 * pair] = value;
    targets[4 * pair + 1] = wordOf(last || split == Split::Train ? 1.0f : 0.0f);
    if (!last)
      inputs[(2 * pair + 1) * dimension] = value;
  }
}

double LinearFunctions::referenceLoss(uint64_t seed, Split split, uint64_t index) const {
  std::vector<int32_t> inputs(static_cast<size_t>(positions() * inputWords()));
  std::vector<int32_t> targets(static_cast<size_t>(positions() * targetWords()));
  generate(seed, split, index, inputs, targets);
  LeastSquares solver;
  double sum = 0, weight = 0;
  for (size_t pair = 0; pair < pairs; ++pair) {
    std::vector<double> x(dimension);
    std::transform(inputs.begin() + static_cast<int64_t>(2 * pair * dimension),
                   inputs.begin() + static_cast<int64_t>((2 * pair + 1) * dimension), x.begin(),
                   numberOf);
    double value = numberOf(targets[4 * pair]), asked = numberOf(targets[4 * pair + 1]);
    double error = solver.predict(x) - value;
    sum += asked * error * error;
    weight += asked;
    solver.learn(std::move(x), value);
  }
  return sum / weight;
}

} // namespace

Result<std::unique_ptr<Task>> createLinearFunctions(TaskParameters &parameters, Convention) {
  int64_t dimension = parameters.integer("dimension", 5, 1, 4096);
  int64_t pairs = parameters.integer("pairs", 2 * dimension + 1, 1, int64_t{1} << 20);
  return finishTask<LinearFunctions>(parameters, dimension, pairs);
}

} // namespace hybrid::rt
