//===- Regex.cpp - patterns that split text ---------------------------------===//
#include "training/tokenizers/Regex.h"
#include "training/tokenizers/Utf8.h"
#include <algorithm>
#include <fmt/format.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace hybrid::rt {
namespace {

constexpr size_t longestPattern = 1 << 16;
// Unassigned, so neither letter, number nor space: what stands for an ill-formed byte.
constexpr uint32_t standIn = 0x10FFFF;
constexpr size_t standInBytes = 4;

// PCRE2 counts U+180E as a space and no mark as part of a word.
constexpr std::string_view spaces =
    "\\x{9}-\\x{d} \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"
    "\\x{3000}";
constexpr std::string_view otherThanSpaces =
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-"
    "\\x{10ffff}";

constexpr std::string_view wordMembers =
    "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}";

struct ClassEscape {
  char letter;
  std::string_view members; // of a class
};
constexpr ClassEscape classEscapes[] = {{'s', spaces},      {'S', otherThanSpaces},
                                        {'w', wordMembers}, {'d', "\\p{Nd}"},
                                        {'D', "\\P{Nd}"},   {'h', "0-9a-fA-F"}};

/// The pattern as PCRE2 must read it.
Result<std::string> translate(std::string_view pattern) {
  std::string out;
  bool inClass = false;
  size_t classStart = 0;
  auto refuse = [&](size_t place, std::string_view what) {
    return Error{fmt::format("{} at position {} of the pattern '{}' is not supported", what, place,
                             pattern)};
  };
  for (size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      char letter = pattern[++i];
      const auto *escape = std::find_if(std::begin(classEscapes), std::end(classEscapes),
                                        [&](const ClassEscape &e) { return e.letter == letter; });
      if (escape != std::end(classEscapes))
        out += inClass ? std::string(escape->members) : fmt::format("[{}]", escape->members);
      else if ((letter == 'W' || letter == 'H') && inClass)
        return refuse(i - 1, fmt::format("'\\{}' within a class", letter));
      else if (letter == 'W')
        out += fmt::format("[^{}]", wordMembers);
      else if (letter == 'H')
        out += "[^0-9a-fA-F]";
      else if (letter == 'b' && !inClass)
        out += fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", wordMembers);
      else if (letter == 'B' && !inClass)
        out += fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", wordMembers);
      else
        (out += '\\') += letter;
      continue;
    }
    if (inClass) {
      bool first = i == classStart + 1 || (i == classStart + 2 && pattern[i - 1] == '^');
      if (c == '[' && pattern.substr(i, 2) == "[:") {
        size_t end = pattern.find(":]", i);
        if (end == std::string_view::npos)
          return refuse(i, "a class without an end");
        std::string_view name = pattern.substr(i, end + 2 - i);
        out += name == "[:alpha:]" ? "\\p{Alphabetic}" : name;
        i = end + 1;
        continue;
      }
      if (c == '[')
        return refuse(i, "a class within a class");
      if (c == '&' && pattern.substr(i, 2) == "&&")
        return refuse(i, "an intersection of classes");
      inClass = c != ']' || first;
    } else if (c == '[') {
      inClass = true;
      classStart = i;
    } else if (c == '(' && pattern.substr(i, 2) == "(*") {
      return refuse(i, "a verb"); // PCRE2's own; they could lift its limits
    } else if (c == '(' && pattern.substr(i, 2) == "(?") {
      size_t end = pattern.find_first_not_of("imx-", i + 2);
      if (end != std::string_view::npos && (pattern[end] == ':' || pattern[end] == ')') &&
          pattern.substr(i, end - i).find('m') != std::string_view::npos)
        return refuse(i, "the option 'm'"); // Ruby's means another thing than PCRE2's
    }
    out += c;
  }
  return out;
}

} // namespace

struct Regex::Code {
  pcre2_code *pattern = nullptr;
  pcre2_match_context *limits = nullptr;
  bool isCompiled = false; // to machine code
  ~Code() {
    pcre2_match_context_free(limits);
    pcre2_code_free(pattern);
  }
};

