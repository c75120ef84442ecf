//===- ImageAugmentation.h - other pictures of the same thing -----------------------===//
//
// Changes of training images that leave their class: a random crop of the padded image (He et al.
// 2015, section 4.2), a mirror image, RandAugment (Cubuk et al. 2019) and a square that is erased
// (DeVries and Taylor 2017). What is drawn is a function of the run's seed and the instance's
// number, so that a resumed run sees the pictures that it would have seen.
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

  /// Of the options of --data: crop, flip, augment, magnitude, erase.
  static Result<ImageAugmentation> of(const DataSpec &spec);

  bool isNone() const { return crop == 0 && flip == 0 && operations == 0 && erase == 0; }
  nlohmann::json describe() const;
  void apply(std::span<int32_t> image, const ImageShape &shape, Rng &rng) const;
};

} // namespace hybrid::rt
