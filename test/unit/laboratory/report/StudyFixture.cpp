//===- StudyFixture.cpp - a study that nobody ran ------------------------------===//
#include "test/unit/laboratory/report/StudyFixture.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <random>

namespace hybrid::rt::lab::test {
namespace {

struct Kind {
  const char *name;
  double strength[6]; // by task, at the baseline
  int64_t parameters, state;
  double flops;
};
constexpr Kind kinds[] = {
    {"attention-swiglu", {1.0, 1.0, 0.55, 0.998, 0.53, 0.87}, 401536, 32768, 1.02e6},
    {"hyena-swiglu", {0.86, 0.81, 0.12, 0.95, 0.46, 0.895}, 406080, 4096, 9.1e5},
    {"multihead-hyena-swiglu", {0.99, 0.985, 0.18, 0.95, 0.46, 0.895}, 406080, 4096, 9.3e5},
    {"mamba", {0.92, 0.91, 0.13, 0.89, 0.54, 0.895}, 463360, 4096, 1.21e6},
    {"gated-linear-attention-swiglu", {0.86, 0.85, 0.13, 0.9, 0.41, 0.65}, 411000, 4096, 9.9e5},
    {"striped-hyena-swiglu", {1.0, 1.0, 0.5, 0.999, 0.56, 0.9}, 403808, 18432, 9.7e5},
    {"striped-multihead-hyena-swiglu", {1.0, 1.0, 0.58, 0.999, 0.56, 0.9}, 403808, 18432, 9.8e5},
    {"striped-mamba-swiglu", {1.0, 1.0, 0.52, 0.998, 0.57, 0.9}, 432448, 18432, 1.1e6},
    {"hyena-experts-moe", {0.88, 0.84, 0.14, 0.96, 0.49, 0.9}, 1216000, 4096, 8.8e5},
    {"striped-hyena-experts-moe", {1.0, 1.0, 0.6, 0.999, 0.59, 0.905}, 1216000, 18432, 9.4e5},
};

struct Place {
  std::string setting, axis;
  double value, hardness; // 0 at the baseline
};
struct Suite {
  const char *task;
  double chance;
  std::vector<Place> places;
};

std::vector<Suite> suites(bool sweeps) {
  struct Sweep {
    const char *axis;
    double baseline;
    std::vector<double> values;
    double slope;
  };
  struct Plan {
    const char *task, *fixed;
    double chance;
    std::vector<Sweep> sweeps;
  };
  const Sweep recallVocabulary{"vocab", 16, {32, 64, 128}, 0.5},
      examples{"train_examples", 12800, {6400, 3200, 1600, 800}, 0.45};
  const std::vector<Plan> plans = {
      {"in-context-recall",
       "multi_query=true",
       0.125,
       {recallVocabulary, {"length", 128, {256, 512, 1024}, 0.2}, examples}},
      {"noisy-in-context-recall",
       "noise_vocab=16",
       0.125,
       {{"vocab", 32, {64, 96, 128}, 0.45},
        {"length", 128, {256, 512, 1024}, 0.25},
        examples,
        {"frac_noise", 0.2, {0.4, 0.6, 0.8}, 0.15}}},
      {"fuzzy-in-context-recall",
       "k_motif=3,v_motif=3",
       0.125,
       {recallVocabulary, {"length", 128, {256, 512, 1024}, -0.1}, examples}},
      {"selective-copying",
       "noise=blank",
       1.0 / 14,
       {recallVocabulary,
        {"length", 256, {512, 1024}, 0.1},
        examples,
        {"tokens_to_copy", 16, {32, 64, 96}, 0.35}}},
      {"compression",
       "head=autoencoder",
       1.0 / 15,
       {recallVocabulary, {"length", 32, {64, 128, 256}, 0.6}, examples}},
      {"memorization", "keys=127", 1.0 / 127, {{"vocab", 256, {512, 1024, 2048, 4096, 8192}, 0.2}}},
  };
  std::vector<Suite> all;
  for (const Plan &plan : plans) {
    Suite suite{plan.task, plan.chance, {}};
    auto spec = [&](const std::string &axis, double value) {
      std::string text = plan.task, separator = ":", tail;
      for (const Sweep &sweep : plan.sweeps) {
        std::string item =
            fmt::format("{}={}", sweep.axis, sweep.axis == axis ? value : sweep.baseline);
        if (sweep.axis == std::string("train_examples")) {
          tail = ";" + item;
          continue;
        }
        text += separator + item;
        separator = ",";
      }
      return text + separator + plan.fixed + tail;
    };
    suite.places.push_back({spec("", 0), "baseline", plan.sweeps[0].baseline, 0});
    if (sweeps)
      for (const Sweep &sweep : plan.sweeps)
        for (size_t i = 0; i < sweep.values.size(); ++i)
          suite.places.push_back({spec(sweep.axis, sweep.values[i]), sweep.axis, sweep.values[i],
                                  sweep.slope * static_cast<double>(i + 1) /
                                      static_cast<double>(sweep.values.size())});
    all.push_back(std::move(suite));
  }
  return all;
}

class Maker {
public:
  explicit Maker(const StudyShape &shape) : shape(shape), random(shape.seed) {}

