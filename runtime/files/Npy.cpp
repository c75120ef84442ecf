//===- Npy.cpp - arrays in NumPy's file format ----------------------------------===//
#include "runtime/files/Npy.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/ElementCount.h"
#include "runtime/files/File.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <string_view>

namespace hybrid::rt {
namespace {

constexpr size_t longestHeader = 1 << 20;
constexpr int64_t mostBytes = int64_t(1) << 40;

int64_t bytesOf(NpyArray::Element element) {
  switch (element) {
  case NpyArray::Element::F32:
  case NpyArray::Element::I32:
    return 4;
  case NpyArray::Element::F64:
  case NpyArray::Element::I64:
    return 8;
  case NpyArray::Element::U8:
    return 1;
  }
  return 0;
}

/// The text behind `'key':` in the header's dictionary.
std::optional<std::string_view> field(std::string_view header, std::string_view key) {
  for (char quote : {'\'', '"'}) {
    std::string needle = fmt::format("{}{}{}", quote, key, quote);
    size_t at = header.find(needle);
    if (at == std::string_view::npos)
      continue;
    at = header.find_first_not_of(" \t", at + needle.size());
    if (at == std::string_view::npos || header[at] != ':')
      return std::nullopt;
    at = header.find_first_not_of(" \t", at + 1);
    return at == std::string_view::npos ? std::nullopt : std::optional(header.substr(at));
  }
  return std::nullopt;
}

std::optional<NpyArray::Element> elementNamed(std::string_view name) {
  using Element = NpyArray::Element;
  std::pair<std::string_view, Element> known[] = {{"<f4", Element::F32}, {"<f8", Element::F64},
                                                  {"<i4", Element::I32}, {"<i8", Element::I64},
                                                  {"|u1", Element::U8},  {"<u1", Element::U8}};
  for (auto [spelling, element] : known)
    if (name == spelling)
      return element;
  return std::nullopt;
}

/// Empty, or the fault.
std::string parseHeader(std::string_view header, NpyArray &array) {
  auto descr = field(header, "descr"), order = field(header, "fortran_order"),
       shape = field(header, "shape");
  if (!descr || !order || !shape)
    return "the header lacks descr, fortran_order or shape";
  if (descr->size() < 5 || ((*descr)[0] != '\'' && (*descr)[0] != '"'))
    return "the element type is not a simple one";
  auto element = elementNamed(descr->substr(1, 3));
  if (!element || (*descr)[4] != (*descr)[0])
    return fmt::format(
        "element type {} is not supported: expected f4, f8, i4, i8 (little endian) or u1",
        descr->substr(0, std::min<size_t>(8, descr->find(','))));
  array.element = *element;
  if (order->substr(0, 5) != "False")
    return "Fortran order is not supported: save with order='C'";
  if ((*shape)[0] != '(')
    return "the shape is not a tuple";
  std::string_view rest = shape->substr(1);
  int64_t bytes = bytesOf(array.element);
  while (true) {
    rest = rest.substr(std::min(rest.find_first_not_of(" \t,"), rest.size()));
    if (rest.empty())
      return "the shape does not end";
    if (rest[0] == ')')
      return "";
    int64_t size = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc() || size < 0)
      return "the shape holds something that is no size";
    rest = rest.substr(static_cast<size_t>(end - rest.data()));
    if (!rest.empty() && rest[0] == 'L')
      rest = rest.substr(1);
    if (array.shape.size() == 32 || __builtin_mul_overflow(bytes, size, &bytes) ||
        bytes > mostBytes)
      return "the shape is beyond any sense";
    array.shape.push_back(size);
  }
}

template <typename From, typename To>
std::string convertInto(const std::byte *from, std::byte *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof(From)), sizeof(From));
    if constexpr (std::is_integral_v<To>) {
      if constexpr (std::is_floating_point_v<From>)
        return "holds floating point numbers where integers are expected";
      else if (static_cast<int64_t>(value) < std::numeric_limits<To>::min() ||
               static_cast<int64_t>(value) > std::numeric_limits<To>::max())
        return fmt::format("element {} is {}, which does not fit 32 bits", i,
                           static_cast<int64_t>(value));
    }
    To converted = static_cast<To>(value);
    std::memcpy(to + i * static_cast<int64_t>(sizeof(To)), &converted, sizeof(To));
  }
  return "";
}

