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
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

struct SafetensorsEntry {
  enum class Type : uint8_t { F32, F64, I32, I64 };
  Type type = Type::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;

  int64_t elements() const;
};

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

/// Writes whole or not at all: temporary file, sync, rename.
Result<void> writeSafetensors(const std::string &path, std::span<const SafetensorsTensor> tensors,
                              const std::map<std::string, std::string> &metadata);

} // namespace hybrid::rt
