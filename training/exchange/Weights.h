//===- Weights.h - the tensors of a folder in Hugging Face's layout ------------===//
#pragma once
#include "runtime/files/Safetensors.h"
#include <map>
#include <string>
#include <vector>

namespace hybrid::rt::exchange {

/// model.safetensors, or the shards that model.safetensors.index.json names. Files are mapped, and
/// believed nothing.
class Weights {
public:
  static Result<Weights> open(const std::string &folder);

  const std::map<std::string, const SafetensorsEntry *> &tensors() const { return all; }
  /// Null when there is none.
  const SafetensorsEntry *find(const std::string &name) const;
  /// The file that holds a tensor, for messages.
  const std::string &fileOf(const std::string &name) const { return places.at(name); }

private:
  Result<void> add(const std::string &path);
  static Result<Weights> openShards(const std::string &folder, const std::string &index);

  std::vector<SafetensorsFile> files;
  std::map<std::string, const SafetensorsEntry *> all;
  std::map<std::string, std::string> places;
};

/// The numbers of a tensor as f32, or as f64 with `wide`; from f32, bf16, f16 (and f64 if wide).
std::vector<std::byte> widened(const SafetensorsEntry &tensor, bool wide);
/// Back to a type, rounded to the nearest, ties to even: what was widened comes back bit by bit.
std::vector<std::byte> narrowed(std::span<const std::byte> numbers, bool wide,
                                SafetensorsEntry::Type type);
/// Whether a type is one of those.
bool isFloat(SafetensorsEntry::Type type);

} // namespace hybrid::rt::exchange