struct Regex::Finder::Scratch {
  pcre2_match_data *data;
  ~Scratch() { pcre2_match_data_free(data); }
};

Regex::Regex(Regex &&) noexcept = default;
Regex &Regex::operator=(Regex &&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern) {
  if (pattern.size() > longestPattern)
    return Error{
        fmt::format("a pattern of {} bytes is longer than {}", pattern.size(), longestPattern)};
  Result<std::string> translated = translate(pattern);
  if (!translated)
    return translated.error();
  Regex regex;
  regex.code = std::make_unique<Code>();
  int fault = 0;
  size_t place = 0;
  pcre2_compile_context *context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context, 100);
  regex.code->pattern = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translated->data()), translated->size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &fault, &place, context);
  pcre2_compile_context_free(context);
  if (!regex.code->pattern) {
    char text[256] = {};
    pcre2_get_error_message(fault, reinterpret_cast<PCRE2_UCHAR *>(text), sizeof text);
    return Error{fmt::format("the pattern '{}' is not a regular expression: {} (read as '{}', "
                             "position {})",
                             pattern, text, *translated, place)};
  }
  regex.code->isCompiled = pcre2_jit_compile(regex.code->pattern, PCRE2_JIT_COMPLETE) == 0;
  regex.code->limits = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(regex.code->limits, 1'000'000);
  pcre2_set_heap_limit(regex.code->limits, 64 << 10); // KiB
  return regex;
}

Result<Regex> Regex::literal(std::string_view text) {
  std::string pattern;
  for (char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}-#& \n\t\r\f\v").find(c) != std::string_view::npos)
      pattern += fmt::format("\\x{{{:x}}}", static_cast<uint8_t>(c));
    else
      pattern += c;
  }
  return compile(pattern);
}

Regex::Finder::Finder(const Regex &regex, std::string_view whole)
    : regex(regex), text(whole),
      scratch(std::make_unique<Scratch>(pcre2_match_data_create(1, nullptr))) {
  if (utf8::isWellFormed(whole))
    return;
  for (size_t i = 0; i < whole.size();) {
    utf8::Character character = utf8::at(whole, i);
    if (character.isWellFormed()) {
      shadow.append(whole, i, character.bytes);
    } else {
      places.push_back(shadow.size());
      utf8::append(shadow, standIn);
    }
    i += character.bytes;
  }
  text = shadow;
}

Regex::Finder::~Finder() = default;

size_t Regex::Finder::original(size_t place) const {
  auto earlier = std::lower_bound(places.begin(), places.end(), place) - places.begin();
  return place - static_cast<size_t>(earlier) * (standInBytes - 1);
}

bool Regex::Finder::next(Match &match) {
  const auto *subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  while (from <= text.size()) {
    int found = PCRE2_ERROR_JIT_STACKLIMIT;
    if (regex.code->isCompiled)
      found = pcre2_jit_match(regex.code->pattern, subject, text.size(), from, 0, scratch->data,
                              regex.code->limits);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) // the interpreter keeps its state on the heap
      found = pcre2_match(regex.code->pattern, subject, text.size(), from,
                          PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, scratch->data, regex.code->limits);
    if (found == PCRE2_ERROR_NOMATCH)
      return false;
    if (found < 0) {
      char why[256] = {};
      pcre2_get_error_message(found, reinterpret_cast<PCRE2_UCHAR *>(why), sizeof why);
      message = fmt::format("the pattern gave up at byte {} of the text: {}", original(from), why);
      return false;
    }
    const size_t *ends = pcre2_get_ovector_pointer(scratch->data);
    size_t begin = ends[0], end = ends[1];
    if (end < begin) // by \K in a look-ahead
      end = begin;
    from = end;
    if (begin == end) {
      if (end == text.size())
        from = text.size() + 1;
      else
        from += utf8::at(text, end).bytes;
      if (any && begin == lastEnd)
        continue; // an empty match behind a match is none
    }
    any = true;
    lastEnd = end;
    match = places.empty() ? Match{begin, end} : Match{original(begin), original(end)};
    return true;
  }
  return false;
}

} // namespace hybrid::rt
