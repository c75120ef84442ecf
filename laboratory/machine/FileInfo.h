//===- FileInfo.h - what a file holds ---------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include "runtime/ranks/Transport.h"
#include <cstdint>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

struct InfoOptions {
  std::string file; // .hyx, .safetensors or .npy
  bool json = false;
  bool source = false;        // the text that an executable was compiled from
  bool steps = false;         // every launch and product of every program
  int threads = 0;            // that would run it, for the memory it takes; 0: all
  std::vector<int64_t> ranks; // that would train it together, for what they send
  EmulatedLink link;          // between them
};

/// Prints it.
Result<void> printInfo(const InfoOptions &options);

} // namespace hybrid::rt::lab
