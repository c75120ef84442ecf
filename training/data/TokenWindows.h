//===- TokenWindows.h - tokens as the instances of a training ---------------===//
//
// Instance number -> tokens, without a state: the place in the data is the step counter.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/data/TokenSet.h"
#include <cstdint>
#include <span>

namespace hybrid::rt {

/// How documents become instances of one length.
enum class Packing : uint8_t {
  Stream,    // windows over all tokens, whatever documents they cross
  Documents, // the same windows; each token has its document's number in the window, and the first
             // token of a document is not predicted from the one before
  Cut        // an instance is a document, cut or padded to the length
};
Result<Packing> packingOf(const std::string &name);

/// Windows of one split.
class TokenWindows {
public:
  TokenWindows(const TokenSplit &split, int64_t length, Packing packing);
  /// 0: the split is too short for one.
  uint64_t windows() const { return count; }
  /// Window `number` of an endless training: each epoch takes every window once, in an order and
  /// from a first token of its own.
  struct Place {
    uint64_t begin = 0, end = 0; // tokens
  };
  Place trainingPlace(uint64_t number, uint64_t seed) const;
  /// Window i < windows(), one behind the other.
  Place place(uint64_t i) const;
  /// inputs, and targets[t] the token after inputs[t] or ignoredTarget. `segments` may be empty.
  void copy(Place place, std::span<int32_t> inputs, std::span<int32_t> targets,
            std::span<int32_t> segments) const;

private:
  const TokenSplit &split;
  uint64_t length, count = 0;
  Packing packing;
};

} // namespace hybrid::rt
