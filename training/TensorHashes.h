//===- TensorHashes.h - a hash of each tensor of a file ----------------------===//
//
// In the metadata of a safetensors file, `tensor_hashes` is a JSON object: for each tensor XXH3-64
// of its name, type, shape and bytes; `metadata_hash` is XXH3-64 of all other metadata. What
// another program wrote has neither and is taken as it is.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/files/Safetensors.h"

namespace hybrid::rt {

/// Adds the hashes to the metadata of tensors that are to be written.
void addHashes(std::span<const SafetensorsTensor> tensors,
               std::map<std::string, std::string> &metadata);

/// Fails when a tensor or the metadata are not what was written. `path` is where the file was
/// opened; the error names it, the tensor and its bytes.
Result<void> checkHashes(const SafetensorsFile &file, const std::string &path);

} // namespace hybrid::rt
