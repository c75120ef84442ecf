//===- Images.h - images and their classes ----------------------------------===//
#pragma once
#include "training/data/DataSpec.h"
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

/// Images of one size, a byte a value, rows one behind the other.
struct ImageSet {
  uint32_t height = 0, width = 0, channels = 1;
  std::vector<uint8_t> pixels;
  std::vector<uint32_t> labels;
  std::vector<std::string> classes; // names; empty: numbers

  uint64_t size() const { return labels.size(); }
  uint64_t pixelsEach() const { return uint64_t{height} * width * channels; }
  std::span<const uint8_t> image(uint64_t i) const {
    return std::span(pixels).subspan(i * pixelsEach(), pixelsEach());
  }
};

/// IDX files as MNIST's, plain or gzip: images of bytes with 3 dimensions and labels with 1.
Result<ImageSet> readIdx(const std::string &images, const std::string &labels);
/// A folder of folders of PNG files; the folders, sorted, are the classes. Grey with channels 1,
/// red, green and blue with 3. All images have one size.
Result<ImageSet> readPngFolder(const std::string &folder, uint32_t channels);

} // namespace hybrid::rt
