//===- Regex.h - patterns that split text -----------------------------------===//
//
// PCRE2 with its compiler, over text that may be ill-formed. Patterns are written for the engine of
// Hugging Face's library (Oniguruma, Ruby's syntax); where the two read one sign differently, the
// pattern is rewritten: \s, \w, \h and their like become the classes that Unicode says. What cannot
// be rewritten is refused.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

class Regex {
public:
  static Result<Regex> compile(std::string_view pattern);
  static Result<Regex> literal(std::string_view text);
  Regex(Regex &&) noexcept;
  Regex &operator=(Regex &&) noexcept;
  ~Regex();

  struct Match {
    size_t begin = 0, end = 0;
  };
  /// Finds one match after another. An object is used by one thread.
  class Finder {
  public:
    Finder(const Regex &regex, std::string_view text);
    ~Finder();
    Finder(const Finder &) = delete;
    Finder &operator=(const Finder &) = delete;
    /// False when there is no other match, or when one took too long to find: see fault().
    bool next(Match &match);
    const std::string &fault() const { return message; }

  private:
    const Regex &regex;
    std::string_view text;      // what is searched
    std::string shadow;         // `text` with ill-formed bytes replaced, if it has any
    std::vector<size_t> places; // in `shadow`, of the replaced bytes
    struct Scratch;
    std::unique_ptr<Scratch> scratch;
    size_t from = 0, lastEnd = 0;
    bool any = false;
    std::string message;
    size_t original(size_t place) const;
  };

private:
  Regex() = default;
  struct Code;
  std::unique_ptr<Code> code;
};

} // namespace hybrid::rt
