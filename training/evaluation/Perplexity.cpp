//===- Perplexity.cpp - how well a model predicts texts ---------------------------===//
//
// A text is predicted in windows of `length` tokens: the first window predicts all of its tokens,
// and each one that follows the next `stride`, with all before them in the window as context.
// Without a length a text is predicted as one.
//
//===----------------------------------------------------------------------===//
#include "training/evaluation/SuiteTask.h"
#include <algorithm>
#include <fmt/format.h>
#include <numbers>

namespace hybrid::rt {
namespace {

/// Tokens [begin, end) of a text, of which those from `first` on are predicted.
struct Window {
  size_t text = 0, begin = 0, first = 0, end = 0;
};

class Perplexity final : public SuiteTask {
public:
  std::vector<std::vector<int32_t>> texts;
  std::vector<Window> windows;

  size_t examples() const override { return windows.size(); }

  Result<std::vector<Share>> score(TextScorer &scorer, size_t example) override {
    const Window &window = windows[example];
    const std::span<const int32_t> tokens = texts[window.text];
    auto bytes = bytesOf(scorer.tokenizer(), tokens, window.first, window.end);
    if (!bytes)
      return bytes.error();
    auto found = scorer.predict(tokens.subspan(window.begin, window.end - window.begin),
                                window.first - window.begin);
    if (!found)
      return found.error();
    const double loss = -found->logProbability;
    return std::vector<Share>{{"bits_per_byte", loss / std::numbers::ln2, *bytes},
                              {"loss_per_token", loss, static_cast<double>(found->tokens)}};
  }

  void derive(std::vector<Figure> &figures) const override {
    addExponential(figures, "loss_per_token", "perplexity_per_token");
  }

  void addText(std::vector<int32_t> tokens, size_t length, size_t stride) {
    const size_t count = tokens.size();
    for (size_t first = 1; first < count;) {
      const size_t step = !length ? count : first == 1 ? length : stride;
      const size_t end = std::min(count, first + step);
      // The last token is predicted and not read, so a window of `length` has one token more.
      windows.push_back({texts.size(), length && end > length ? end - length - 1 : 0, first, end});
      first = end;
    }
    texts.push_back(std::move(tokens));
  }

private:
  /// Bytes of some tokens' text; what the first one gives can depend on the one before.
  static Result<double> bytesOf(const Tokenizer &tokenizer, std::span<const int32_t> tokens,
                                size_t first, size_t end) {
    auto before = tokenizer.decode(tokens.subspan(first - 1, 1), {});
    auto all = tokenizer.decode(tokens.subspan(first - 1, end - first + 1), {});
    if (!before || !all)
      return before ? all.error() : before.error();
    return static_cast<double>(all->size()) - static_cast<double>(before->size());
  }
};

} // namespace

Result<std::unique_ptr<SuiteTask>> openPerplexity(const JsonNode &node, SuiteData &data,
                                                  const TextScorer &scorer) {
  node.allowOnly({"name", "kind", "data", "limit", "text", "length", "stride"});
  const TextTemplate text = templateOf(node, "text", "{text}");
  constexpr uint64_t longest = uint64_t{1} << 24;
  const uint64_t length = node.count("length", longest, 0);
  const uint64_t stride = node.count("stride", longest, length);
  if (!length && !node["stride"].isNull())
    node.note("stride", "goes with a length");
  if (length && (stride < 1 || stride > length))
    node.note("stride", fmt::format("must be a number from 1 to the length, {}", length));
  auto records = data.records(node.string("data"));
  if (!node.isGood())
    return std::unique_ptr<SuiteTask>();
  if (!records)
    return records.error();
  auto task = std::make_unique<Perplexity>();
  const size_t used = limitOf(node, (*records)->size());
  for (const Record &record : std::span(**records).first(used)) {
    auto filled = text.fill(record);
    auto tokens = filled ? scorer.encode(*filled) : filled.error();
    if (!tokens)
      return tokens.error();
    if (tokens->size() < 2)
      return Error{fmt::format("{}: the text has no token that could be predicted", record.place)};
    task->addText(std::move(*tokens), length, stride);
  }
  return std::unique_ptr<SuiteTask>(std::move(task));
}

} // namespace hybrid::rt
