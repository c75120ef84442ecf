//===- RenumberedSource.cpp - the training instances of a source in another order ---===//
#include "training/data/RenumberedSource.h"
#include <utility>

namespace hybrid::rt {
namespace {

/// As another source but for the numbers of training instances; it holds no set that is shuffled.
class RenumberedSource : public Source {
public:
  explicit RenumberedSource(std::unique_ptr<Source> source) : inner(std::move(source)) {}
  int64_t vocabulary() const override { return inner->vocabulary(); }
  int64_t positions() const override { return inner->positions(); }
  int64_t inputNumbers() const override { return inner->inputNumbers(); }
  double referenceLoss(uint64_t count) const override { return inner->referenceLoss(count); }
  bool takesNoPadding() const override { return inner->takesNoPadding(); }
  uint64_t epochExamples() const override { return inner->epochExamples(); }
  uint64_t testExamples() const override { return inner->testExamples(); }
  const Tokenizer *tokenizer() const override { return inner->tokenizer(); }
  bool predictsNext() const override { return inner->predictsNext(); }
  int64_t answers() const override { return inner->answers(); }
  double bytesPerToken() const override { return inner->bytesPerToken(); }
  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    inner->train(renumbered(number), inputs, targets);
  }
  void test(uint64_t i, uint64_t count, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    inner->test(i, count, inputs, targets);
  }
  nlohmann::json describe() const override { return inner->describe(); }
  std::string shortName() const override { return inner->shortName(); }

protected:
  virtual uint64_t renumbered(uint64_t number) const = 0;

private:
  std::unique_ptr<Source> inner;
};

class RepeatedBatch final : public RenumberedSource {
public:
  RepeatedBatch(std::unique_ptr<Source> source, uint64_t sequences)
      : RenumberedSource(std::move(source)), sequences(sequences) {}
  nlohmann::json describe() const override {
    nlohmann::json description = RenumberedSource::describe();
    description["overfit_batch"] = sequences;
    return description;
  }

private:
  uint64_t renumbered(uint64_t number) const override { return number % sequences; }
  uint64_t sequences;
};

class BegunLater final : public RenumberedSource {
public:
  BegunLater(std::unique_ptr<Source> source, uint64_t first, nlohmann::json description)
      : RenumberedSource(std::move(source)), first(first), description(std::move(description)) {}
  nlohmann::json describe() const override { return description; }

private:
  uint64_t renumbered(uint64_t number) const override { return number - first; }
  uint64_t first;
  nlohmann::json description;
};

} // namespace

std::unique_ptr<Source> repeatFirstBatch(std::unique_ptr<Source> source, uint64_t sequences) {
  return std::make_unique<RepeatedBatch>(std::move(source), sequences);
}

std::unique_ptr<Source> beginAt(std::unique_ptr<Source> source, uint64_t first,
                                nlohmann::json description) {
  return std::make_unique<BegunLater>(std::move(source), first, std::move(description));
}

} // namespace hybrid::rt
