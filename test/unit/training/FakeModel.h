//===- FakeModel.h - a model of two lines, to test the trainer with ---------===//
//
// A table of logits by input token (a bigram model) trained by AdamW in double: learns a map from
// tokens to targets, and is exact, so that two runs can be compared bit by bit.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/Rng.h"
#include "training/StepRunner.h"
#include "training/data/Source.h"
#include "training/tokenizers/SimpleTokenizers.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <deque>
#include <thread>

namespace hybrid::rt {

class FakeModel final : public StepRunner {
public:
  FakeModel(int64_t batch, int64_t length, int64_t classes, int64_t replicas = 1)
      : rows(batch), columns(length), classes(classes) {
    models.resize(static_cast<size_t>(replicas));
    for (Model &model : models) {
      for (std::vector<double> *tensor :
           {&model.table, &model.gradient, &model.moment1, &model.moment2})
        tensor->resize(static_cast<size_t>(classes * classes));
      model.scores.resize(static_cast<size_t>(batch * length * classes));
      model.evaluation = emptyBatch();
    }
  }

  int64_t batch() const override { return rows; }
  int64_t length() const override { return columns; }
  int64_t vocabulary() const override { return showsLogits ? classes : 0; }
  int threads() const override { return 2; }
  int64_t replicas() const override { return static_cast<int64_t>(models.size()); }
  Result<void> initialize(std::span<const uint64_t> seeds) override {
    for (size_t r = 0; r < models.size(); ++r) {
      Rng rng(seeds[r], 0, 0);
      for (double &value : models[r].table)
        value = rng.uniform() - 0.5;
      std::fill(models[r].moment1.begin(), models[r].moment1.end(), 0);
      std::fill(models[r].moment2.begin(), models[r].moment2.end(), 0);
    }
    return {};
  }
  Result<void> initialize(uint64_t seed) { return initialize(std::span(&seed, 1)); }
  Result<void> setActive(int64_t replica, bool active) override {
    of(replica).active = active;
    return {};
  }

  int64_t activeReplicas() const {
    return std::count_if(models.begin(), models.end(),
                         [](const Model &model) { return model.active; });
  }

  int64_t burstSteps() const override { return mostSteps; }
  int burstsAhead() const override { return ahead; }
  BatchMemory trainingBatch(int64_t replica, int64_t step) override {
    Step &filled = stepOf(replica, step);
    return {filled.batch.in, filled.batch.out};
  }
  void setHyper(int64_t replica, int64_t step, const Hyper &hyper) override {
    stepOf(replica, step).hyper = hyper;
  }
  // Bursts ahead are done at once; what is late is only what is known of them.
  Result<void> startBurst(int64_t steps) override {
    if (static_cast<int>(started.size()) == std::max(1, ahead))
      return Error{"too many bursts are on their way"};
    if (steps > mostSteps)
      return Error{"the burst is too long"};
    burstSizes.push_back(steps);
    std::vector<StepScore> scores;
    for (int64_t step = 0; step < steps; ++step) {
      ++trainCalls;
      if (slowFrom)
        std::this_thread::sleep_for(std::chrono::milliseconds(trainCalls < slowFrom ? 2 : 20));
      for (size_t r = 0; r < models.size(); ++r)
        scores.push_back(models[r].active ? take(models[r], static_cast<int64_t>(r), step)
                                          : StepScore{{NAN, NAN, NAN}, NAN});
      if (trainCalls == signalAt)
        std::raise(SIGTERM);
    }
    for (Model &model : models)
      model.steps.clear(); // every burst is to be filled anew
    started.push_back(std::move(scores));
    return {};
  }
  Result<std::vector<StepScore>> finishBurst() override {
    if (started.empty())
      return Error{"no burst was started"};
    std::vector<StepScore> scores = std::move(started.front());
    started.pop_front();
    return scores;
  }

  BatchMemory evaluationBatch(int64_t replica) override {
    return {of(replica).evaluation.in, of(replica).evaluation.out};
  }
  Result<std::vector<BatchScore>> evaluate() override {
    std::vector<BatchScore> scores;
    for (Model &model : models)
      scores.push_back(model.active ? run(model, model.evaluation, false)
                                    : BatchScore{NAN, NAN, NAN});
    return scores;
  }
  Result<void> showLogits(int64_t replica) override {
    shown = &of(replica);
    return {};
  }
  void logits(int64_t row, std::span<double> values) const override {
    std::copy_n(shown->scores.begin() + row * classes, classes, values.begin());
    if (trainCalls >= nanLogitsFrom)
      std::fill(values.begin(), values.end(), NAN);
  }
  std::string findNonFinite(int64_t replica, const std::function<void()> &fill) override {
    fill();
    searched.assign(stepOf(replica, 0).batch.in.begin(), stepOf(replica, 0).batch.in.end());
    return started.empty() ? "exp at fake.hyb:1:1" : "";
  }
  std::vector<StateTensor> state(int64_t replica = 0) override {
    std::vector<int64_t> shape = {classes, classes};
    Model &model = of(replica);
    return {{"table", DType::F64, shape, std::as_bytes(std::span(model.table))},
            {"moment1.table", DType::F64, shape, std::as_bytes(std::span(model.moment1))},
            {"moment2.table", DType::F64, shape, std::as_bytes(std::span(model.moment2))}};
  }
  Result<void> setState(int64_t replica, size_t index, std::span<const std::byte> bytes) override {
    Model &model = of(replica);
    std::vector<double> *tensors[] = {&model.table, &model.moment1, &model.moment2};
    std::memcpy(tensors[index]->data(), bytes.data(), bytes.size());
    return {};
  }
  uint64_t fingerprint() const override { return print; }
  uint64_t parameterCount() const override { return static_cast<uint64_t>(classes * classes); }

