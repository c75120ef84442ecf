//===- ModularArithmetic.cpp - expressions modulo a number ------------------===//
//
// Modular arithmetic (Deletang et al. 2022, "Neural networks and the Chomsky hierarchy"; in the
// form of Grazzi et al. 2024, appendix D): an expression of digits, "=", and its value modulo
// `modulus`. Without brackets + - and * stand between digits, and * binds first: a regular
// language. With brackets it is d, -d, (d), (-d), or (left op right) with + and -: one needs a
// stack. Ids without brackets: 0 is padding, then + - * =, then the digits; with them: the digits,
// + - * ( ) =, padding.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/ModularArithmetic.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/SequenceWriter.h"
#include "training/tasks/Sizes.h"

namespace hybrid::rt {
namespace {

struct ModularArithmeticConfig : Sizes {
  int64_t modulus = 5, vocab = 10;
  bool brackets = false;

  auto first() const { return static_cast<int32_t>(brackets ? modulus : 1); } // of + - *
  auto digit(int64_t value) const { return static_cast<int32_t>(brackets ? value : value + 5); }
  int32_t open() const { return first() + 3; }
  int32_t close() const { return first() + 4; }
  int32_t equals() const { return first() + (brackets ? 5 : 3); }
  int32_t padding() const { return brackets ? first() + 6 : 0; }
};

class ModularArithmetic final : public ConfiguredTask<ModularArithmeticConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t answers() const override { return config.modulus; }
  void draw(Instance &instance) const override {
    auto &[seed, split, rng, inputs, targets] = instance;
    SequenceWriter sequence(inputs, targets);
    const int64_t size = config.draw(split, rng);
    const int64_t value =
        config.brackets ? bracketed(sequence, rng, size - 2) : plain(sequence, rng, (size - 1) / 2);
    sequence.emit(config.equals(), false);
    sequence.emit(config.digit(reduced(value)), true);
    const int64_t emitted = config.brackets ? size : 2 * ((size - 1) / 2) + 1;
    for (int64_t i = emitted; i <= config.length; ++i)
      sequence.emit(config.padding(), false);
  }
  std::string spell(int32_t token) const override {
    if (token == config.padding())
      return "_";
    if (token == config.equals())
      return "=>";
    const int32_t sign = token - config.first();
    if (sign >= 0 && sign < (config.brackets ? 5 : 3))
      return std::string("c") + "+-*()"[sign];
    return fmt::format("c{}", token - config.digit(0));
  }

private:
  int64_t reduced(int64_t value) const {
    return (value % config.modulus + config.modulus) % config.modulus;
  }
  int64_t drawDigit(SequenceWriter &sequence, Rng &rng) const {
    const auto value = static_cast<int64_t>(rng.below(static_cast<uint64_t>(config.modulus)));
    sequence.emit(config.digit(value), false);
    return value;
  }

  /// `digits` of them with signs between.
  int64_t plain(SequenceWriter &sequence, Rng &rng, int64_t digits) const {
    int64_t sum = 0, product = drawDigit(sequence, rng);
    for (int64_t i = 1; i < digits; ++i) {
      const auto sign = static_cast<int32_t>(rng.below(3));
      sequence.emit(config.first() + sign, false);
      const int64_t value = drawDigit(sequence, rng);
      if (sign == 2) {
        product = reduced(product * value);
      } else {
        sum = reduced(sum + product);
        product = sign == 0 ? value : -value;
      }
    }
    return sum + product;
  }

  /// An expression of `tokens` tokens. Depth is at most a quarter of them.
  int64_t bracketed(SequenceWriter &sequence, Rng &rng, int64_t tokens) const {
    if (tokens < 5) {
      if (tokens >= 3)
        sequence.emit(config.open(), false);
      if (tokens % 2 == 0)
        sequence.emit(config.first() + 1, false);
      const int64_t value = drawDigit(sequence, rng);
      if (tokens >= 3)
        sequence.emit(config.close(), false);
      return tokens % 2 == 0 ? -value : value;
    }
    sequence.emit(config.open(), false);
    const auto left = 1 + static_cast<int64_t>(rng.below(static_cast<uint64_t>(tokens - 4)));
    const int64_t first = bracketed(sequence, rng, left);
    const auto sign = static_cast<int32_t>(rng.below(2));
    sequence.emit(config.first() + sign, false);
    const int64_t second = bracketed(sequence, rng, tokens - 3 - left);
    sequence.emit(config.close(), false);
    return reduced(sign == 0 ? first + second : first - second);
  }
};

} // namespace

Result<std::unique_ptr<Task>> createModularArithmetic(TaskParameters &parameters, Convention) {
  ModularArithmeticConfig config;
  config.modulus = parameters.integer("modulus", config.modulus, 2, 1000000);
  config.brackets = parameters.boolean("brackets", config.brackets);
  static_cast<Sizes &>(config) = Sizes::of(parameters, 3);
  config.vocab = config.modulus + (config.brackets ? 7 : 5);
  return finishTask<ModularArithmetic>(parameters, config);
}

} // namespace hybrid::rt