template <typename To> std::string convertAll(const NpyArray &array, std::byte *to) {
  const std::byte *from = array.data.data();
  switch (array.element) {
  case NpyArray::Element::F32:
    return convertInto<float, To>(from, to, array.elements());
  case NpyArray::Element::F64:
    return convertInto<double, To>(from, to, array.elements());
  case NpyArray::Element::I32:
    return convertInto<int32_t, To>(from, to, array.elements());
  case NpyArray::Element::I64:
    return convertInto<int64_t, To>(from, to, array.elements());
  case NpyArray::Element::U8:
    return convertInto<uint8_t, To>(from, to, array.elements());
  }
  return "has an unknown type";
}

} // namespace

int64_t NpyArray::elements() const { return elementCount(shape); }

Result<std::vector<std::byte>> NpyArray::convertedTo(DType type, const std::string &name) const {
  std::vector<std::byte> result(static_cast<size_t>(elements() * rt::bytesOf(type)));
  std::string fault = type == DType::F64   ? convertAll<double>(*this, result.data())
                      : type == DType::I32 ? convertAll<int32_t>(*this, result.data())
                      : type == DType::F32 ? convertAll<float>(*this, result.data())
                                           : "cannot be converted to bf16";
  if (!fault.empty())
    return Error{fmt::format("'{}' {}", name, fault)};
  return result;
}

Result<NpyArray> readNpy(const std::string &path) {
  auto refuse = [&](std::string_view fault) {
    return Error{fmt::format("{}: not a usable .npy file: {}", path, fault)};
  };
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.error();
  const auto *bytes = reinterpret_cast<const unsigned char *>(mapped->bytes().data());
  uint64_t size = mapped->bytes().size();
  if (size < 10)
    return refuse(fmt::format("truncated: only {} bytes", size));
  if (std::memcmp(bytes, "\x93NUMPY", 6) != 0)
    return refuse("it does not start with the mark of NumPy (byte 0)");
  int version = bytes[6];
  if (version < 1 || version > 3)
    return refuse(fmt::format("format version {} (byte 6), expected 1, 2 or 3", version));
  uint64_t position = version == 1 ? 10 : 12;
  if (size < position)
    return refuse("truncated: it ends inside the header length (byte 8)");
  uint64_t headerBytes = bytes[8] | static_cast<uint64_t>(bytes[9]) << 8;
  if (version > 1)
    headerBytes |= static_cast<uint64_t>(bytes[10]) << 16 | static_cast<uint64_t>(bytes[11]) << 24;
  if (headerBytes > longestHeader)
    return refuse(fmt::format("its header of {} bytes (byte 8) is too long", headerBytes));
  if (headerBytes > size - position)
    return refuse(fmt::format("truncated: it ends at byte {}, inside the header of {} bytes that "
                              "starts at byte {}",
                              size, headerBytes, position));
  NpyArray array;
  std::string_view header(reinterpret_cast<const char *>(bytes) + position, headerBytes);
  if (std::string fault = parseHeader(header, array); !fault.empty())
    return refuse(fmt::format("{} (header at byte {})", fault, position));
  position += headerBytes;
  uint64_t expected = static_cast<uint64_t>(array.elements() * bytesOf(array.element));
  if (size - position != expected)
    return refuse(fmt::format("it holds {} bytes of data from byte {} on, but its shape [{}] needs "
                              "{}",
                              size - position, position, fmt::join(array.shape, ", "), expected));
  auto data = mapped->bytes().subspan(position);
  array.data.assign(data.begin(), data.end());
  return array;
}

Result<void> writeNpy(const std::string &path, DType type, std::span<const int64_t> shape,
                      std::span<const std::byte> data) {
  int64_t bytes = bytesOf(type);
  for (int64_t size : shape)
    bytes *= size;
  if (static_cast<int64_t>(data.size()) != bytes)
    return Error{fmt::format("cannot write '{}': an array of shape [{}] has {} bytes, but {} could "
                             "be read",
                             path, fmt::join(shape, ", "), bytes, data.size())};
  std::string_view descr = type == DType::F64 ? "<f8" : type == DType::I32 ? "<i4" : "<f4";
  std::string sizes = fmt::format("{}", fmt::join(shape, ", "));
  if (shape.size() == 1)
    sizes += ",";
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, sizes);
  size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.append(total - 10 - header.size() - 1, ' ');
  header += '\n';
  auto file = AtomicFile::create(path);
  if (!file)
    return file.error();
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 0xff);
  prefix += static_cast<char>(header.size() >> 8);
  for (std::string_view part : {std::string_view(prefix), std::string_view(header)})
    if (auto done = file->write(part); !done)
      return done;
  if (auto done = file->write(data); !done)
    return done;
  return file->commit();
}

} // namespace hybrid::rt
