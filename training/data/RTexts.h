//===- RTexts.h - texts in an R package's data ------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

/// A character vector of a package, its elements as lines.
struct RText {
  std::string name, text;
};

/// The character vectors in a lazy-load data base (Rdata.rdb) and its index beside it (Rdata.rdx),
/// as R packages install their data: objects in R's XDR serialization (R Internals, section 1.8),
/// each compressed with zlib behind its size. Errors name the file and the byte.
Result<std::vector<RText>> readRTexts(const std::string &path);

/// The elements of one serialized character vector, a line each; an error for any other object.
Result<std::string> textOfRObject(std::span<const std::byte> serialized);

} // namespace hybrid::rt
