//===- ImageSource.cpp - images as a source of instances --------------------===//
//
// An image is the sequence of its values, 0 to 255; its class is asked at the last position.
//
//===----------------------------------------------------------------------===//
#include "executable/Permutation.h"
#include "training/data/ContentHash.h"
#include "training/data/DataSource.h"
#include "training/data/ImageAugmentation.h"
#include "training/data/Images.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

class ImageSource final : public Source {
public:
  ImageSource(ImageSet train, ImageSet test, nlohmann::json description, std::string name,
              uint64_t seed)
      : trainSet(std::move(train)), testSet(std::move(test)), description(std::move(description)),
        name(std::move(name)), seed(seed) {
    for (const ImageSet *set : {&trainSet, &testSet})
      for (uint32_t label : set->labels)
        classes = std::max<int64_t>(classes, int64_t{label} + 1);
  }

  int64_t vocabulary() const override { return 256; }
  int64_t answers() const override { return classes; }
  int64_t positions() const override { return static_cast<int64_t>(trainSet.pixelsEach()); }
  uint64_t epochExamples() const override { return trainSet.size(); }
  uint64_t testExamples() const override { return testSet.size(); }
  void train(uint64_t number, std::span<int32_t> inputs,
             std::span<int32_t> targets) const override {
    example(shuffledExample(number, trainSet.size(), seed), inputs, targets);
    if (augmentation.isNone())
      return;
    Rng rng(seed, augmentationStream, number);
    const ImageShape shape{static_cast<int>(trainSet.height), static_cast<int>(trainSet.width),
                           static_cast<int>(trainSet.channels)};
    const std::span<int32_t> image = inputs.first(trainSet.pixelsEach());
    augmentation.apply(image, shape, rng);
    if (augmentation.mixup == 0)
      return;
    const std::span<const uint8_t> pixels = trainSet.image(rng.below(trainSet.size()));
    std::vector<int32_t> other(pixels.begin(), pixels.end());
    augmentation.apply(other, shape, rng);
    augmentation.mix(image, other, rng);
  }
  ShuffledSet shuffledSet() const override {
    return augmentation.isNone() ? ShuffledSet{trainSet.size(), seed} : ShuffledSet();
  }
  /// Changes the images that are trained on, each time anew.
  void augment(const ImageAugmentation &by) {
    augmentation = by;
    if (!augmentation.isNone())
      description["augmentation"] = augmentation.describe();
  }
  void example(uint64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) const override {
    copy(trainSet, i, inputs, targets);
  }
  void test(uint64_t i, uint64_t, std::span<int32_t> inputs,
            std::span<int32_t> targets) const override {
    copy(testSet, i, inputs, targets);
  }
  nlohmann::json describe() const override { return description; }
  std::string shortName() const override { return name; }

private:
  static void copy(const ImageSet &set, uint64_t i, std::span<int32_t> inputs,
                   std::span<int32_t> targets) {
    std::ranges::copy(set.image(i), inputs.begin());
    std::fill(targets.begin(), targets.end(), ignoredTarget);
    targets[set.pixelsEach() - 1] = static_cast<int32_t>(set.labels[i]);
  }

  static constexpr uint64_t augmentationStream = 0x696d616765; // of random numbers

  ImageSet trainSet, testSet;
  ImageAugmentation augmentation;
  nlohmann::json description;
  std::string name;
  uint64_t seed;
  int64_t classes = 0;
};

/// Every tenth image of a permutation becomes the test set.
ImageSet heldOut(ImageSet &set, double fraction, uint64_t seed) {
  ImageSet train = set, test = set;
  train.pixels.clear();
  train.labels.clear();
  test.pixels.clear();
  test.labels.clear();
  auto count = static_cast<uint64_t>(static_cast<double>(set.size()) * fraction);
  for (uint64_t i = 0; i < set.size(); ++i) {
    uint64_t chosen = permuted(i, set.size(), mixBits(seed));
    ImageSet &to = i < count ? test : train;
    auto begin = set.pixels.begin() + static_cast<ptrdiff_t>(chosen * set.pixelsEach());
    to.pixels.insert(to.pixels.end(), begin, begin + static_cast<ptrdiff_t>(set.pixelsEach()));
    to.labels.push_back(set.labels[chosen]);
  }
  set = std::move(train);
  return test;
}

