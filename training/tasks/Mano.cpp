//===- Mano.cpp - expressions in prefix form, modulo a number ---------------===//
//
// Mental arithmetic (Allen-Zhu 2025, "Physics of language models: part 4.1", task Mano; in the form
// of its generator, without synonyms): how many operators there are, an expression of + - * and
// numbers in prefix form, and its value modulo `modulus`, without a step in between. 1 to
// `operators` of them in training, all of them in tests. An operator gives its left side any share
// of those that are left, evenly. Ids: the numbers, + - *, begin, the question, padding, and a sign
// for each count of operators.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Mano.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include "training/tasks/SequenceWriter.h"

namespace hybrid::rt {
namespace {

struct ManoConfig {
  int64_t operators = 10, modulus = 23, vocab = 0, length = 0;

  int32_t id(int64_t behindNumbers) const { return static_cast<int32_t>(modulus + behindNumbers); }
  int32_t begin() const { return id(3); }
  int32_t question() const { return id(4); }
  int32_t padding() const { return id(5); }
  int32_t count(int64_t operatorsOfIt) const { return id(5 + operatorsOfIt); }
};

class Mano final : public ConfiguredTask<ManoConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t answers() const override { return config.modulus; }
  void draw(Instance &instance) const override {
    auto &[seed, split, rng, inputs, targets] = instance;
    SequenceWriter sequence(inputs, targets);
    const int64_t operators = split == Split::Train ? drawToken(rng, 1, config.operators)
                                                    : static_cast<int32_t>(config.operators);
    sequence.emit(config.begin(), false);
    sequence.emit(config.count(operators), false);
    const int64_t value = expression(sequence, rng, operators);
    sequence.emit(config.question(), false);
    sequence.emit(static_cast<int32_t>(value), true);
    for (int64_t i = operators; i < config.operators; ++i)
      for (int part = 0; part < 2; ++part)
        sequence.emit(config.padding(), false);
  }
  std::string spell(int32_t token) const override {
    if (token < config.modulus)
      return fmt::format("c{}", token);
    if (token < config.begin())
      return std::string("c") + "+-*"[token - config.modulus];
    if (token == config.question())
      return "=>";
    if (token > config.padding())
      return fmt::format("n{}", token - config.padding());
    return token == config.padding() ? "_" : "^";
  }

private:
  int64_t expression(SequenceWriter &sequence, Rng &rng, int64_t operators) const {
    if (operators == 0) {
      const int32_t value = drawToken(rng, 0, config.modulus);
      sequence.emit(value, false);
      return value;
    }
    const int32_t sign = drawToken(rng, 0, 3);
    sequence.emit(config.id(sign), false);
    const int64_t left = drawToken(rng, 0, operators);
    const int64_t first = expression(sequence, rng, left),
                  second = expression(sequence, rng, operators - 1 - left),
                  value = sign == 0   ? first + second
                          : sign == 1 ? first - second + config.modulus
                                      : first * second;
    return value % config.modulus;
  }
};

} // namespace

Result<std::unique_ptr<Task>> createMano(TaskParameters &parameters, Convention) {
  ManoConfig config;
  config.operators = parameters.integer("operators", config.operators, 1, 4096);
  config.modulus = parameters.integer("modulus", config.modulus, 2, 1000000);
  config.vocab = config.modulus + 6 + config.operators;
  config.length = 2 * config.operators + 4;
  return finishTask<Mano>(parameters, config);
}

} // namespace hybrid::rt