  uint64_t print = 77;
  int64_t trainCalls = 0, nanAt = 0, signalAt = 0, nanReplica = 0, nanLogitsFrom = INT64_MAX;
  int64_t slowFrom = 0; // steps take 2 ms before this call of a step, and 20 from it on
  bool showsLogits = true;
  int ahead = 0;
  int64_t mostSteps = 1;
  std::vector<int64_t> burstSizes;
  std::vector<int32_t> searched; // the tokens that findNonFinite() looked at

private:
  struct Batch {
    std::vector<int32_t> in, out;
  };
  struct Step {
    Batch batch;
    Hyper hyper;
  };
  struct Model {
    std::vector<double> table, gradient, moment1, moment2, scores;
    std::deque<Step> steps;
    Batch evaluation;
    bool active = true;
  };
  Batch emptyBatch() const {
    const auto count = static_cast<size_t>(rows * columns);
    return {std::vector<int32_t>(count), std::vector<int32_t>(count)};
  }
  Model &of(int64_t replica) { return models[static_cast<size_t>(replica)]; }
  Step &stepOf(int64_t replica, int64_t step) {
    std::deque<Step> &steps = of(replica).steps;
    while (static_cast<int64_t>(steps.size()) <= step)
      steps.push_back({emptyBatch(), {}});
    return steps[static_cast<size_t>(step)];
  }

  StepScore take(Model &model, int64_t replica, int64_t step) {
    std::fill(model.gradient.begin(), model.gradient.end(), 0);
    const Step &filled = stepOf(replica, step);
    BatchScore score = run(model, filled.batch, true);
    if (trainCalls == nanAt && replica == nanReplica)
      return {{NAN, score.weight, score.correct}, NAN};
    return {score, update(model, filled.hyper)};
  }

  double update(Model &model, const Hyper &hyper) {
    double norm = 0;
    for (double g : model.gradient)
      norm += g * g;
    norm = std::sqrt(norm);
    double scale = hyper.clip > 0 ? std::min(1.0, hyper.clip / (norm + 1e-6)) : 1;
    auto t = static_cast<double>(hyper.step);
    for (size_t i = 0; i < model.table.size(); ++i) {
      double g = model.gradient[i] * scale, &value = model.table[i];
      double &first = model.moment1[i], &second = model.moment2[i];
      value *= 1 - hyper.learningRate * hyper.weightDecay;
      first = hyper.beta1 * first + (1 - hyper.beta1) * g;
      second = hyper.beta2 * second + (1 - hyper.beta2) * g * g;
      double m = first / (1 - std::pow(hyper.beta1, t));
      double v = second / (1 - std::pow(hyper.beta2, t));
      value -= hyper.learningRate * m / (std::sqrt(v) + hyper.epsilon);
    }
    return norm;
  }

  BatchScore run(Model &model, const Batch &batch, bool training) {
    BatchScore score;
    for (int32_t target : batch.out)
      score.weight += target != ignoredTarget;
    for (size_t i = 0; i < batch.in.size(); ++i) {
      const int32_t token = batch.in[i], target = batch.out[i];
      const double *row = model.table.data() + token * classes;
      double *shown = model.scores.data() + static_cast<int64_t>(i) * classes;
      std::copy_n(row, classes, shown);
      if (target == ignoredTarget)
        continue;
      double highest = *std::max_element(row, row + classes), sum = 0;
      for (int64_t c = 0; c < classes; ++c)
        sum += std::exp(row[c] - highest);
      score.loss += (std::log(sum) + highest - row[target]) / score.weight;
      score.correct += std::max_element(row, row + classes) - row == target;
      if (training)
        for (int64_t c = 0; c < classes; ++c)
          model.gradient[static_cast<size_t>(token * classes + c)] +=
              (std::exp(row[c] - highest) / sum - (c == target)) / score.weight;
    }
    return score;
  }

  int64_t rows, columns, classes;
  std::vector<Model> models;
  const Model *shown = nullptr;
  std::deque<std::vector<StepScore>> started;
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
  const Tokenizer *tokenizer() const override { return bytes.get(); }
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
  std::shared_ptr<const Tokenizer> bytes = makeByteTokenizer(); // copies share it
};

} // namespace hybrid::rt
