//===- Images.cpp - images and their classes --------------------------------===//
#include "training/data/Images.h"
#include "runtime/files/File.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <png.h>
#include <zlib.h>

namespace hybrid::rt {
namespace {

constexpr uint64_t largestFile = uint64_t{4} << 30, largestImage = 1 << 26;

/// The bytes of a file, unpacked if it is gzip. At most `largestFile` of them.
Result<std::vector<uint8_t>> unpacked(const std::string &path) {
  if (Result<MappedFile> readable = MappedFile::open(path); !readable)
    return readable.error();
  gzFile file = gzopen(path.c_str(), "rb"); // which reads plain files as they are
  if (!file)
    return Error{fmt::format("cannot read '{}'", path)};
  std::vector<uint8_t> bytes;
  constexpr size_t step = 1 << 20;
  int got = 0;
  do {
    size_t size = bytes.size();
    bytes.resize(size + step);
    got = gzread(file, bytes.data() + size, step);
    bytes.resize(size + static_cast<size_t>(std::max(0, got)));
  } while (got > 0 && bytes.size() <= largestFile);
  gzclose(file);
  if (got < 0 || bytes.size() > largestFile)
    return Error{fmt::format("{}: {} at byte {} of the unpacked data", path,
                             got < 0 ? "the compressed data is damaged" : "longer than 4 GiB",
                             bytes.size())};
  return bytes;
}

uint32_t bigEndian(const std::vector<uint8_t> &bytes, size_t at) {
  return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 |
         bytes[at + 3];
}

/// Sizes of an IDX file of bytes with so many dimensions; its data follows them.
Result<std::vector<uint32_t>> idxSizes(const std::vector<uint8_t> &bytes, size_t dimensions,
                                       const std::string &path) {
  size_t header = 4 + 4 * dimensions;
  if (bytes.size() < header || bigEndian(bytes, 0) != (0x0800u | dimensions))
    return Error{fmt::format("{}: not an IDX file of bytes with {} dimension{}: byte 0 is not "
                             "0x{:08x}",
                             path, dimensions, dimensions == 1 ? "" : "s", 0x0800u | dimensions)};
  std::vector<uint32_t> sizes;
  uint64_t product = 1;
  for (size_t i = 0; i < dimensions; ++i) {
    sizes.push_back(bigEndian(bytes, 4 + 4 * i));
    product = std::min(largestFile + 1, product * sizes.back());
  }
  if (product != bytes.size() - header)
    return Error{fmt::format("{}: the sizes at byte 4 say {} bytes of data, {} are there", path,
                             product, bytes.size() - header)};
  return sizes;
}

Result<void> readPng(const std::string &path, uint32_t channels, ImageSet &set) {
  Result<std::vector<std::byte>> bytes = readFile(path, largestImage);
  if (!bytes)
    return bytes.error();
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  auto refuse = [&](std::string_view what) {
    Error error{fmt::format("{}: {}", path, what)};
    png_image_free(&image);
    return error;
  };
  if (!png_image_begin_read_from_memory(&image, bytes->data(), bytes->size()))
    return refuse(fmt::format("not a usable PNG: {}", image.message));
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (uint64_t{image.width} * image.height * channels > largestImage)
    return refuse(fmt::format("{} x {} is too large", image.height, image.width));
  if (set.labels.empty()) {
    set.height = image.height;
    set.width = image.width;
  } else if (set.height != image.height || set.width != image.width) {
    return refuse(fmt::format("is {} x {}, those before are {} x {}: one size is expected",
                              image.height, image.width, set.height, set.width));
  }
  size_t begin = set.pixels.size();
  set.pixels.resize(begin + set.pixelsEach());
  png_color black{};
  if (!png_image_finish_read(&image, &black, set.pixels.data() + begin, 0, nullptr))
    return refuse(fmt::format("damaged: {}", image.message));
  return {};
}

} // namespace

Result<ImageSet> readIdx(const std::string &images, const std::string &labels) {
  Result<std::vector<uint8_t>> pixels = unpacked(images), classes = unpacked(labels);
  if (!pixels)
    return pixels.error();
  if (!classes)
    return classes.error();
  Result<std::vector<uint32_t>> sizes = idxSizes(*pixels, 3, images);
  if (!sizes)
    return sizes.error();
  Result<std::vector<uint32_t>> count = idxSizes(*classes, 1, labels);
  if (!count)
    return count.error();
  if ((*count)[0] != (*sizes)[0])
    return Error{fmt::format("{} has {} images, {} has {} labels", images, (*sizes)[0], labels,
                             (*count)[0])};
  ImageSet set;
  set.height = (*sizes)[1];
  set.width = (*sizes)[2];
  set.pixels.assign(pixels->begin() + 16, pixels->end());
  set.labels.assign(classes->begin() + 8, classes->end());
  return set;
}

Result<ImageSet> readPngFolder(const std::string &folder, uint32_t channels) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> folders;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.is_directory(error))
      folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end());
  if (folders.empty())
    return Error{fmt::format("'{}' has no folders, one a class, of PNG files", folder)};
  ImageSet set;
  set.channels = channels;
  for (const std::string &name : folders) {
    std::vector<std::string> files;
    for (const auto &entry : fs::directory_iterator(name, error))
      if (entry.path().extension() == ".png")
        files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    for (const std::string &file : files) {
      if (Result<void> done = readPng(file, channels, set); !done)
        return done.error();
      set.labels.push_back(static_cast<uint32_t>(set.classes.size()));
    }
    set.classes.push_back(fs::path(name).filename().string());
  }
  if (set.labels.empty())
    return Error{fmt::format("the folders of '{}' have no PNG files", folder)};
  return set;
}

} // namespace hybrid::rt
