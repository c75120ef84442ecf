//===- ImageAugmentation.cpp - other pictures of the same thing ---------------------===//
#include "training/data/ImageAugmentation.h"
#include "training/Distributions.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <vector>

namespace hybrid::rt {
namespace {

constexpr int black = 0, white = 255;
constexpr double mostMagnitude = 30, mostMixup = 100;

int clamped(double value) { return static_cast<int>(std::clamp(std::round(value), 0.0, 255.0)); }

size_t placeOf(const ImageShape &shape, int y, int x, int channel) {
  return (static_cast<size_t>(y) * static_cast<size_t>(shape.width) + static_cast<size_t>(x)) *
             static_cast<size_t>(shape.channels) +
         static_cast<size_t>(channel);
}

/// Every pixel takes the place that `from(y, x)` gives, black where there is none.
template <typename From>
void move(std::span<int32_t> image, const ImageShape &shape, const From &from) {
  const std::vector<int32_t> before(image.begin(), image.end());
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      const auto [oldY, oldX] = from(y, x);
      const bool isInside = oldY >= 0 && oldY < shape.height && oldX >= 0 && oldX < shape.width;
      for (int c = 0; c < shape.channels; ++c)
        image[placeOf(shape, y, x, c)] =
            isInside ? before[placeOf(shape, oldY, oldX, c)] : int32_t{black};
    }
}

/// Around the centre: the pixel at (y, x) comes from (a y + b x, c y + d x), the nearest one.
void transform(std::span<int32_t> image, const ImageShape &shape, std::array<double, 4> by) {
  const double middleY = (shape.height - 1) / 2.0, middleX = (shape.width - 1) / 2.0;
  move(image, shape, [&](int y, int x) {
    const double v = y - middleY, u = x - middleX;
    return std::pair(static_cast<int>(std::lround(by[0] * v + by[1] * u + middleY)),
                     static_cast<int>(std::lround(by[2] * v + by[3] * u + middleX)));
  });
}

/// value = other + factor (value - other).
template <typename Other> void blend(std::span<int32_t> image, double factor, const Other &other) {
  for (size_t i = 0; i < image.size(); ++i) {
    const double towards = other(i);
    image[i] = clamped(towards + factor * (image[i] - towards));
  }
}

/// Luminance of the pixel that value i belongs to (ITU-R 601); the value itself where there is one.
double luminance(std::span<const int32_t> image, const ImageShape &shape, size_t i) {
  if (shape.channels != 3)
    return image[i];
  const size_t first = i - i % 3;
  return 0.299 * image[first] + 0.587 * image[first + 1] + 0.114 * image[first + 2];
}

void blendWithGrey(std::span<int32_t> image, const ImageShape &shape, double factor, bool mean) {
  const std::vector<int32_t> before(image.begin(), image.end());
  double sum = 0;
  for (size_t i = 0; i < before.size(); ++i)
    sum += luminance(before, shape, i);
  const double average = std::round(sum / static_cast<double>(std::max<size_t>(1, before.size())));
  blend(image, factor, [&](size_t i) { return mean ? average : luminance(before, shape, i); });
}

/// Against the image smoothed by (1 1 1; 1 5 1; 1 1 1) / 13; edges stay.
void sharpen(std::span<int32_t> image, const ImageShape &shape, double factor) {
  const std::vector<int32_t> before(image.begin(), image.end());
  std::vector<double> smooth(before.begin(), before.end());
  for (int y = 1; y + 1 < shape.height; ++y)
    for (int x = 1; x + 1 < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) {
        double sum = 4 * before[placeOf(shape, y, x, c)];
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            sum += before[placeOf(shape, y + dy, x + dx, c)];
        smooth[placeOf(shape, y, x, c)] = sum / 13;
      }
  blend(image, factor, [&](size_t i) { return smooth[i]; });
}

/// A function of values for each channel: `make` sees how often each value is there.
template <typename Make>
void mapChannels(std::span<int32_t> image, const ImageShape &shape, const Make &make) {
  const auto channels = static_cast<size_t>(shape.channels);
  for (size_t c = 0; c < channels; ++c) {
    std::array<int64_t, 256> counts{};
    for (size_t i = c; i < image.size(); i += channels)
      ++counts[static_cast<size_t>(std::clamp(image[i], 0, 255))];
    const std::array<int, 256> to = make(counts);
    for (size_t i = c; i < image.size(); i += channels)
      image[i] = to[static_cast<size_t>(std::clamp(image[i], 0, 255))];
  }
}

std::array<int, 256> asTheyAre() {
  std::array<int, 256> to;
  for (int value = 0; value < 256; ++value)
    to[static_cast<size_t>(value)] = value;
  return to;
}

/// The darkest value becomes 0 and the lightest 255.
std::array<int, 256> stretched(const std::array<int64_t, 256> &counts) {
  std::array<int, 256> to = asTheyAre();
  int low = 0, high = 255;
  while (low < 255 && counts[static_cast<size_t>(low)] == 0)
    ++low;
  while (high > 0 && counts[static_cast<size_t>(high)] == 0)
    --high;
  if (high > low)
    for (int &value : to)
      value = clamped(255.0 * (value - low) / (high - low));
  return to;
}

/// Every value becomes the share of those below it.
std::array<int, 256> equalized(const std::array<int64_t, 256> &counts) {
  std::array<int, 256> to = asTheyAre();
  int64_t all = 0, last = 0;
  for (int64_t count : counts) {
    all += count;
    last = count > 0 ? count : last;
  }
  const int64_t step = (all - last) / 255;
  if (step == 0) // one value, or too few pixels to tell
    return to;
  int64_t below = step / 2;
  for (size_t value = 0; value < 256; ++value) {
    to[value] = static_cast<int>(std::min<int64_t>(white, below / step));
    below += counts[value];
  }
  return to;
}

} // namespace

