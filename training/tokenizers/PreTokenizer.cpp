//===- PreTokenizer.cpp - text into the pieces that a model encodes ---------===//
#include "training/tokenizers/PreTokenizer.h"
#include "training/tokenizers/ByteAlphabet.h"
#include "training/tokenizers/Normalizer.h"
#include "training/tokenizers/Regex.h"
#include "training/tokenizers/Utf8.h"
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <vector>

namespace hybrid::rt {

const char *const gpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const char *const llama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {

/// What becomes of a match and of the text around it.
enum class Behavior : uint8_t { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

Behavior readBehavior(const JsonNode &node, Behavior otherwise) {
  return static_cast<Behavior>(node.choice(
      "behavior", {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"},
      static_cast<size_t>(otherwise)));
}

/// Cuts a text at matches that are told one after another, and at the gaps between them. Inverted,
/// a match counts as a gap and a gap as a match.
class Cutter {
public:
  Cutter(std::string_view text, bool atStart, Behavior behavior, PieceSink &out,
         bool invert = false)
      : text(text), atStart(atStart), behavior(behavior), out(out), invert(invert) {}

  bool match(size_t begin, size_t end) {
    return (begin <= done || stretch(done, begin, invert)) && stretch(begin, end, !invert);
  }
  bool finish() {
    if (done < text.size() && !stretch(done, text.size(), invert))
      return false;
    return pendingBegin >= pendingEnd || give(pendingBegin, pendingEnd);
  }

private:
  bool stretch(size_t begin, size_t end, bool isMatch) {
    done = end;
    bool joins = false;
    switch (behavior) {
    case Behavior::Removed:
      return isMatch || give(begin, end);
    case Behavior::Isolated:
      return give(begin, end);
    case Behavior::Contiguous:
      joins = any && isMatch == lastMatch;
      break;
    case Behavior::MergedWithPrevious:
      joins = isMatch && !lastMatch && any;
      break;
    case Behavior::MergedWithNext: // a match goes to the gap behind it, not to another match
      joins = lastMatch && !isMatch;
      break;
    }
    lastMatch = isMatch;
    any = true;
    if (joins) {
      pendingEnd = end;
      return true;
    }
    bool goesOn = pendingBegin >= pendingEnd || give(pendingBegin, pendingEnd);
    pendingBegin = begin;
    pendingEnd = end;
    return goesOn;
  }
  bool give(size_t begin, size_t end) {
    return begin == end || out.take(text.substr(begin, end - begin), atStart && begin == 0);
  }

  std::string_view text;
  bool atStart;
  Behavior behavior;
  PieceSink &out;
  bool invert;
  size_t done = 0, pendingBegin = 0, pendingEnd = 0;
  bool lastMatch = false, any = false;
};

class RegexSplit final : public PreTokenizer {
public:
  RegexSplit(Regex regex, Behavior behavior, bool invert)
      : regex(std::move(regex)), behavior(behavior), invert(invert) {}

  bool split(std::string_view text, bool atStart, PieceSink &out,
             std::string &fault) const override {
    Cutter cutter(text, atStart, behavior, out, invert);
    Regex::Finder finder(regex, text);
    for (Regex::Match match; finder.next(match);)
      if (!cutter.match(match.begin, match.end))
        return false;
    if (!finder.fault().empty()) {
      fault = finder.fault();
      return false;
    }
    return cutter.finish();
  }

private:
  Regex regex;
  Behavior behavior;
  bool invert;
};

/// Every character of a kind is a match.
class CharacterSplit final : public PreTokenizer {
public:
  using Test = std::function<bool(uint32_t)>;
  CharacterSplit(Test test, Behavior behavior) : test(std::move(test)), behavior(behavior) {}

  bool split(std::string_view text, bool atStart, PieceSink &out, std::string &) const override {
    Cutter cutter(text, atStart, behavior, out);
    for (size_t i = 0; i < text.size();) {
      utf8::Character character = utf8::at(text, i);
      if (test(character.point) && !cutter.match(i, i + character.bytes))
        return false;
      i += character.bytes;
    }
    return cutter.finish();
  }

private:
  Test test;
  Behavior behavior;
};

/// Runs of word characters, and runs of others, without the spaces.
class WordsAndSigns final : public PreTokenizer {
public:
  bool split(std::string_view text, bool atStart, PieceSink &out, std::string &) const override {
    auto kindOf = [](uint32_t point) {
      return utf8::isWord(point) ? 1 : utf8::isSpace(point) ? 0 : 2;
    };
    for (size_t begin = 0; begin < text.size();) {
      utf8::Character first = utf8::at(text, begin);
      int kind = kindOf(first.point);
      size_t end = begin + first.bytes;
      for (; end < text.size(); end += utf8::at(text, end).bytes)
        if (kindOf(utf8::at(text, end).point) != kind)
          break;
      if (kind != 0 && !out.take(text.substr(begin, end - begin), atStart && begin == 0))
        return false;
      begin = end;
    }
    return true;
  }
};

class ByteLevel final : public PreTokenizer {
public:
  ByteLevel(std::unique_ptr<Regex> regex, bool addSpace)
      : regex(std::move(regex)), addSpace(addSpace) {}

  bool split(std::string_view text, bool atStart, PieceSink &out,
             std::string &fault) const override {
    std::string spaced;
    if (addSpace && !text.starts_with(' '))
      text = spaced = " " + std::string(text);
    if (!regex)
      return give(text, atStart, out);
    Regex::Finder finder(*regex, text);
    size_t done = 0;
    for (Regex::Match match; finder.next(match); done = match.end)
      if (!give(text.substr(done, match.begin - done), atStart && done == 0, out) ||
          !give(text.substr(match.begin, match.end - match.begin), atStart && match.begin == 0,
                out))
        return false;
    fault = finder.fault();
    return fault.empty() && give(text.substr(done), atStart && done == 0, out);
  }

private:
  static bool give(std::string_view bytes, bool atStart, PieceSink &out) {
    if (bytes.empty())
      return true;
    std::string characters;
    appendByteCharacters(characters, bytes);
    return out.take(characters, atStart);
  }

  std::unique_ptr<Regex> regex;
  bool addSpace;
};

class Metaspace final : public PreTokenizer {
public:
  enum Scheme : uint8_t { First, Never, Always };
  Metaspace(std::string mark, Scheme scheme, bool cuts)
      : mark(std::move(mark)), scheme(scheme), cuts(cuts) {}

  bool split(std::string_view text, bool atStart, PieceSink &out, std::string &) const override {
    std::string marked;
    for (char c : text)
      if (c == ' ')
        marked += mark;
      else
        marked += c;
    bool prepends = scheme == Always || (scheme == First && atStart);
    if (prepends && !marked.starts_with(mark))
      marked.insert(0, mark);
    if (!cuts)
      return out.take(marked, atStart);
    Cutter cutter(marked, atStart, Behavior::MergedWithNext, out);
    for (size_t at = 0; (at = marked.find(mark, at)) != std::string::npos; at += mark.size())
      if (!cutter.match(at, at + mark.size()))
        return false;
    return cutter.finish();
  }

private:
  std::string mark;
  Scheme scheme;
  bool cuts;
};

class FixedLength final : public PreTokenizer {
public:
  explicit FixedLength(uint64_t length) : length(length) {}
  bool split(std::string_view text, bool atStart, PieceSink &out, std::string &) const override {
    for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      for (uint64_t i = 0; i < length && end < text.size(); ++i)
        end += utf8::at(text, end).bytes;
      if (!out.take(text.substr(begin, end - begin), atStart && begin == 0))
        return false;
    }
    return true;
  }

private:
  uint64_t length;
};

/// One step after another: each takes the pieces of the one before.
class Sequence final : public PreTokenizer {
public:
  explicit Sequence(std::vector<std::unique_ptr<PreTokenizer>> steps) : steps(std::move(steps)) {}
  bool split(std::string_view text, bool atStart, PieceSink &out,
             std::string &fault) const override {
    return Run(*this, text.size(), out, fault).from(0, text, atStart);
  }

private:
  /// Of one text.
  struct Run {
    Run(const Sequence &sequence, size_t given, PieceSink &out, std::string &fault)
        : steps(sequence.steps), given(given), made(steps.size()), out(out), fault(fault) {}

    /// A piece goes through the steps from `step` on.
    bool from(size_t step, std::string_view text, bool atStart) {
      if (step == steps.size())
        return out.take(text, atStart);
      struct Next final : PieceSink {
        Next(Run &run, size_t step) : run(run), step(step) {}
        bool take(std::string_view piece, bool atStart) override {
          if (isOvergrown(run.made[step] += piece.size(), run.given)) {
            run.fault = overgrown(run.given).message;
            return false;
          }
          return run.from(step + 1, piece, atStart);
        }
        Run &run;
        size_t step;
      } next(*this, step);
      return steps[step]->split(text, atStart, next, fault);
    }

    const std::vector<std::unique_ptr<PreTokenizer>> &steps;
    size_t given;
    std::vector<size_t> made; // bytes, by each step
    PieceSink &out;
    std::string &fault;
  };

  std::vector<std::unique_ptr<PreTokenizer>> steps;
};

bool isBertPunctuation(uint32_t point) {
  bool isAscii = (point >= 33 && point <= 47) || (point >= 58 && point <= 64) ||
                 (point >= 91 && point <= 96) || (point >= 123 && point <= 126);
  return isAscii || utf8::isPunctuation(point);
}

std::unique_ptr<PreTokenizer> characters(CharacterSplit::Test test, Behavior behavior) {
  return std::make_unique<CharacterSplit>(std::move(test), behavior);
}

std::unique_ptr<PreTokenizer> readSplit(const JsonNode &node) {
  node.allowOnly({"type", "pattern", "behavior", "invert"});
  JsonNode pattern = node["pattern"];
  pattern.allowOnly({"String", "Regex"});
  bool isLiteral = !pattern["String"].isNull();
  std::string text = pattern.string(isLiteral ? "String" : "Regex");
  Result<Regex> regex = isLiteral ? Regex::literal(text) : Regex::compile(text);
  if (!regex) {
    pattern.note(isLiteral ? "String" : "Regex", regex.error().message);
    return nullptr;
  }
  return std::make_unique<RegexSplit>(std::move(*regex), readBehavior(node, Behavior::Isolated),
                                      node.boolean("invert", false));
}

std::unique_ptr<PreTokenizer> readByteLevel(const JsonNode &node) {
  node.allowOnly({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  std::unique_ptr<Regex> regex;
  if (node.boolean("use_regex", true)) {
    Result<Regex> compiled = Regex::compile(gpt2Pattern);
    if (!compiled) {
      node.refuse(compiled.error().message);
      return nullptr;
    }
    regex = std::make_unique<Regex>(std::move(*compiled));
  }
  return std::make_unique<ByteLevel>(std::move(regex), node.boolean("add_prefix_space", true));
}

std::unique_ptr<PreTokenizer> readMetaspace(const JsonNode &node) {
  node.allowOnly({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
  auto scheme = static_cast<Metaspace::Scheme>(
      node.choice("prepend_scheme", {"first", "never", "always"}, Metaspace::Always));
  if (!node.boolean("add_prefix_space", true))
    scheme = Metaspace::Never;
  return std::make_unique<Metaspace>(utf8::encoded(node.character("replacement", 0x2581)), scheme,
                                     node.boolean("split", true));
}

std::unique_ptr<PreTokenizer> readSequence(const JsonNode &node) {
  constexpr size_t mostSteps = 32;
  node.allowOnly({"type", "pretokenizers"});
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  std::vector<JsonNode> children = node.elements("pretokenizers");
  if (children.size() > mostSteps)
    node.note("pretokenizers", fmt::format("more than {} steps are not supported", mostSteps));
  for (const JsonNode &child : children)
    if (auto step = readPreTokenizer(child))
      steps.push_back(std::move(step));
  return std::make_unique<Sequence>(std::move(steps));
}

} // namespace

std::unique_ptr<PreTokenizer> readPreTokenizer(const JsonNode &node) {
  if (node.isNull() || !node.isGood())
    return nullptr;
  std::string type = node.string("type");
  if (type == "Sequence")
    return readSequence(node);
  if (type == "Split")
    return readSplit(node);
  if (type == "ByteLevel")
    return readByteLevel(node);
  if (type == "Metaspace")
    return readMetaspace(node);
  if (type == "Whitespace")
    return std::make_unique<WordsAndSigns>();
  if (type == "WhitespaceSplit")
    return characters(utf8::isSpace, Behavior::Removed);
  if (type == "Punctuation")
    return characters(isBertPunctuation, readBehavior(node, Behavior::Isolated));
  if (type == "Digits")
    return characters(utf8::isNumber, node.boolean("individual_digits", false)
                                          ? Behavior::Isolated
                                          : Behavior::Contiguous);
  if (type == "CharDelimiterSplit")
    return characters(
        [delimiter = node.character("delimiter", 0)](uint32_t point) { return point == delimiter; },
        Behavior::Removed);
  if (type == "FixedLength") {
    uint64_t length = node.count("length", 1 << 20, 5);
    if (length == 0)
      node.note("length", "must be at least 1");
    return std::make_unique<FixedLength>(std::max<uint64_t>(1, length));
  }
  if (type == "BertPreTokenizer") {
    std::vector<std::unique_ptr<PreTokenizer>> steps;
    steps.push_back(characters(utf8::isSpace, Behavior::Removed));
    steps.push_back(characters(isBertPunctuation, Behavior::Isolated));
    return std::make_unique<Sequence>(std::move(steps));
  }
  node.note("type",
            fmt::format("the pre-tokenizer '{}' is not supported; supported: Sequence, Split, "
                        "ByteLevel, Metaspace, Whitespace, WhitespaceSplit, Punctuation, Digits, "
                        "CharDelimiterSplit, FixedLength, BertPreTokenizer",
                        type));
  return nullptr;
}

} // namespace hybrid::rt
