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

struct NamedType {
  std::string_view name;
  int64_t bytes;
};
/// In the order of SafetensorsEntry::Type.
constexpr NamedType types[] = {{"F32", 4}, {"F64", 8}, {"I32", 4}, {"I64", 8}, {"BF16", 2},
                               {"F16", 2}, {"I16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}};

/// Empty, or what is wrong with this entry.
std::string parseEntry(const nlohmann::json &json, std::span<const std::byte> data,
                       SafetensorsEntry &entry, std::pair<uint64_t, uint64_t> &range) {
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return "lacks dtype, shape or data_offsets";
  const auto &dtype = json["dtype"], &shape = json["shape"], &offsets = json["data_offsets"];
  auto type =
      dtype.is_string() ? safetensorsType(dtype.get_ref<const std::string &>()) : std::nullopt;
  if (!type)
    return fmt::format("has type {}, expected F32, F64, BF16, F16, I64, I32, I16, I8, U8 or BOOL",
                       dtype.dump());
  entry.type = *type;
  if (!shape.is_array() || shape.size() > 32)
    return "has a senseless shape";
  auto bytes = static_cast<uint64_t>(bytesOf(*type));
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

std::string_view nameOf(SafetensorsEntry::Type type) {
  return types[static_cast<size_t>(type)].name;
}

std::optional<SafetensorsEntry::Type> safetensorsType(std::string_view name) {
  for (size_t i = 0; i < std::size(types); ++i)
    if (types[i].name == name)
      return static_cast<SafetensorsEntry::Type>(i);
  return std::nullopt;
}

int64_t bytesOf(SafetensorsEntry::Type type) { return types[static_cast<size_t>(type)].bytes; }

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

Result<void>
writeSafetensors(const std::string &path, std::span<const SafetensorsPlan> tensors,
                 const std::map<std::string, std::string> &metadata,
                 const std::function<Result<std::span<const std::byte>>(size_t)> &data) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    nlohmann::ordered_json strings;
    for (const auto &[key, value] : metadata)
      strings[key] = value;
    header["__metadata__"] = std::move(strings);
  }
  auto &entries = header.get_ref<nlohmann::ordered_json::object_t &>();
  auto bytesOfTensor = [](const SafetensorsPlan &tensor) {
    return static_cast<uint64_t>(elementCount(tensor.shape) * bytesOf(tensor.type));
  };
  uint64_t offset = 0;
  for (const SafetensorsPlan &tensor : tensors) {
    const uint64_t end = offset + bytesOfTensor(tensor);
    // Not by the name, which the library would compare with all names before.
    entries.emplace_back(tensor.name, nlohmann::ordered_json{{"dtype", nameOf(tensor.type)},
                                                             {"shape", tensor.shape},
                                                             {"data_offsets", {offset, end}}});
    offset = end;
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
  for (size_t i = 0; i < tensors.size(); ++i) {
    auto bytes = data(i);
    if (!bytes)
      return bytes.error();
    if (bytes->size() != bytesOfTensor(tensors[i]))
      return Error{fmt::format("cannot write '{}': tensor '{}' has {} bytes, but {} could be read",
                               path, tensors[i].name, bytesOfTensor(tensors[i]), bytes->size())};
    if (auto done = file->write(*bytes); !done)
      return done;
  }
  return file->commit();
}

Result<void> writeSafetensors(const std::string &path, std::span<const SafetensorsTensor> tensors,
                              const std::map<std::string, std::string> &metadata) {
  using Type = SafetensorsEntry::Type;
  std::vector<SafetensorsPlan> plans;
  for (const SafetensorsTensor &tensor : tensors)
    plans.push_back({tensor.name,
                     tensor.type == DType::F64   ? Type::F64
                     : tensor.type == DType::I32 ? Type::I32
                                                 : Type::F32,
                     tensor.shape});
  return writeSafetensors(
      path, plans, metadata,
      [&](size_t i) -> Result<std::span<const std::byte>> { return tensors[i].data; });
}

} // namespace hybrid::rt
