//===- Safetensors.h - named tensors in one file ---------------------------------===//
//
// Eight bytes of header length, a JSON header, data. The reader maps the file and believes nothing:
// sizes, offsets, overlap, types and names are checked before anything is used.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/Result.h"
#include "runtime/files/File.h"
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

struct SafetensorsEntry {
  enum class Type : uint8_t { F32, F64, I32, I64, BF16, F16, I16, I8, U8, Bool };
  Type type = Type::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;

  int64_t elements() const;
};

/// As files spell it: "F32", "BF16", ...
std::string_view nameOf(SafetensorsEntry::Type type);
/// Nothing: no type of ours is called so.
std::optional<SafetensorsEntry::Type> safetensorsType(std::string_view name);
/// Bytes of a number.
int64_t bytesOf(SafetensorsEntry::Type type);

class SafetensorsFile {
public:
  static Result<SafetensorsFile> open(const std::string &path);
  const std::map<std::string, SafetensorsEntry> &tensors() const { return entries; }
  const std::map<std::string, std::string> &metadata() const { return strings; }
  /// Null when there is none.
  const SafetensorsEntry *find(const std::string &name) const;

private:
  explicit SafetensorsFile(MappedFile mapping) : mapping(std::move(mapping)) {}
  MappedFile mapping;
  std::map<std::string, SafetensorsEntry> entries;
  std::map<std::string, std::string> strings;
};

struct SafetensorsTensor {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

/// A tensor that is to be written, without its numbers.
struct SafetensorsPlan {
  std::string name;
  SafetensorsEntry::Type type = SafetensorsEntry::Type::F32;
  std::vector<int64_t> shape;
};

/// Writes tensors that are made one after another: `data` is asked once for each, in their order,
/// and what it returns is used before it is asked again. Whole or not at all.
Result<void>
writeSafetensors(const std::string &path, std::span<const SafetensorsPlan> tensors,
                 const std::map<std::string, std::string> &metadata,
                 const std::function<Result<std::span<const std::byte>>(size_t)> &data);

/// Writes whole or not at all: temporary file, sync, rename.
Result<void> writeSafetensors(const std::string &path, std::span<const SafetensorsTensor> tensors,
                              const std::map<std::string, std::string> &metadata);

} // namespace hybrid::rt