/// Of all images and labels, whatever files they came from.
std::string hashOf(std::initializer_list<const ImageSet *> sets) {
  ContentHash hash;
  for (const ImageSet *set : sets) {
    hash.add({reinterpret_cast<const char *>(set->pixels.data()), set->pixels.size()});
    hash.add({reinterpret_cast<const char *>(set->labels.data()),
              set->labels.size() * sizeof(set->labels[0])});
  }
  return hash.text();
}

Result<ImageSet> readImages(const DataSpec &spec, const std::string &path,
                            const std::string &labels, double channels) {
  if (spec.kind == "png")
    return readPngFolder(path, channels < 2 ? 1 : 3);
  if (labels.empty())
    return Error{fmt::format("--data idx:{}: the labels are missing: labels=PATH", path)};
  return readIdx(path, labels);
}

} // namespace

Result<std::unique_ptr<Source>> makeImageSource(const DataSpec &spec, int64_t length, uint64_t seed,
                                                uint64_t dataSeed) {
  if (Result<void> known =
          spec.allowOnly({"labels", "test", "test_labels", "fraction", "channels", "weight", "crop",
                          "flip", "augment", "magnitude", "erase", "mixup"});
      !known)
    return known.error();
  Result<ImageAugmentation> augmentation = ImageAugmentation::of(spec);
  if (!augmentation)
    return augmentation.error();
  Result<double> fraction = spec.number("fraction", 0.1, 0, 0.99),
                 channels = spec.number("channels", 1, 1, 3);
  if (!fraction)
    return fraction.error();
  if (!channels)
    return channels.error();
  Result<ImageSet> train = readImages(spec, spec.path, spec.option("labels", ""), *channels);
  if (!train)
    return train.error();
  std::string testPath = spec.option("test", "");
  Result<ImageSet> test =
      testPath.empty() ? heldOut(*train, *fraction, dataSeed)
                       : readImages(spec, testPath, spec.option("test_labels", ""), *channels);
  if (!test)
    return test.error();
  auto where = fmt::format("--data {}:{}", spec.kind, spec.path);
  if (train->size() == 0 || test->size() == 0 || train->pixelsEach() == 0)
    return Error{fmt::format("{}: there are {} images for training and {} for testing", where,
                             train->size(), test->size())};
  if (train->pixelsEach() != test->pixelsEach())
    return Error{fmt::format("{}: the images for testing have another size", where)};
  if (length != 0 && static_cast<uint64_t>(length) < train->pixelsEach())
    return Error{fmt::format("{}: an image has {} values, the model {} positions", where,
                             train->pixelsEach(), length)};
  uint32_t greatest = *std::max_element(train->labels.begin(), train->labels.end());
  if (greatest > 255)
    return Error{fmt::format("{}: class {} is more than 255", where, greatest)};
  nlohmann::json description = {{"data", spec.kind + ":" + spec.path},
                                {"height", train->height},
                                {"width", train->width},
                                {"channels", train->channels},
                                {"train_images", train->size()},
                                {"test_images", test->size()},
                                {"content_hash", hashOf({&*train, &*test})},
                                {"data_seed", dataSeed}};
  auto source =
      std::make_unique<ImageSource>(std::move(*train), std::move(*test), std::move(description),
                                    std::filesystem::path(spec.path).stem().string(), seed);
  source->augment(*augmentation);
  return std::unique_ptr<Source>(std::move(source));
}

} // namespace hybrid::rt