void applyOperation(ImageOperation operation, double strength, std::span<int32_t> image,
                    const ImageShape &shape) {
  const double size = std::abs(strength), factor = 1 + 0.9 * strength;
  switch (operation) {
  case ImageOperation::Identity:
    break;
  case ImageOperation::AutoContrast:
    mapChannels(image, shape, stretched);
    break;
  case ImageOperation::Equalize:
    mapChannels(image, shape, equalized);
    break;
  case ImageOperation::Rotate: {
    const double angle = strength * std::numbers::pi / 6;
    transform(image, shape, {std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle)});
    break;
  }
  case ImageOperation::Solarize:
    for (int32_t &value : image)
      value = value >= 256 - std::lround(256 * size) ? white - value : value;
    break;
  case ImageOperation::Colour:
    blendWithGrey(image, shape, factor, /*mean=*/false);
    break;
  case ImageOperation::Posterize:
    for (int32_t &value : image)
      value &= ~((1 << std::lround(4 * size)) - 1);
    break;
  case ImageOperation::Contrast:
    blendWithGrey(image, shape, factor, /*mean=*/true);
    break;
  case ImageOperation::Brightness:
    blend(image, factor, [](size_t) { return double{black}; });
    break;
  case ImageOperation::Sharpness:
    sharpen(image, shape, factor);
    break;
  case ImageOperation::ShearX:
    transform(image, shape, {1, 0, 0.3 * strength, 1});
    break;
  case ImageOperation::ShearY:
    transform(image, shape, {1, 0.3 * strength, 0, 1});
    break;
  case ImageOperation::TranslateX:
  case ImageOperation::TranslateY: {
    const bool along = operation == ImageOperation::TranslateX;
    const auto by =
        static_cast<int>(std::lround(strength / 3 * (along ? shape.width : shape.height)));
    move(image, shape,
         [&](int y, int x) { return std::pair(along ? y : y - by, along ? x - by : x); });
    break;
  }
  }
}

Result<ImageAugmentation> ImageAugmentation::of(const DataSpec &spec) {
  ImageAugmentation augmentation;
  auto read = [&](const char *name, double otherwise, double most, auto &into) -> Result<void> {
    auto value = spec.number(name, otherwise, 0, most);
    if (!value)
      return value.error();
    using Field = std::remove_reference_t<decltype(into)>;
    if (std::is_integral_v<Field> && *value != std::floor(*value))
      return Error{fmt::format("--data {}:{}: {}={} is no whole number", spec.kind, spec.path, name,
                               *value)};
    into = static_cast<Field>(*value);
    return {};
  };
  for (const auto &done :
       {read("crop", 0, 1 << 12, augmentation.crop), read("flip", 0, 1, augmentation.flip),
        read("augment", 0, 16, augmentation.operations),
        read("magnitude", augmentation.magnitude, mostMagnitude, augmentation.magnitude),
        read("erase", 0, 1 << 12, augmentation.erase),
        read("mixup", 0, mostMixup, augmentation.mixup)})
    if (!done)
      return done.error();
  if (spec.options.contains("magnitude") && augmentation.operations == 0)
    return Error{fmt::format("--data {}:{}: magnitude is that of augment=N operations, and none "
                             "are asked for",
                             spec.kind, spec.path)};
  return augmentation;
}

nlohmann::json ImageAugmentation::describe() const {
  nlohmann::json result = {{"crop", crop},
                           {"flip", flip},
                           {"augment", operations},
                           {"magnitude", magnitude},
                           {"erase", erase}};
  if (mixup > 0) // runs that were made before there was mixup are resumed
    result["mixup"] = mixup;
  return result;
}

void ImageAugmentation::apply(std::span<int32_t> image, const ImageShape &shape, Rng &rng) const {
  auto within = [&](int low, int high) { // both may be
    return low + static_cast<int>(rng.below(static_cast<uint64_t>(high - low) + 1));
  };
  if (crop > 0) {
    const int down = within(-crop, crop), right = within(-crop, crop);
    move(image, shape, [&](int y, int x) { return std::pair(y + down, x + right); });
  }
  if (flip > 0 && rng.uniform() < flip)
    move(image, shape, [&](int y, int x) { return std::pair(y, shape.width - 1 - x); });
  for (int i = 0; i < operations; ++i) {
    const auto operation = static_cast<ImageOperation>(rng.below(imageOperations));
    const double strength = magnitude / mostMagnitude;
    applyOperation(operation, rng.below(2) == 0 ? strength : -strength, image, shape);
  }
  if (erase > 0) {
    const int top = within(0, shape.height - 1) - erase / 2,
              left = within(0, shape.width - 1) - erase / 2;
    for (int y = std::max(0, top); y < std::min(shape.height, top + erase); ++y)
      for (int x = std::max(0, left); x < std::min(shape.width, left + erase); ++x)
        for (int c = 0; c < shape.channels; ++c)
          image[placeOf(shape, y, x, c)] = black;
  }
}

void ImageAugmentation::mix(std::span<int32_t> image, std::span<const int32_t> other,
                            Rng &rng) const {
  const double share = drawBeta(rng, mixup + 1, mixup);
  blend(image, share, [&](size_t i) { return other[i]; });
}

} // namespace hybrid::rt
