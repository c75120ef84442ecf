//===- DataSource.cpp - data sets as sources of instances -------------------===//
#include "training/data/DataSource.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {

std::vector<uint64_t> mixtureShares(std::span<const double> weights) {
  double left = 0;
  for (double weight : weights)
    left += weight;
  std::vector<uint64_t> shares;
  for (size_t i = 0; i < weights.size(); ++i) {
    bool isLast = i + 1 == weights.size() || left <= 0;
    shares.push_back(isLast ? uint64_t{1} << 32
                            : static_cast<uint64_t>(std::min(1.0, weights[i] / left) * 0x1p32));
    left -= weights[i];
  }
  return shares;
}

MixturePlace mixturePlace(std::span<const uint64_t> shares, uint64_t number) {
  // Of the first n instances that reach a source, floor(n share / 2^32) are its own.
  auto ownBefore = [](uint64_t n, uint64_t share) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(n) * share >> 32);
  };
  for (size_t i = 0;; ++i) {
    uint64_t before = ownBefore(number, shares[i]);
    if (i + 1 == shares.size() || ownBefore(number + 1, shares[i]) > before)
      return {i, i + 1 == shares.size() ? number : before};
    number -= before;
  }
}

namespace {

class MixtureSource final : public Source {
public:
  MixtureSource(std::vector<std::unique_ptr<Source>> sources, std::vector<double> weights)
      : sources(std::move(sources)), weights(std::move(weights)),
        shares(mixtureShares(this->weights)) {
    const Tokenizer *first = this->sources[0]->tokenizer();
    const bool isShared =
        first && std::all_of(this->sources.begin(), this->sources.end(), [&](const auto &source) {
          return source->tokenizer() && source->tokenizer()->identity() == first->identity();
        });
    shared = isShared ? first : nullptr;
  }

  int64_t vocabulary() const override {
    int64_t most = 0;
    for (const auto &source : sources)
      most = std::max(most, source->vocabulary());
    return most;
  }
  int64_t answers() const override {
    int64_t most = 0;
    for (const auto &source : sources)
      most = std::max(most, source->answers());
    return most;
  }
  int64_t positions() const override { return sources[0]->positions(); }
  uint64_t epochExamples() const override {
    uint64_t sum = 0;
    for (const auto &source : sources)
      sum += source->epochExamples();
    return sum;
  }
  uint64_t testExamples() const override {
    uint64_t sum = 0;
    for (const auto &source : sources)
      sum += source->testExamples();
    return sum;
  }
  const Tokenizer *tokenizer() const override { return shared; }
  double bytesPerToken() const override { // of tokens that are not bytes it depends on the shares
    return std::all_of(sources.begin(), sources.end(),
                       [](const auto &source) { return source->bytesPerToken() == 1; })
               ? 1
               : 0;
  }
  bool predictsNext() const override {
    return std::any_of(sources.begin(), sources.end(),
                       [](const auto &source) { return source->predictsNext(); });
  }
  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    MixturePlace place = mixturePlace(shares, number);
    sources[place.source]->train(place.number, inputs, targets);
  }
  void test(uint64_t i, uint64_t count, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    uint64_t all = testExamples();
    uint64_t at = count == all
                      ? i
                      : static_cast<uint64_t>(static_cast<double>(i) * static_cast<double>(all) /
                                              static_cast<double>(count));
    for (const auto &source : sources) {
      uint64_t size = source->testExamples();
      if (at < size)
        return source->test(at, size, inputs, targets);
      at -= size;
    }
  }
  nlohmann::json describe() const override {
    nlohmann::json parts = nlohmann::json::array();
    for (size_t i = 0; i < sources.size(); ++i)
      parts.push_back({{"weight", weights[i]}, {"source", sources[i]->describe()}});
    return {{"mixture", parts}};
  }
  std::string shortName() const override { return "mixture"; }

private:
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<double> weights;
  std::vector<uint64_t> shares;
  const Tokenizer *shared; // of all sources; null where they differ
};

} // namespace

static Result<std::unique_ptr<Source>> makeOne(const DataSpec &spec, int64_t length, uint64_t seed,
                                               uint64_t dataSeed) {
  bool isPlain =
      spec.options.empty() || (spec.options.size() == 1 && spec.options.contains("weight"));
  if (spec.kind == "text" && isPlain)
    return makeTextSource(spec.path, length, seed, dataSeed);
  if (spec.kind == "idx" || spec.kind == "png")
    return makeImageSource(spec, length, seed, dataSeed);
  if (spec.options.contains("label") && spec.kind != "tokens")
    return makeLabelledSource(spec, length, seed, dataSeed);
  return makeTokenSource(spec, length, seed, dataSeed);
}

Result<std::unique_ptr<Source>> makeDataSource(std::span<const DataSpec> specs, int64_t length,
                                               uint64_t seed, uint64_t dataSeed) {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<double> weights;
  for (const DataSpec &spec : specs) {
    Result<double> weight = spec.number("weight", 1, 1e-6, 1e6);
    if (!weight)
      return weight.error();
    Result<std::unique_ptr<Source>> source = makeOne(spec, length, seed, dataSeed);
    if (!source)
      return source.error();
    if (!sources.empty() && (*source)->positions() != sources[0]->positions())
      return Error{fmt::format("--data {}:{}: instances have {} positions, those of the first data "
                               "{}",
                               spec.kind, spec.path, (*source)->positions(),
                               sources[0]->positions())};
    weights.push_back(*weight);
    sources.push_back(std::move(*source));
  }
  if (sources.size() == 1)
    return std::move(sources[0]);
  return std::unique_ptr<Source>(
      std::make_unique<MixtureSource>(std::move(sources), std::move(weights)));
}

Result<int64_t> positionsOf(const std::string &text) {
  Result<DataSpec> spec = DataSpec::parse(text);
  if (!spec)
    return spec.error();
  if (spec->kind != "idx" && spec->kind != "png")
    return int64_t{0};
  Result<std::unique_ptr<Source>> source = makeImageSource(*spec, 0, 0, 0);
  if (!source)
    return source.error();
  return (*source)->positions();
}

} // namespace hybrid::rt
