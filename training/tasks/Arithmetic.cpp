//===- Arithmetic.cpp - addition, digit by digit ----------------------------===//
//
// Addition (Poli et al. 2023, section 4.1 and appendix C.1): two numbers of `digits` digits and
// their sum of one more, most significant digit first and no sign between: 47 + 85 is 4 7 8 5 1
// 3 2. The digits of the sum are targets, the earlier ones visible. Operands are uniform over the
// strings of digits, zeros in front included. A tenth of the pairs of operands belongs to the test
// split and is never trained on, a + b and b + a together, whatever the seed. Ids are the digits.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Arithmetic.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include "training/tasks/SequenceWriter.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

using Digits = std::vector<int32_t>;

class Arithmetic final : public Task {
public:
  Arithmetic(std::string name, Settings settings, int64_t digits)
      : Task(std::move(name), std::move(settings)), digits(digits) {}

  int64_t vocabulary() const override { return 10; }
  int64_t positions() const override { return 3 * digits; }
  uint64_t epochExamples() const override { return 2000; }
  void draw(Instance &instance) const override;
  std::string spell(int32_t token) const override { return fmt::format("{}", token); }

private:
  int64_t digits;
};

Split splitOf(const Digits &a, const Digits &b) {
  auto [less, more] = std::minmax(a, b);
  uint64_t hash = 0;
  for (const Digits *number : {&less, &more})
    for (int32_t digit : *number)
      hash = mixBits(hash ^ static_cast<uint64_t>(digit));
  return hash % 10 == 0 ? Split::Test : Split::Train;
}

Digits sumOf(const Digits &a, const Digits &b) {
  Digits sum(a.size() + 1);
  int32_t carry = 0;
  for (size_t i = a.size(); i > 0; --i) {
    int32_t digit = a[i - 1] + b[i - 1] + carry;
    sum[i] = digit % 10;
    carry = digit / 10;
  }
  sum[0] = carry;
  return sum;
}

void Arithmetic::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  Digits a(static_cast<size_t>(digits)), b(a.size());
  do {
    for (Digits *number : {&a, &b})
      for (int32_t &digit : *number)
        digit = drawToken(rng, 0, 10);
  } while (splitOf(a, b) != split);
  SequenceWriter sequence(inputs, targets);
  for (const Digits *number : {&a, &b})
    for (int32_t digit : *number)
      sequence.emit(digit, false);
  for (int32_t digit : sumOf(a, b))
    sequence.emit(digit, true);
}

} // namespace

Result<std::unique_ptr<Task>> createArithmetic(TaskParameters &parameters, Convention) {
  int64_t digits = parameters.integer("digits", 4, 1, int64_t{1} << 20);
  return finishTask<Arithmetic>(parameters, digits);
}

} // namespace hybrid::rt
