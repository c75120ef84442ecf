//===- TokenSource.cpp - tokens as a source of instances --------------------===//
#include "training/data/DataSource.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

class TokenSource final : public Source {
public:
  TokenSource(TokenSet tokens, int64_t length, Packing packing, std::string packingName,
              std::string name, uint64_t seed)
      : set(std::move(tokens)), length(length), packingName(std::move(packingName)),
        name(std::move(name)), seed(seed), trainWindows(set.train, length, packing),
        testWindows(set.validation, length, packing) {}

  bool isLongEnough() const { return trainWindows.windows() > 0 && testWindows.windows() > 0; }

  int64_t vocabulary() const override { return set.vocabulary; }
  int64_t positions() const override { return length; }
  uint64_t epochExamples() const override { return trainWindows.windows(); }
  uint64_t testExamples() const override { return testWindows.windows(); }
  const Tokenizer *tokenizer() const override { return set.tokenizer.get(); }
  bool predictsNext() const override { return true; }
  double bytesPerToken() const override {
    return static_cast<double>(set.validation.bytes) /
           static_cast<double>(set.validation.tokens.size());
  }

  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    trainWindows.copy(trainWindows.trainingPlace(number, seed), inputs, targets, {});
  }
  void test(uint64_t i, uint64_t count, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    // A part of the windows is taken evenly from all.
    uint64_t all = testWindows.windows();
    auto window = static_cast<uint64_t>(static_cast<double>(i) * static_cast<double>(all) /
                                        static_cast<double>(count));
    testWindows.copy(testWindows.place(count == all ? i : window), inputs, targets, {});
  }

  nlohmann::json describe() const override {
    nlohmann::json description = set.description;
    description["positions"] = length;
    description["pack"] = packingName;
    description["validation_windows"] = testWindows.windows();
    return description;
  }
  std::string shortName() const override { return name; }

private:
  TokenSet set;
  int64_t length;
  std::string packingName, name;
  uint64_t seed;
  TokenWindows trainWindows, testWindows; // of `set`
};

} // namespace

Result<TokenSet> openTokens(const DataSpec &spec, uint64_t dataSeed) {
  Result<void> known =
      spec.kind == "tokens"
          ? spec.allowOnly(
                {"validation", "fraction", "vocabulary", "bytes", "tokenizer", "pack", "weight"})
          : spec.allowOnly({"tokenizer", "split", "separator", "field", "pack", "weight"});
  if (!known)
    return known.error();
  return spec.kind == "tokens" ? TokenSet::open(spec) : TokenSet::tokenize(spec, dataSeed);
}

Result<std::unique_ptr<Source>> makeTokenSource(const DataSpec &spec, int64_t length, uint64_t seed,
                                                uint64_t dataSeed) {
  std::string packingName = spec.option("pack", "stream");
  Result<Packing> packing = packingOf(packingName);
  if (!packing)
    return packing.error();
  Result<TokenSet> set = openTokens(spec, dataSeed);
  if (!set)
    return set.error();
  bool lacksDocuments = set->train.documents.empty() || set->validation.documents.empty();
  if (*packing != Packing::Stream && lacksDocuments)
    return Error{fmt::format("--data {}:{}: pack={} needs to know the documents of both splits",
                             spec.kind, spec.path, packingName)};
  uint64_t train = set->train.tokens.size(), held = set->validation.tokens.size();
  auto source =
      std::make_unique<TokenSource>(std::move(*set), length, *packing, packingName,
                                    std::filesystem::path(spec.path).stem().string(), seed);
  if (!source->isLongEnough())
    return Error{fmt::format("--data {}:{}: {} tokens for training and {} for validation are too "
                             "few for windows of length {}; choose a smaller --length or another "
                             "split",
                             spec.kind, spec.path, train, held, length)};
  return std::unique_ptr<Source>(std::move(source));
}

} // namespace hybrid::rt
