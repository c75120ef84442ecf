//===- ImageAugmentationTest.cpp - other pictures of the same thing -----------------===//
#include "training/data/ImageAugmentation.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <vector>

using namespace hybrid::rt;

namespace {

using Image = std::vector<int32_t>;
constexpr ImageShape shape{6, 8, 3};

Image anImage() {
  Image image(6 * 8 * 3);
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<int32_t>((i * 37 + 11) % 256);
  return image;
}

Image applied(ImageOperation operation, double strength, Image image = anImage(),
              const ImageShape &of = shape) {
  applyOperation(operation, strength, image, of);
  return image;
}

Image augmented(const ImageAugmentation &by, uint64_t number) {
  Image image = anImage();
  Rng rng(7, 1, number);
  by.apply(image, shape, rng);
  return image;
}

} // namespace

TEST(ImageAugmentation, IsAFunctionOfTheInstance) {
  const ImageAugmentation all{2, 0.5, 2, 9, 3};
  std::set<Image> seen;
  for (uint64_t number = 0; number < 50; ++number) {
    const Image image = augmented(all, number);
    EXPECT_EQ(image, augmented(all, number));
    EXPECT_TRUE(std::ranges::all_of(image, [](int32_t v) { return v >= 0 && v <= 255; }));
    seen.insert(image);
  }
  EXPECT_GT(seen.size(), 40u);
}

TEST(ImageAugmentation, NoneChangesNothing) {
  const ImageAugmentation none;
  EXPECT_TRUE(none.isNone());
  EXPECT_EQ(augmented(none, 3), anImage());
}

TEST(ImageAugmentation, ACropIsAShiftWithBlackAroundIt) {
  std::set<std::pair<int, int>> shifts;
  for (uint64_t number = 0; number < 200; ++number) {
    const Image before = anImage(), after = augmented({.crop = 1}, number);
    int found = 0;
    for (int down = -1; down <= 1; ++down)
      for (int right = -1; right <= 1; ++right) {
        Image expected(before.size(), 0);
        for (int y = 0; y < 6; ++y)
          for (int x = 0; x < 8; ++x)
            if (y + down >= 0 && y + down < 6 && x + right >= 0 && x + right < 8)
              for (int c = 0; c < 3; ++c)
                expected[static_cast<size_t>((y * 8 + x) * 3 + c)] =
                    before[static_cast<size_t>(((y + down) * 8 + x + right) * 3 + c)];
        if (expected == after) {
          ++found;
          shifts.emplace(down, right);
        }
      }
    EXPECT_EQ(found, 1);
  }
  EXPECT_EQ(shifts.size(), 9u) << "all of them are drawn";
}

TEST(ImageAugmentation, MirrorsAsOftenAsAsked) {
  Image mirrored = anImage();
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 8; ++x)
      for (int c = 0; c < 3; ++c)
        mirrored[static_cast<size_t>((y * 8 + x) * 3 + c)] =
            anImage()[static_cast<size_t>((y * 8 + 7 - x) * 3 + c)];
  int count = 0;
  for (uint64_t number = 0; number < 1000; ++number) {
    const Image after = augmented({.flip = 0.25}, number);
    EXPECT_TRUE(after == mirrored || after == anImage());
    count += after == mirrored;
  }
  EXPECT_NEAR(count, 250, 60);
}

TEST(ImageAugmentation, ErasesASquare) {
  Image image(6 * 8 * 3, 200);
  Rng rng(1, 1, 1);
  ImageAugmentation{.erase = 3}.apply(image, shape, rng);
  const auto gone = std::ranges::count(image, 0);
  EXPECT_GE(gone, 2 * 2 * 3);
  EXPECT_LE(gone, 3 * 3 * 3);
}

TEST(ImageOperation, WithoutStrengthMostChangeNothing) {
  for (auto operation :
       {ImageOperation::Identity, ImageOperation::Rotate, ImageOperation::Solarize,
        ImageOperation::Colour, ImageOperation::Posterize, ImageOperation::Contrast,
        ImageOperation::Brightness, ImageOperation::Sharpness, ImageOperation::ShearX,
        ImageOperation::ShearY, ImageOperation::TranslateX, ImageOperation::TranslateY})
    EXPECT_EQ(applied(operation, 0), anImage()) << static_cast<int>(operation);
}

