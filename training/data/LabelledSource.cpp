//===- LabelledSource.cpp - sequences and the class that each is of ---------===//
//
// label=folder: the folders of a path, sorted, are the classes. An instance is a window of the
// tokens of one class, which is asked at its last position. Classes come in turn, so that each has
// the same share of training and of test instances however much there is of it.
//
//===----------------------------------------------------------------------===//
#include "training/data/DataSource.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {
namespace fs = std::filesystem;

/// One class: its tokens, and the windows of both splits.
struct LabelledClass {
  LabelledClass(std::string name, TokenSet tokens, int64_t length)
      : name(std::move(name)), set(std::move(tokens)), train(set.train, length, Packing::Stream),
        test(set.validation, length, Packing::Stream) {}

  std::string name;
  TokenSet set;
  TokenWindows train, test; // of `set`
};

class LabelledSource final : public Source {
public:
  LabelledSource(std::vector<std::unique_ptr<LabelledClass>> all, int64_t length, std::string name,
                 uint64_t seed)
      : classes(std::move(all)), length(length), name(std::move(name)), seed(seed) {
    testWindows = classes[0]->test.windows();
    for (const auto &each : classes) {
      trainWindows = std::max(trainWindows, each->train.windows());
      testWindows = std::min(testWindows, each->test.windows());
    }
  }

  int64_t vocabulary() const override { return classes[0]->set.vocabulary; }
  int64_t answers() const override { return static_cast<int64_t>(classes.size()); }
  int64_t positions() const override { return length; }
  uint64_t epochExamples() const override { return trainWindows * classes.size(); }
  uint64_t testExamples() const override { return testWindows * classes.size(); }
  const Tokenizer *tokenizer() const override { return classes[0]->set.tokenizer.get(); }
  double bytesPerToken() const override { return 0; } // classes are predicted

  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    const TokenWindows &windows = classes[number % classes.size()]->train;
    copy(number, windows, windows.trainingPlace(number / classes.size(), seed), inputs, targets);
  }
  void test(uint64_t i, uint64_t count, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    // A part of a class's windows is taken evenly from all.
    const TokenWindows &windows = classes[i % classes.size()]->test;
    const uint64_t each = (count + classes.size() - 1) / classes.size();
    const auto window = static_cast<uint64_t>(static_cast<unsigned __int128>(i / classes.size()) *
                                              windows.windows() / each);
    copy(i, windows, windows.place(window), inputs, targets);
  }
  nlohmann::json describe() const override {
    nlohmann::json parts = nlohmann::json::array();
    for (const auto &each : classes)
      parts.push_back({{"class", each->name},
                       {"source", each->set.description},
                       {"train_windows", each->train.windows()},
                       {"validation_windows", each->test.windows()}});
    return {{"label", "folder"}, {"positions", length}, {"classes", parts}};
  }
  std::string shortName() const override { return name; }

private:
  void copy(uint64_t number, const TokenWindows &windows, TokenWindows::Place place,
            std::span<int32_t> inputs, std::span<int32_t> targets) const {
    windows.copy(place, inputs, targets, {});
    std::fill(targets.begin(), targets.end(), ignoredTarget);
    targets[static_cast<size_t>(length) - 1] = static_cast<int32_t>(number % classes.size());
  }

  std::vector<std::unique_ptr<LabelledClass>> classes;
  int64_t length;
  std::string name;
  uint64_t seed, trainWindows = 0, testWindows = 0;
};

Result<std::vector<std::string>> foldersOf(const std::string &path) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(path, error))
    if (entry.is_directory(error) && !entry.path().filename().string().starts_with('.'))
      folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end());
  if (folders.size() < 2)
    return Error{fmt::format("label=folder: '{}' has {} folders, but a class needs one and there "
                             "must be two classes",
                             path, folders.size())};
  return folders;
}

} // namespace

Result<std::unique_ptr<Source>> makeLabelledSource(const DataSpec &spec, int64_t length,
                                                   uint64_t seed, uint64_t dataSeed) {
  if (Result<void> known =
          spec.allowOnly({"label", "tokenizer", "split", "separator", "field", "weight"});
      !known)
    return known.error();
  const std::string where = fmt::format("--data {}:{}", spec.kind, spec.path);
  if (spec.option("label", "") != "folder")
    return Error{fmt::format("{}: label={}: expected folder", where, spec.option("label", ""))};
  Result<std::vector<std::string>> folders = foldersOf(spec.path);
  if (!folders)
    return Error{fmt::format("{}: {}", where, folders.error().message)};
  std::vector<std::unique_ptr<LabelledClass>> classes;
  for (const std::string &folder : *folders) {
    DataSpec one = spec;
    one.path = folder;
    Result<TokenSet> set = TokenSet::tokenize(one, dataSeed);
    if (!set)
      return Error{fmt::format("{}: {}", where, set.error().message)};
    classes.push_back(std::make_unique<LabelledClass>(fs::path(folder).filename().string(),
                                                      std::move(*set), length));
    const LabelledClass &made = *classes.back();
    if (made.train.windows() == 0 || made.test.windows() == 0)
      return Error{fmt::format("{}: class '{}' has {} tokens for training and {} for validation, "
                               "too few for windows of length {}; choose a smaller --length or "
                               "another split",
                               where, made.name, made.set.train.tokens.size(),
                               made.set.validation.tokens.size(), length)};
  }
  fs::path path(spec.path);
  return std::unique_ptr<Source>(std::make_unique<LabelledSource>(
      std::move(classes), length, (path.has_filename() ? path : path.parent_path()).stem().string(),
      seed));
}

} // namespace hybrid::rt
