//===- FakeModel.h - a model of two lines, to test the trainer with ---------===//
//
// A table of logits by input token (a bigram model) trained by AdamW in double: learns a map from
// tokens to targets, and is exact, so that two runs can be compared bit by bit.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Rng.h"
#include "runtime/train/Source.h"
#include "runtime/train/StepRunner.h"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <deque>

namespace hybrid::rt {

class FakeModel final : public StepRunner {
public:
  FakeModel(int64_t batch, int64_t length, int64_t classes)
      : rows(batch), columns(length), classes(classes), table(count()), gradient(count()),
        moment1(count()), moment2(count()), scores(static_cast<size_t>(batch * length * classes)),
        in(static_cast<size_t>(batch * length)), out(in.size()) {}

  int64_t batch() const override { return rows; }
  int64_t length() const override { return columns; }
  int64_t vocabulary() const override { return showsLogits ? classes : 0; }
  Result<void> initialize(uint64_t seed) override {
    Rng rng(seed, 0, 0);
    for (double &value : table)
      value = rng.uniform() - 0.5;
    std::fill(moment1.begin(), moment1.end(), 0);
    std::fill(moment2.begin(), moment2.end(), 0);
    return {};
  }
  std::span<int32_t> tokens(bool) override { return in; }
  std::span<int32_t> targets(bool) override { return out; }

  Result<BatchScore> train() override {
    std::fill(gradient.begin(), gradient.end(), 0);
    BatchScore score = run(true);
    if (++trainCalls == nanAt)
      score.loss = NAN;
    if (trainCalls == signalAt)
      std::raise(SIGTERM);
    return score;
  }
  Result<BatchScore> evaluate() override { return run(false); }
  Result<double> update(const Hyper &hyper) override {
    double norm = 0;
    for (double g : gradient)
      norm += g * g;
    norm = std::sqrt(norm);
    double scale = hyper.clip > 0 ? std::min(1.0, hyper.clip / (norm + 1e-6)) : 1;
    auto t = static_cast<double>(hyper.step);
    for (size_t i = 0; i < table.size(); ++i) {
      double g = gradient[i] * scale;
      table[i] *= 1 - hyper.learningRate * hyper.weightDecay;
      moment1[i] = hyper.beta1 * moment1[i] + (1 - hyper.beta1) * g;
      moment2[i] = hyper.beta2 * moment2[i] + (1 - hyper.beta2) * g * g;
      double m = moment1[i] / (1 - std::pow(hyper.beta1, t));
      double v = moment2[i] / (1 - std::pow(hyper.beta2, t));
      table[i] -= hyper.learningRate * m / (std::sqrt(v) + hyper.epsilon);
    }
    return norm;
  }
  // Steps ahead are done at once; what is late is only what is known of them.
  int stepsAhead() const override { return ahead; }
  Result<void> startStep(const Hyper &hyper) override {
    if (static_cast<int>(started.size()) == ahead)
      return Error{"too many steps are on their way"};
    Result<BatchScore> score = train();
    Result<double> norm = update(hyper);
    started.push_back({*score, *norm});
    return {};
  }
  Result<StepScore> finishStep() override {
    StepScore score = started.front();
    started.pop_front();
    return score;
  }
  void logits(int64_t row, std::span<double> values) const override {
    std::copy_n(scores.begin() + row * classes, classes, values.begin());
  }
  std::string findNonFinite() override { return "exp at fake.hyb:1:1"; }
  std::vector<StateTensor> state() override {
    std::vector<int64_t> shape = {classes, classes};
    return {{"table", DType::F64, shape, std::as_bytes(std::span(table))},
            {"moment1.table", DType::F64, shape, std::as_bytes(std::span(moment1))},
            {"moment2.table", DType::F64, shape, std::as_bytes(std::span(moment2))}};
  }
  Result<void> setState(size_t index, std::span<const std::byte> bytes) override {
    std::vector<double> *tensors[] = {&table, &moment1, &moment2};
    std::memcpy(tensors[index]->data(), bytes.data(), bytes.size());
    return {};
  }
  uint64_t fingerprint() const override { return print; }
  uint64_t parameterCount() const override { return table.size(); }

  uint64_t print = 77;
  int64_t trainCalls = 0, nanAt = 0, signalAt = 0;
  bool showsLogits = true;
  int ahead = 0;

private:
  size_t count() const { return static_cast<size_t>(classes * classes); }

  BatchScore run(bool training) {
    BatchScore score;
    for (int32_t target : out)
      score.weight += target != ignoredTarget;
    for (size_t i = 0; i < in.size(); ++i) {
      const double *row = table.data() + in[i] * classes;
      double *shown = scores.data() + static_cast<int64_t>(i) * classes;
      std::copy_n(row, classes, shown);
      if (out[i] == ignoredTarget)
        continue;
      double highest = *std::max_element(row, row + classes), sum = 0;
      for (int64_t c = 0; c < classes; ++c)
        sum += std::exp(row[c] - highest);
      score.loss += (std::log(sum) + highest - row[out[i]]) / score.weight;
      score.correct += std::max_element(row, row + classes) - row == out[i];
      if (training)
        for (int64_t c = 0; c < classes; ++c)
          gradient[static_cast<size_t>(in[i] * classes + c)] +=
              (std::exp(row[c] - highest) / sum - (c == out[i])) / score.weight;
    }
    return score;
  }

  int64_t rows, columns, classes;
  std::vector<double> table, gradient, moment1, moment2, scores;
  std::vector<int32_t> in, out;
  std::deque<StepScore> started;
};

/// Tokens at random; the target is a fixed function of the token, and every third position is not
/// scored.
class FakeSource final : public Source {
public:
  FakeSource(int64_t length, int64_t classes) : columns(length), classes(classes) {}
  int64_t vocabulary() const override { return classes; }
  int64_t positions() const override { return columns; }
  uint64_t epochExamples() const override { return 100; }
  uint64_t testExamples() const override { return available; }
  bool isBytes() const override { return true; }
  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    fill(Rng(3, 0, number), inputs, targets);
  }
  void test(uint64_t i, uint64_t, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    fill(Rng(3, 1, i), inputs, targets);
  }
  nlohmann::json describe() const override { return {{"fake", columns}}; }
  std::string shortName() const override { return "fake"; }

  uint64_t available = 0;

private:
  void fill(Rng rng, std::span<int32_t> inputs, std::span<int32_t> targets) const {
    for (size_t t = 0; t < inputs.size(); ++t) {
      inputs[t] = static_cast<int32_t>(rng.below(static_cast<uint64_t>(classes)));
      targets[t] = t % 3 == 2 ? ignoredTarget : static_cast<int32_t>((inputs[t] * 3 + 1) % classes);
    }
  }
  int64_t columns, classes;
};

} // namespace hybrid::rt
