//===- Topology.cpp - the papers' notation of layer orders ---------------------===//
#include "frontends/dsl/Topology.h"
#include "llvm/ADT/StringExtras.h"

namespace hybrid::dsl {
namespace {

constexpr size_t longest = 10000; // letters
constexpr int deepest = 64;       // parentheses

class Reader {
public:
  explicit Reader(llvm::StringRef text) : text(text) {}

  Topology run() {
    Topology result = sequence(0);
    if (result.error.empty() && position < text.size())
      return fail("')' without '(' before it");
    if (result.error.empty() && result.letters.empty())
      return fail("names no block: expected letters such as \"(HA) x 2\"");
    return result;
  }

private:
  Topology fail(const std::string &message) { return failAt(position, message); }
  static Topology failAt(size_t where, const std::string &message) {
    Topology result;
    result.error = message;
    result.errorPosition = static_cast<uint32_t>(where);
    return result;
  }

  void skip() {
    while (position < text.size() && llvm::StringRef(" \t:,-").contains(text[position]))
      ++position;
  }

  /// A count; -1 when it is too large to mean anything.
  int64_t count() {
    uint64_t value = 0;
    bool large = false;
    while (position < text.size() && llvm::isDigit(text[position])) {
      value = value * 10 + static_cast<uint64_t>(text[position++] - '0');
      large |= value > longest;
      value = std::min<uint64_t>(value, longest + 1);
    }
    return large ? -1 : static_cast<int64_t>(value);
  }

  bool acceptTimes() {
    skip();
    if (text.substr(position).starts_with("\xc3\x97")) { // ×
      position += 2;
      return true;
    }
    if (position < text.size() && (text[position] == 'x' || text[position] == '*')) {
      ++position;
      return true;
    }
    return false;
  }

  bool repeat(Topology &part, int64_t times) {
    if (times < 0 || part.letters.size() * static_cast<size_t>(times) > longest)
      return false;
    size_t size = part.letters.size();
    std::string letters;
    std::vector<uint32_t> positions;
    for (int64_t i = 0; i < times; ++i) {
      letters.append(part.letters, 0, size);
      positions.insert(positions.end(), part.positions.begin(), part.positions.end());
    }
    part.letters = std::move(letters);
    part.positions = std::move(positions);
    return true;
  }

  Topology sequence(int depth) {
    Topology result;
    while (true) {
      skip();
      if (position >= text.size() || text[position] == ')')
        return result;
      Topology part = item(depth);
      if (!part.error.empty())
        return part;
      if (result.letters.size() + part.letters.size() > longest)
        return fail("stands for more than " + std::to_string(longest) + " blocks");
      result.letters += part.letters;
      result.positions.insert(result.positions.end(), part.positions.begin(), part.positions.end());
    }
  }

  Topology item(int depth) {
    int64_t before = 1;
    size_t start = position;
    if (llvm::isDigit(text[position])) {
      before = count();
      skip();
      if (position >= text.size())
        return failAt(start, "a count stands before a letter or a group");
      if (before == 0)
        return failAt(start, "a count of 0 leaves nothing");
    }
    Topology part;
    char c = text[position];
    if (c == '(') {
      size_t open = position++;
      if (depth >= deepest)
        return failAt(open, "parentheses are nested too deeply");
      part = sequence(depth + 1);
      if (!part.error.empty())
        return part;
      if (position >= text.size())
        return failAt(open, "'(' is never closed");
      ++position;
      if (part.letters.empty())
        return failAt(open, "a group is empty");
    } else if (llvm::isAlpha(c) && c != 'x') {
      part.letters = c;
      part.positions.push_back(static_cast<uint32_t>(position++));
    } else {
      return fail(c == 'x' ? "'x' stands after a group or a letter, before a count"
                           : "'" + std::string(1, c) +
                                 "' means nothing in a topology: expected letters, counts, "
                                 "parentheses and 'x N'");
    }
    if (!repeat(part, before))
      return failAt(start, "stands for more than " + std::to_string(longest) + " blocks");
    while (acceptTimes()) {
      skip();
      size_t where = position;
      if (position >= text.size() || !llvm::isDigit(text[position]))
        return fail("expected a count after 'x'");
      int64_t times = count();
      if (times == 0)
        return failAt(where, "a count of 0 leaves nothing");
      if (!repeat(part, times))
        return failAt(where, "stands for more than " + std::to_string(longest) + " blocks");
    }
    return part;
  }

  llvm::StringRef text;
  size_t position = 0;
};

} // namespace

Topology readTopology(llvm::StringRef text) { return Reader(text).run(); }

} // namespace hybrid::dsl
