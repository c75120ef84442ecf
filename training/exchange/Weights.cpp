//===- Weights.cpp - the tensors of a folder in Hugging Face's layout ----------===//
#include "training/exchange/Weights.h"
#include "runtime/files/Json.h"
#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace hybrid::rt::exchange {
namespace {

namespace fs = std::filesystem;
using Type = SafetensorsEntry::Type;

float fromBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t toBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) // no number: its upper bits, never an infinity
    return static_cast<uint16_t>((bits >> 16) | ((bits & 0x7f0000) == 0 ? 0x40 : 0));
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// _Float16 would call a function that only newer systems' libgcc has.
float fromF16(uint16_t bits) { return static_cast<float>(std::bit_cast<Eigen::half>(bits)); }
uint16_t toF16(double value) {
  return std::bit_cast<uint16_t>(Eigen::half(static_cast<float>(value)));
}

/// `to` from each number of `from`.
template <typename From, typename To, typename Function>
std::vector<std::byte> eachNumber(std::span<const std::byte> from, Function convert) {
  const size_t count = from.size() / sizeof(From);
  std::vector<std::byte> to(count * sizeof(To));
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof(From));
    const To converted = convert(value);
    std::memcpy(to.data() + i * sizeof(To), &converted, sizeof(To));
  }
  return to;
}

template <typename To> std::vector<std::byte> widenedTo(const SafetensorsEntry &tensor) {
  switch (tensor.type) {
  case Type::BF16:
    return eachNumber<uint16_t, To>(tensor.data, [](uint16_t x) { return To(fromBf16(x)); });
  case Type::F16:
    return eachNumber<uint16_t, To>(tensor.data, [](uint16_t x) { return To(fromF16(x)); });
  case Type::F64:
    return eachNumber<double, To>(tensor.data, [](double x) { return static_cast<To>(x); });
  default:
    return eachNumber<float, To>(tensor.data, [](float x) { return To(x); });
  }
}

template <typename From>
std::vector<std::byte> narrowedFrom(std::span<const std::byte> numbers, Type type) {
  switch (type) {
  case Type::BF16:
    return eachNumber<From, uint16_t>(numbers,
                                      [](From x) { return toBf16(static_cast<float>(x)); });
  case Type::F16:
    return eachNumber<From, uint16_t>(numbers, [](From x) { return toF16(x); });
  case Type::F64:
    return eachNumber<From, double>(numbers, [](From x) { return double(x); });
  default:
    return eachNumber<From, float>(numbers, [](From x) { return static_cast<float>(x); });
  }
}

} // namespace

bool isFloat(Type type) {
  return type == Type::F32 || type == Type::F64 || type == Type::BF16 || type == Type::F16;
}

std::vector<std::byte> widened(const SafetensorsEntry &tensor, bool wide) {
  if (tensor.type == (wide ? Type::F64 : Type::F32))
    return {tensor.data.begin(), tensor.data.end()};
  return wide ? widenedTo<double>(tensor) : widenedTo<float>(tensor);
}

std::vector<std::byte> narrowed(std::span<const std::byte> numbers, bool wide, Type type) {
  if (type == (wide ? Type::F64 : Type::F32))
    return {numbers.begin(), numbers.end()};
  return wide ? narrowedFrom<double>(numbers, type) : narrowedFrom<float>(numbers, type);
}

Result<Weights> Weights::open(const std::string &folder) {
  std::error_code ignored;
  const std::string whole = (fs::path(folder) / "model.safetensors").string(),
                    index = whole + ".index.json";
  const bool sharded = fs::exists(index, ignored);
  if (fs::exists(whole, ignored)) {
    if (sharded)
      return Error{fmt::format("'{}' and '{}' are both there: remove one of them", whole, index)};
    Weights weights;
    if (auto done = weights.add(whole); !done)
      return done.error();
    return weights;
  }
  if (sharded)
    return openShards(folder, index);
  return Error{fmt::format(
      "'{}' holds no weights: expected model.safetensors, or model.safetensors.index.json with its "
      "shards{}",
      folder,
      fs::exists(fs::path(folder) / "pytorch_model.bin", ignored)
          ? ". pytorch_model.bin is a program's own format: save it with safe_serialization=True"
          : "")};
}

Result<Weights> Weights::openShards(const std::string &folder, const std::string &index) {
  auto text = readText(index);
  if (!text)
    return text.error();
  auto document = parseJson(*text, index, {.uniqueKeys = true});
  if (!document)
    return document.error();
  auto map = document->is_object() ? document->find("weight_map") : document->end();
  if (!document->is_object() || map == document->end() || !map->is_object())
    return Error{
        fmt::format("{}: no object 'weight_map' that says which file holds a tensor", index)};
  std::set<std::string> shards;
  for (const auto &[name, file] : map->items()) {
    if (!file.is_string() || file.get<std::string>().find('/') != std::string::npos ||
        !file.get<std::string>().ends_with(".safetensors"))
      return Error{fmt::format("{}: tensor '{}' is said to be in {}, expected the name of a "
                               ".safetensors file in the same folder",
                               index, name, jsonLine(file))};
    shards.insert(file.get<std::string>());
  }
  Weights weights;
  for (const std::string &shard : shards) {
    const std::string path = (fs::path(folder) / shard).string();
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      return Error{fmt::format("'{}' is missing: {} names it, of {} shards. Fetch it", path, index,
                               shards.size())};
    if (auto done = weights.add(path); !done)
      return done.error();
  }
  for (const auto &[name, file] : map->items())
    if (const std::string path = (fs::path(folder) / file.get<std::string>()).string();
        !weights.find(name) || weights.fileOf(name) != path)
      return Error{
          fmt::format("'{}' has no tensor '{}', which {} says it holds", path, name, index)};
  return weights;
}

Result<void> Weights::add(const std::string &path) {
  auto file = SafetensorsFile::open(path);
  if (!file)
    return file.error();
  for (const auto &[name, tensor] : file->tensors()) {
    if (auto [place, isNew] = places.try_emplace(name, path); !isNew)
      return Error{fmt::format("tensor '{}' is in '{}' and in '{}'", name, place->second, path)};
    // The entries stay where they are when the file moves: they are nodes of a map.
    all[name] = &tensor;
  }
  files.push_back(std::move(*file));
  return {};
}

const SafetensorsEntry *Weights::find(const std::string &name) const {
  auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

} // namespace hybrid::rt::exchange
