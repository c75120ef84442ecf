//===- Compression.cpp - a sequence in one position -------------------------===//
//
// MAD's compression (Poli et al. 2024, section 3.1 and appendix B): random content that ends with
// the compression token, and all of it, that token included, is to be told again. The task means
// something only to a model that decodes from the last position alone: the layer auto_encoder of
// std.heads. A model that sees each input at its own output just copies. Ids: content from 0, the
// compression token vocab-1.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Compression.h"
#include "training/tasks/InstanceRng.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

class Compression final : public Task {
public:
  Compression(std::string name, Settings settings, int64_t vocab, int64_t length)
      : Task(std::move(name), std::move(settings)), vocab(vocab), length(length) {}

  int64_t vocabulary() const override { return vocab; }
  int64_t positions() const override { return length; }
  bool takesNoPadding() const override { return true; }
  void generate(uint64_t seed, Split split, uint64_t index, std::span<int32_t> inputs,
                std::span<int32_t> targets) const override {
    Rng rng = instanceRng(seed, split, index);
    for (int32_t &token : inputs.first(inputs.size() - 1))
      token = drawToken(rng, 0, vocab - 1);
    inputs.back() = static_cast<int32_t>(vocab - 1);
    std::copy(inputs.begin(), inputs.end(), targets.begin());
  }
  std::string spell(int32_t token) const override {
    return token < vocab - 1 ? fmt::format("c{}", token) : "=>";
  }

private:
  int64_t vocab, length;
};

} // namespace

Result<std::unique_ptr<Task>> createCompression(TaskParameters &parameters, Convention) {
  int64_t vocab = parameters.integer("vocab", 16, 2, int64_t{1} << 30);
  int64_t length = parameters.integer("length", 32, 2, int64_t{1} << 24);
  if (auto done = parameters.finish(); !done)
    return done.error();
  return std::unique_ptr<Task>(
      std::make_unique<Compression>(parameters.task(), parameters.resolved(), vocab, length));
}

} // namespace hybrid::rt
