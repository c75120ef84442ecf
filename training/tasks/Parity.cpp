//===- Parity.cpp - whether the number of ones is odd -----------------------===//
//
// Parity (Grazzi et al. 2024, "Unlocking state-tracking in linear RNNs through negative
// eigenvalues", section 5.1 and appendix D): random bits, then the answer, whether the number of
// ones is odd, as one more bit; the last bit asks for it. A recurrence whose transitions have no
// negative eigenvalue cannot solve it at any length. Ids: 0 is padding, 1 and 2 are the bits.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Parity.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/SequenceWriter.h"
#include "training/tasks/Sizes.h"

namespace hybrid::rt {
namespace {

struct ParityConfig : Sizes {
  int64_t vocab = 3;
};

class Parity final : public ConfiguredTask<ParityConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t answers() const override { return 2; }
  void draw(Instance &instance) const override {
    auto &[seed, split, rng, inputs, targets] = instance;
    SequenceWriter sequence(inputs, targets);
    const int64_t bits = config.draw(split, rng) - 1;
    int32_t ones = 0;
    for (int64_t i = 0; i < bits; ++i) {
      const auto bit = static_cast<int32_t>(rng.below(2));
      ones += bit;
      sequence.emit(1 + bit, false);
    }
    sequence.emit(1 + ones % 2, true);
    for (int64_t i = bits + 1; i <= config.length; ++i)
      sequence.emit(0, false);
  }
  std::string spell(int32_t token) const override {
    return token == 0 ? "_" : fmt::format("c{}", token - 1);
  }
};

} // namespace

Result<std::unique_ptr<Task>> createParity(TaskParameters &parameters, Convention) {
  return finishTask<Parity>(parameters, ParityConfig{Sizes::of(parameters, 2)});
}

} // namespace hybrid::rt
