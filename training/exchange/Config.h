//===- Config.h - the settings of a model in Hugging Face's layout ------------===//
//
// A config.json is asked key by key, and notes which keys were read: one that nobody knows would
// change the numbers in silence. Faults are collected, so that one run names them all; a value
// that is at fault reads as its default.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt::exchange {

/// Spellings of one setting; the first that is there counts, the others must agree with it.
using Keys = std::initializer_list<std::string_view>;

class Config {
public:
  /// Takes the infinities of transformers too: a bare `Infinity`, and {"__float__": "Infinity"}.
  static Result<Config> parse(std::string_view text, const std::string &name);

  /// Whether one of these keys is there and not null.
  bool has(Keys keys) const;

  /// Whether a key is there and null.
  bool isNull(std::string_view key) const;
  /// Whether a key is there and a word.
  bool isWord(std::string_view key) const;

  /// Each returns its default where no key is there, or null; without a default that is a fault.
  /// A size is 1 to 2^24, a count 0 to 2^24.
  int64_t size(Keys keys, std::optional<int64_t> otherwise = std::nullopt);
  int64_t count(Keys keys, std::optional<int64_t> otherwise = std::nullopt);
  /// Finite; see numberOrInfinity() for the others.
  double number(Keys keys, std::optional<double> otherwise = std::nullopt);
  double numberOrInfinity(const nlohmann::json &value, const std::string &key);
  bool flag(Keys keys, std::optional<bool> otherwise = std::nullopt);
  std::string word(Keys keys, std::optional<std::string> otherwise = std::nullopt);
  /// Empty where the key is not there or null.
  std::vector<std::string> words(std::string_view key);
  std::vector<int64_t> integers(std::string_view key);
  std::vector<nlohmann::json> list(std::string_view key);
  /// An object among the settings, empty where there is none. Its faults are this one's.
  Config part(std::string_view key);

  /// A setting whose every other value is not supported: `why` says what it would do.
  void only(std::string_view key, const nlohmann::json &value, std::string_view why);
  /// Settings that change no number of a forward pass, whatever they are.
  void withoutEffect(std::initializer_list<std::string_view> keys);

  /// Notes that something is wrong. `text` names the key.
  void fault(std::string text);
  void require(bool condition, const std::string &text) {
    if (!condition)
      fault(text);
  }
  /// All that was wrong, and every key that was not read.
  Result<void> finish() const;

private:
  struct Shared {
    std::string name;
    std::vector<std::string> faults;
    std::vector<Config> parts;
  };
  Config(nlohmann::json object, std::string path, std::shared_ptr<Shared> shared)
      : object(std::move(object)), path(std::move(path)), shared(std::move(shared)) {}
  /// The value of the first key that is there and not null. All are noted as read.
  const nlohmann::json *find(Keys keys);
  std::string spelled(std::string_view key) const { return path + std::string(key); }
  std::string nameOf(Keys keys) const;
  /// The fault of a value that is not what was expected.
  void unexpected(Keys keys, const nlohmann::json &value, std::string_view expected);
  void missing(Keys keys);
  int64_t integer(Keys keys, std::optional<int64_t> otherwise, int64_t least);
  void unread(std::vector<std::string> &names) const;

  nlohmann::json object;
  std::string path; // of this object in the file, with a dot behind it
  std::shared_ptr<Shared> shared;
  std::shared_ptr<std::set<std::string>> read = std::make_shared<std::set<std::string>>();
};

} // namespace hybrid::rt::exchange