TEST(ImageOperation, ChangesValuesAsItSays) {
  const ImageShape row{1, 4, 1};
  EXPECT_EQ(applied(ImageOperation::Solarize, 0.5, {0, 127, 128, 255}, row),
            (Image{0, 127, 127, 0}));
  EXPECT_EQ(applied(ImageOperation::Posterize, 1, {15, 16, 31, 255}, row), (Image{0, 16, 16, 240}));
  EXPECT_EQ(applied(ImageOperation::Brightness, -1, {0, 10, 100, 250}, row), (Image{0, 1, 10, 25}));
  EXPECT_EQ(applied(ImageOperation::Brightness, 1, {0, 10, 100, 250}, row),
            (Image{0, 19, 190, 255}));
  EXPECT_EQ(applied(ImageOperation::AutoContrast, 1, {50, 100, 100, 150}, row),
            (Image{0, 128, 128, 255}));
  EXPECT_EQ(applied(ImageOperation::AutoContrast, 1, {9, 9, 9, 9}, row), (Image{9, 9, 9, 9}));
  // The mean is 100: half the contrast, towards it.
  EXPECT_EQ(applied(ImageOperation::Contrast, -0.5 / 0.9, {0, 100, 100, 200}, row),
            (Image{50, 100, 100, 150}));
  EXPECT_EQ(applied(ImageOperation::TranslateX, 0.75, {1, 2, 3, 4}, row), (Image{0, 1, 2, 3}));
  EXPECT_EQ(applied(ImageOperation::TranslateX, -0.75, {1, 2, 3, 4}, row), (Image{2, 3, 4, 0}));
}

TEST(ImageAugmentation, MixesAsMuchOfAnotherImageAsMixupWould) {
  // Of Beta(alpha + 1, alpha): on average (alpha + 1) / (2 alpha + 1), with the variance
  // (alpha + 1) alpha / ((2 alpha + 1)^2 (2 alpha + 2)).
  for (double alpha : {0.2, 1.0, 4.0}) {
    constexpr uint64_t count = 20000;
    double sum = 0, squares = 0;
    for (uint64_t number = 0; number < count; ++number) {
      Rng rng(7, 1, number);
      Image image(256), other(256);
      image[0] = 255, other[1] = 255;
      ImageAugmentation{.mixup = alpha}.mix(image, other, rng);
      ASSERT_NEAR(image[0] + image[1], 255, 1);
      ASSERT_EQ(image[2], 0);
      const double share = image[0] / 255.0;
      sum += share, squares += share * share;
    }
    const double mean = sum / count, expected = (alpha + 1) / (2 * alpha + 1);
    EXPECT_NEAR(mean, expected, 0.01) << alpha;
    EXPECT_NEAR(squares / count - mean * mean,
                expected * alpha / ((2 * alpha + 1) * (2 * alpha + 2)), 0.003)
        << alpha;
  }
}

TEST(ImageOperation, EqualizesWhatIsUneven) {
  Image image(1024);
  std::iota(image.begin(), image.end(), 0);
  for (int32_t &value : image)
    value /= 16; // 64 dark values, 16 times each
  const Image after = applied(ImageOperation::Equalize, 1, image, {32, 32, 1});
  EXPECT_LE(after.front(), 4);
  EXPECT_GE(after.back(), 250);
  EXPECT_TRUE(std::ranges::is_sorted(after));
}

TEST(ImageOperation, RotatesAQuarterByThreeTimesItsMost) {
  // 3 times 30 degrees: what was above comes to a side.
  const ImageShape square{3, 3, 1};
  const Image after = applied(ImageOperation::Rotate, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}, square);
  EXPECT_TRUE(after == (Image{3, 6, 9, 2, 5, 8, 1, 4, 7}) ||
              after == (Image{7, 4, 1, 8, 5, 2, 9, 6, 3}))
      << after[0] << after[1] << after[2];
}

TEST(ImageAugmentation, ReadsItsOptions) {
  const DataSpec spec{"idx", "x", {{"crop", "4"}, {"flip", "0.5"}, {"augment", "2"}}};
  auto read = ImageAugmentation::of(spec);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->describe(),
            (nlohmann::json{
                {"crop", 4}, {"flip", 0.5}, {"augment", 2}, {"magnitude", 9.0}, {"erase", 0}}));
  auto mixed = ImageAugmentation::of({"idx", "x", {{"mixup", "0.2"}}});
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_FALSE(mixed->isNone());
  EXPECT_EQ(mixed->describe()["mixup"], 0.2);
  EXPECT_FALSE(ImageAugmentation::of({"idx", "x", {{"mixup", "-1"}}}));
  auto half = ImageAugmentation::of({"idx", "x", {{"crop", "1.5"}}});
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().message, "--data idx:x: crop=1.5 is no whole number");
  auto alone = ImageAugmentation::of({"idx", "x", {{"magnitude", "5"}}});
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("augment=N"), std::string::npos);
  EXPECT_FALSE(ImageAugmentation::of({"idx", "x", {{"magnitude", "31"}, {"augment", "1"}}}));
}
