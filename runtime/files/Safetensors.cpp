//===- Safetensors.cpp - named tensors in one file -------------------------------===//
#include "runtime/files/Safetensors.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/ElementCount.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace hybrid::rt {
namespace {

constexpr uint64_t longestHeader = 100'000'000;

std::optional<std::pair<SafetensorsEntry::Type, uint64_t>> typeNamed(std::string_view name) {
  using Type = SafetensorsEntry::Type;
  if (name == "F32")
    return std::pair(Type::F32, uint64_t(4));
  if (name == "F64")
    return std::pair(Type::F64, uint64_t(8));
  if (name == "I32")
    return std::pair(Type::I32, uint64_t(4));
  if (name == "I64")
    return std::pair(Type::I64, uint64_t(8));
  return std::nullopt;
}

/// Empty, or what is wrong with this entry.
std::string parseEntry(const nlohmann::json &json, std::span<const std::byte> data,
                       SafetensorsEntry &entry, std::pair<uint64_t, uint64_t> &range) {
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return "lacks dtype, shape or data_offsets";
  const auto &dtype = json["dtype"], &shape = json["shape"], &offsets = json["data_offsets"];
  auto type = dtype.is_string() ? typeNamed(dtype.get_ref<const std::string &>()) : std::nullopt;
  if (!type)
    return fmt::format("has type {}, expected F32, F64, I32 or I64", dtype.dump());
  entry.type = type->first;
  if (!shape.is_array() || shape.size() > 32)
    return "has a senseless shape";
  uint64_t bytes = type->second;
  for (const auto &size : shape) {
    if (!size.is_number_unsigned() || __builtin_mul_overflow(bytes, size.get<uint64_t>(), &bytes))
      return "has a senseless shape";
    entry.shape.push_back(static_cast<int64_t>(size.get<uint64_t>()));
  }
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    return "has senseless data_offsets";
  range = {offsets[0].get<uint64_t>(), offsets[1].get<uint64_t>()};
  if (range.first > range.second || range.second > data.size())
    return fmt::format("lies at bytes {} to {} of the data, which has only {}", range.first,
                       range.second, data.size());
  if (range.second - range.first != bytes)
    return fmt::format("has {} bytes, but its shape needs {}", range.second - range.first, bytes);
  entry.data = data.subspan(range.first, bytes);
  return "";
}

} // namespace

int64_t SafetensorsEntry::elements() const { return elementCount(shape); }

const SafetensorsEntry *SafetensorsFile::find(const std::string &name) const {
  auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  auto refuse = [&](std::string_view fault) {
    return Error{fmt::format("{}: not a usable safetensors file: {}", path, fault)};
  };
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.error();
  SafetensorsFile file(std::move(*mapped));
  std::span<const std::byte> whole = file.mapping.bytes();
  if (whole.size() < 10)
    return refuse(fmt::format("truncated: only {} bytes", whole.size()));
  uint64_t headerBytes;
  std::memcpy(&headerBytes, whole.data(), 8);
  if (headerBytes > longestHeader || headerBytes > whole.size() - 8)
    return refuse(fmt::format(
        "the header length at byte 0 is {}, but the file has {} bytes: truncated or damaged",
        headerBytes, whole.size()));
  const char *text = reinterpret_cast<const char *>(whole.data()) + 8;
  // Names that stand twice would silently hide one another.
  Result<nlohmann::json> header =
      parseJson({text, headerBytes}, "its JSON header at byte 8", {.depth = 8, .uniqueKeys = true});
  if (!header)
    return refuse(header.error().message);
  if (!header->is_object())
    return refuse("its JSON header at byte 8 is not an object");
  std::span<const std::byte> data = whole.subspan(8 + headerBytes);
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto &[name, json] : header->items()) {
    if (name == "__metadata__") {
      if (!json.is_object())
        return refuse("its metadata is not an object of strings");
      for (const auto &[key, value] : json.items()) {
        if (!value.is_string())
          return refuse("its metadata is not an object of strings");
        file.strings[key] = value.get<std::string>();
      }
      continue;
    }
    SafetensorsEntry entry;
    std::pair<uint64_t, uint64_t> range;
    if (std::string fault = parseEntry(json, data, entry, range); !fault.empty())
      return refuse(fmt::format("tensor '{}' {}", name, fault));
    file.entries[name] = std::move(entry);
    ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t end = 0;
  for (const auto &range : ranges) {
    if (range.first < end)
      return refuse(fmt::format("two tensors overlap at byte {} of the data", range.first));
    end = std::max(end, range.second);
  }
  if (end != data.size())
    return refuse(fmt::format("{} bytes of data belong to no tensor", data.size() - end));
  return file;
}

Result<void> writeSafetensors(const std::string &path, std::span<const SafetensorsTensor> tensors,
                              const std::map<std::string, std::string> &metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    nlohmann::ordered_json strings;
    for (const auto &[key, value] : metadata)
      strings[key] = value;
    header["__metadata__"] = std::move(strings);
  }
  auto &entries = header.get_ref<nlohmann::ordered_json::object_t &>();
  uint64_t offset = 0;
  for (const SafetensorsTensor &tensor : tensors) {
    int64_t bytes = bytesOf(tensor.type);
    for (int64_t size : tensor.shape)
      bytes *= size;
    if (static_cast<int64_t>(tensor.data.size()) != bytes)
      return Error{fmt::format("cannot write '{}': tensor '{}' has {} bytes, but {} could be read",
                               path, tensor.name, bytes, tensor.data.size())};
    std::string_view type = tensor.type == DType::F64   ? "F64"
                            : tensor.type == DType::I32 ? "I32"
                                                        : "F32";
    // Not by the name, which the library would compare with all names before.
    entries.emplace_back(tensor.name, nlohmann::ordered_json{
                                          {"dtype", type},
                                          {"shape", tensor.shape},
                                          {"data_offsets", {offset, offset + tensor.data.size()}}});
    offset += tensor.data.size();
  }
  std::string text = jsonLine(header);
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t headerBytes = text.size();
  auto file = AtomicFile::create(path);
  if (!file)
    return file.error();
  if (auto done = file->write(std::as_bytes(std::span(&headerBytes, 1))); !done)
    return done;
  if (auto done = file->write(std::string_view(text)); !done)
    return done;
  for (const SafetensorsTensor &tensor : tensors)
    if (auto done = file->write(tensor.data); !done)
      return done;
  return file->commit();
}

} // namespace hybrid::rt