  Study make() {
    Study study;
    study.convention = "paper";
    study.suite = shape.sweeps ? "full" : "baseline";
    study.version = "hybrid 0.1.0";
    study.seed = 12345;
    study.command = "hybrid-run mad";
    study.options = {{"betas", "0.9, 0.98"},
                     {"schedule", "cosine to 1e-6"},
                     {"batch", "128"},
                     {"epochs", "200"}};
    for (size_t i = 0; i < shape.architectures; ++i) {
      Architecture each;
      each.name = kinds[i].name;
      each.path = fmt::format("models/mad/{}.hyb", kinds[i].name);
      each.source = fmt::format(
          "use std.mixers\n\n/// Not a model: text where the report shows one.\nmodel {}(vocab: "
          "int = 16, width: int = 128) {{\n  input tokens: int[B, L]\n  let x = embed(tokens, "
          "vocab, width)\n  output logits = untied(rmsnorm(x), vocab)\n}}\n",
          i);
      each.parameters = kinds[i].parameters;
      each.flopsPerToken = kinds[i].flops;
      each.state = each.countedState = StateSize{kinds[i].state, 0};
      study.command += " " + each.path;
      study.architectures.push_back(std::move(each));
    }
    study.command += fmt::format(" --suite {} --seed 12345 --out results/mad", study.suite);
    std::vector<Suite> all = suites(shape.sweeps);
    for (size_t task = 0; task < all.size(); ++task)
      for (const Place &place : all[task].places)
        for (size_t i = 0; i < shape.architectures; ++i)
          for (double rate : {1e-4, 5e-4, 1e-3})
            for (double decay : {0.0, 0.1})
              for (int64_t seed = 0; seed < shape.seeds; ++seed)
                study.runs.push_back(makeRun(all[task], place, task, i, rate, decay, seed));
    return study;
  }

private:
  double uniform() { return std::uniform_real_distribution<>(0, 1)(random); }

  Run makeRun(const Suite &suite, const Place &place, size_t task, size_t i, double rate,
              double decay, int64_t seed) {
    const Kind &kind = kinds[i];
    Run run;
    run.id = ++last;
    run.architecture = kind.name;
    run.task = suite.task;
    run.setting = place.setting;
    run.axis = place.axis;
    run.axisValue = place.value;
    run.learningRate = rate;
    run.weightDecay = decay;
    run.seed = 12345 + static_cast<uint64_t>(seed);
    run.status = "done";
    run.attempts = 1;
    run.chance = suite.chance;
    run.batch = 128;
    run.steps = 20000;
    run.parameters = kind.parameters;
    run.flopsPerToken = kind.flops;
    run.stateElements = kind.state;
    double final = kind.strength[task] * (1 - place.hardness * (1.25 - kind.strength[task] * 0.9));
    final *= rate == 5e-4 ? 1 : rate == 1e-3 ? 0.985 : 0.93;
    final = std::clamp(final + 0.02 * (uniform() - 0.5), suite.chance, 1.0);
    if (kind.strength[task] > 0.99 && final > 0.97)
      final = 1 - 0.003 * uniform();
    if (shape.failures && run.id % 911 == 7) {
      run.status = "failed";
      run.diverged = true;
      run.error =
          "step 431: the loss is not finite; first in gated_fftconv at models/mad/hyena.hyb:12:9";
      final = suite.chance;
    } else if (shape.failures && run.id % 1777 == 11) {
      run.status = "failed";
      run.error = "out of memory: 12.4 GB are needed and 11.9 GB are free";
      return run;
    } else if (shape.failures && run.id % 1499 == 1400) {
      run.status = "pending";
      return run;
    }
    double centre = 0.08 + 0.5 * uniform() * (1 - final), width = 0.02 + 0.08 * uniform();
    double chanceLoss = -std::log(suite.chance);
    for (int64_t epoch = 1; epoch <= 200; epoch += 2) {
      double t = static_cast<double>(epoch) / 200,
             learned = 1 / (1 + std::exp((centre - t) / width));
      double noise = 0.012 * (uniform() - 0.5) * (final < 0.99 ? 1 : 0.2);
      CurvePoint point;
      point.step = epoch * 100;
      point.accuracy =
          std::clamp(suite.chance + (final - suite.chance) * learned + noise, 0.0, 1.0);
      point.madAccuracy =
          std::clamp(point.accuracy - 0.3 * (1 - point.accuracy) * uniform(), 0.0, 1.0);
      point.loss = std::max(0.002, chanceLoss * (1 - point.accuracy) * (1 + 0.1 * uniform()) +
                                       (t > 0.6 && final < 0.6 ? 0.4 * (t - 0.6) : 0));
      if (run.diverged && epoch > 40) {
        point.loss = point.accuracy = point.madAccuracy = std::numeric_limits<double>::quiet_NaN();
        run.curve.push_back(point);
        break;
      }
      run.curve.push_back(point);
      if (run.bestStep == 0 || point.loss < run.loss) {
        run.bestStep = point.step;
        run.loss = point.loss;
        run.accuracy = point.accuracy;
        run.madAccuracy = point.madAccuracy;
      }
    }
    run.stepsDone = run.curve.back().step;
    run.seconds = 60 + 200 * uniform();
    return run;
  }

  StudyShape shape;
  std::mt19937_64 random;
  int64_t last = 0;
};

} // namespace

Study makeStudy(const StudyShape &shape) { return Maker(shape).make(); }

} // namespace hybrid::rt::lab::test
