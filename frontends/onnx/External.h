//===- External.h - weights in files beside a model ------------------------------===//
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace hybrid::onnx::frontend {

/// Where the bytes of a stored tensor lie. Length 0: to the end.
struct ExternalPlace {
  std::string location;
  int64_t offset = 0, length = 0;
};

/// The bytes, from a file in the folder of `model` or below it. Nothing and a message in `fault`
/// when they are not there or the location leads out of that folder.
std::optional<std::string> readExternal(const std::string &model, const ExternalPlace &place,
                                        std::string &fault);

} // namespace hybrid::onnx::frontend
