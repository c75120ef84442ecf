//===- TensorHashes.cpp - a hash of each tensor of a file --------------------===//
#include "training/TensorHashes.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <xxhash.h>

namespace hybrid::rt {
using nlohmann::json;

constexpr const char *tensorHashesKey = "tensor_hashes", *metadataHashKey = "metadata_hash";

static std::string hashOf(const std::string &name, std::string_view type,
                          const std::vector<int64_t> &shape, std::span<const std::byte> data) {
  const std::string head = fmt::format("{} {} [{}];", name, type, fmt::join(shape, ","));
  XXH3_state_t *hash = XXH3_createState();
  XXH3_64bits_reset(hash);
  XXH3_64bits_update(hash, head.data(), head.size());
  XXH3_64bits_update(hash, data.data(), data.size());
  std::string text = fmt::format("{:016x}", XXH3_64bits_digest(hash));
  XXH3_freeState(hash);
  return text;
}

/// "f32" and so on: what DType's nameOf() says of the same type.
static std::string lowerCase(SafetensorsEntry::Type type) {
  std::string name(nameOf(type));
  for (char &c : name)
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name;
}

static std::string metadataHash(const std::map<std::string, std::string> &metadata) {
  XXH3_state_t *hash = XXH3_createState();
  XXH3_64bits_reset(hash);
  for (const auto &[key, value] : metadata)
    if (key != metadataHashKey)
      for (const std::string &text : {key, value}) {
        const uint64_t size = text.size();
        XXH3_64bits_update(hash, &size, sizeof size);
        XXH3_64bits_update(hash, text.data(), text.size());
      }
  std::string text = fmt::format("{:016x}", XXH3_64bits_digest(hash));
  XXH3_freeState(hash);
  return text;
}

void addHashes(std::span<const SafetensorsTensor> tensors,
               std::map<std::string, std::string> &metadata) {
  json hashes = json::object();
  for (const SafetensorsTensor &tensor : tensors)
    hashes[tensor.name] = hashOf(tensor.name, nameOf(tensor.type), tensor.shape, tensor.data);
  metadata[tensorHashesKey] = hashes.dump(-1, ' ', true, json::error_handler_t::replace);
  metadata[metadataHashKey] = metadataHash(metadata);
}

Result<void> checkHashes(const SafetensorsFile &file, const std::string &path) {
  auto found = file.metadata().find(tensorHashesKey), sum = file.metadata().find(metadataHashKey);
  const auto none = file.metadata().end();
  if (found == none && sum == none)
    return {};
  const json hashes = found == none ? json() : parseJsonOrNull(found->second);
  if (!hashes.is_object() || sum == none || sum->second != metadataHash(file.metadata()))
    return Error{
        fmt::format("'{}' is damaged: its metadata, at the beginning of the file, does not "
                    "have the hash it was written with; take another copy",
                    path)};
  // The data ends with the file.
  const std::byte *end = nullptr;
  for (const auto &[name, tensor] : file.tensors())
    end = std::max(end, tensor.data.data() + tensor.data.size());
  std::error_code ignored;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, ignored));
  for (const auto &[name, tensor] : file.tensors()) {
    auto recorded = hashes.find(name);
    if (recorded == hashes.end())
      return Error{
          fmt::format("'{}' is damaged: it was written without a tensor '{}'", path, name)};
    if (*recorded == hashOf(name, lowerCase(tensor.type), tensor.shape, tensor.data))
      continue;
    const int64_t first = size - (end - tensor.data.data());
    return Error{
        fmt::format("'{}' is damaged: tensor '{}', bytes {} to {} of the file, does not have "
                    "the hash it was written with; take another copy",
                    path, name, first, first + static_cast<int64_t>(tensor.data.size()) - 1)};
  }
  for (const auto &[name, hash] : hashes.items())
    if (!file.find(name))
      return Error{fmt::format("'{}' is damaged: tensor '{}' is missing", path, name)};
  return {};
}

} // namespace hybrid::rt
