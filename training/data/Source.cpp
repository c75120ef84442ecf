//===- Source.cpp - where training and test instances come from -------------===//
#include "training/data/Source.h"
#include "executable/Permutation.h"
#include "training/tokenizers/SimpleTokenizers.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

class TaskSource final : public Source {
public:
  TaskSource(std::unique_ptr<Task> task, Convention convention, const TaskSourceOptions &options)
      : task(std::move(task)), convention(convention), options(options) {}

  int64_t vocabulary() const override { return task->vocabulary(); }
  int64_t positions() const override { return task->positions(); }
  int64_t inputNumbers() const override { return task->inputNumbers(); }
  double referenceLoss(uint64_t count) const override {
    double sum = 0;
    for (uint64_t i = 0; i < count; ++i)
      sum += task->referenceLoss(options.dataSeed, Split::Test, i);
    return sum / static_cast<double>(count);
  }
  bool takesNoPadding() const override { return task->takesNoPadding(); }
  uint64_t epochExamples() const override {
    return options.trainExamples ? options.trainExamples : task->epochExamples();
  }
  uint64_t testExamples() const override { return 0; }

  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    const uint64_t size = options.trainExamples;
    example(size ? shuffledExample(number, size, options.seed) : number + stretchOf(options.seed),
            inputs, targets);
  }
  ShuffledSet shuffledSet() const override { return {options.trainExamples, options.seed}; }
  void example(uint64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) const override {
    task->generate(options.dataSeed, Split::Train, i, inputs, targets);
  }
  void test(uint64_t i, uint64_t count, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    task->generate(options.dataSeed, Split::Test, i, inputs, targets);
  }

  nlohmann::json describe() const override {
    return {{"task", task->spec()},          {"convention", nameOf(convention)},
            {"vocabulary", vocabulary()},    {"positions", positions()},
            {"data_seed", options.dataSeed}, {"train_examples", options.trainExamples}};
  }
  std::string shortName() const override { return task->name(); }

private:
  /// Where a run begins in the data set without end: seeds of 24 bits 2^40 examples apart, others
  /// anywhere, as two hardly meet.
  static uint64_t stretchOf(uint64_t seed) { return seed >> 24 ? mixBits(seed) : seed << 40; }

  std::unique_ptr<Task> task;
  Convention convention;
  TaskSourceOptions options;
};

class TextSource final : public Source {
public:
  TextSource(std::unique_ptr<TextBytes> text, std::string path, int64_t length, uint64_t seed,
             uint64_t dataSeed)
      : text(std::move(text)), path(std::move(path)), length(length), seed(seed),
        dataSeed(dataSeed) {}

  int64_t vocabulary() const override { return 256; }
  int64_t positions() const override { return length; }
  bool predictsNext() const override { return true; }
  uint64_t epochExamples() const override {
    uint64_t bytes = 0;
    for (const TextBytes::Run &run : text->trainRuns())
      bytes += run.end - run.begin;
    return std::max<uint64_t>(1, bytes / static_cast<uint64_t>(length));
  }
  uint64_t testExamples() const override { return text->validationWindows(); }
  const Tokenizer *tokenizer() const override { return bytes.get(); }

  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    text->copyWindow(text->trainOffset(seed, number), inputs, targets);
  }
  void test(uint64_t i, uint64_t count, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    // A part of the windows is taken evenly from the whole validation text.
    uint64_t window = static_cast<uint64_t>(static_cast<double>(i) *
                                            static_cast<double>(text->validationWindows()) /
                                            static_cast<double>(count));
    if (count == text->validationWindows())
      window = i;
    text->copyWindow(text->validationOffset(window), inputs, targets);
  }

  nlohmann::json describe() const override {
    return {{"data", "text:" + path},
            {"bytes", text->size()},
            {"content_hash", fmt::format("{:016x}", text->contentHash())},
            {"block_bytes", text->blockBytes()},
            {"validation_windows", text->validationWindows()},
            {"positions", length},
            {"data_seed", dataSeed}};
  }
  std::string shortName() const override { return std::filesystem::path(path).stem().string(); }

private:
  std::unique_ptr<TextBytes> text;
  std::unique_ptr<Tokenizer> bytes = makeByteTokenizer();
  std::string path;
  int64_t length;
  uint64_t seed, dataSeed;
};

} // namespace

std::unique_ptr<Source> makeTaskSource(std::unique_ptr<Task> task, Convention convention,
                                       const TaskSourceOptions &options) {
  return std::make_unique<TaskSource>(std::move(task), convention, options);
}

Result<std::unique_ptr<Source>> makeTextSource(const std::string &path, int64_t length,
                                               uint64_t seed, uint64_t dataSeed) {
  auto text = TextBytes::open(path, length, dataSeed);
  if (!text)
    return text.error();
  return std::unique_ptr<Source>(
      std::make_unique<TextSource>(std::move(*text), path, length, seed, dataSeed));
}

} // namespace hybrid::rt
