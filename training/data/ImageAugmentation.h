//===- ImageAugmentation.h - other pictures of the same thing -----------------------===//
//
// Changes of training images that leave their class: a random crop of the padded image (He et al.
// 2015, section 4.2), a mirror image, RandAugment (Cubuk et al. 2019) and a square that is erased
// (DeVries and Taylor 2017); and a mixture with another image.
//
// Mixup (Zhang et al. 2018) has s x + (1 - s) y, with s of the distribution Beta(alpha, alpha), be
// of the classes of x and y in these shares. Its loss, s times that of the one class and 1 - s
// times that of the other, is the expected loss of asking for one of them with these probabilities;
// and, as x and y may change places, for that of x alone with s of Beta(alpha + 1, alpha), which is
// Beta(alpha, alpha) where the class of x was drawn. So an image keeps its one class here, and what
// is trained is the same on average. What is drawn is a function of the run's seed and the
// instance's number, so that a resumed run sees the pictures that it would have seen.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/Rng.h"
#include "training/data/DataSpec.h"
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

namespace hybrid::rt {

/// Rows of pixels, each of `channels` values.
struct ImageShape {
  int height = 0, width = 0, channels = 1;
};

/// What RandAugment chooses from, in the order of the paper's table 6 without inversion.
enum class ImageOperation : uint8_t {
  Identity,
  AutoContrast,
  Equalize,
  Rotate,
  Solarize,
  Colour,
  Posterize,
  Contrast,
  Brightness,
  Sharpness,
  ShearX,
  ShearY,
  TranslateX,
  TranslateY,
};
inline constexpr int imageOperations = 14;

/// Applies one to an image of values 0 to 255. `strength` is from 0 (as good as nothing) to 1 (30
/// degrees, a shear of 0.3, a third of the image, factors from 0.1 to 1.9); where a change has two
/// directions its sign chooses.
void applyOperation(ImageOperation operation, double strength, std::span<int32_t> image,
                    const ImageShape &shape);

struct ImageAugmentation {
  int crop = 0;         // pixels of black around the image, of which one of its size is cut
  double flip = 0;      // how often it is mirrored, left to right
  int operations = 0;   // of RandAugment, one after another
  double magnitude = 9; // of these, 0 to 30
  int erase = 0;        // side of a black square, anywhere
  double mixup = 0;     // alpha; 0: none

  /// Of the options of --data: crop, flip, augment, magnitude, erase, mixup.
  static Result<ImageAugmentation> of(const DataSpec &spec);

  bool isNone() const {
    return crop == 0 && flip == 0 && operations == 0 && erase == 0 && mixup == 0;
  }
  nlohmann::json describe() const;
  /// All but mixup.
  void apply(std::span<int32_t> image, const ImageShape &shape, Rng &rng) const;
  /// Mixes another image in, whose class does not count.
  void mix(std::span<int32_t> image, std::span<const int32_t> other, Rng &rng) const;
};

} // namespace hybrid::rt
