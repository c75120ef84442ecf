//===- Space.h - the points of a model with choices ---------------------------===//
//
// What `hybridc --choices=json` says of a model, its points by number, and a model text with the
// choices of a point filled in.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

struct Choice {
  struct Option {
    std::string setting, source; // as `--set` takes it; as the language writes it
  };
  std::string name, type;
  uint64_t offset = 0, bytes = 0; // of the default in the model text
  std::vector<Option> options;
};

struct Space {
  std::string model;
  std::vector<Choice> choices; // in the order of the parameters
  uint64_t points = 1;

  static Result<Space> parse(const nlohmann::json &json);

  /// The option of each choice at a point: the last choice changes first.
  std::vector<size_t> optionsAt(uint64_t point) const;
  /// NAME -> VALUE for `--set`.
  std::map<std::string, std::string> settingsAt(uint64_t point) const;
  /// "blocks=HA heads=8": without the choices that have one option only.
  std::string nameOf(uint64_t point) const;
  /// The model text with every choice's default replaced; all else stays as it is.
  Result<std::string> fillIn(const std::string &source, uint64_t point) const;
};

/// A random order of 0 .. size-1 that follows from the seed, without keeping it: the bits of a
/// number go through a Feistel network of four rounds, again and again until the result is in
/// range.
class RandomOrder {
public:
  RandomOrder(uint64_t size, uint64_t seed);
  uint64_t at(uint64_t index) const;

private:
  uint64_t size, seed;
  int halfBits = 1;
};

} // namespace hybrid::rt::lab
