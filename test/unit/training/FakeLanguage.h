//===- FakeLanguage.h - a language model of a few lines ------------------------===//
#pragma once
#include "training/LanguageModel.h"
#include "training/Rng.h"
#include "training/tokenizers/SimpleTokenizers.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace hybrid::rt {

/// Expects the byte that followed the same bytes in a text, and where there are none any byte
/// by a hash of all bytes before. Its state is the bytes themselves, so whoever restores a wrong
/// place is told.
class FakeNextToken final : public NextToken {
public:
  FakeNextToken(std::string text, size_t history, size_t *taken)
      : text(std::move(text)), history(history), taken(taken) {}

  int64_t vocabulary() const override { return 256; }
  Session &session() override { std::abort(); }

  Result<void> expectEach(std::span<const int32_t> tokens, size_t first,
                          const Visit &visit) override {
    EXPECT_LE(state.size(), first) << "shown already";
    for (size_t i = 0; i < state.size() && i < tokens.size(); ++i)
      EXPECT_EQ(state[i], tokens[i]) << "another text, at " << i;
    for (size_t i = state.size(); i < tokens.size(); ++i) {
      state.push_back(tokens[i]);
      ++*taken;
      if (i >= first)
        visit(i, logits());
    }
    return {};
  }
  /// One more token, of whatever text it is at.
  Result<void> take(int32_t token, const Visit &visit) {
    std::vector<int32_t> tokens = state;
    tokens.push_back(token);
    return expectEach(tokens, tokens.size() - 1, visit);
  }
  Place where() const override { return {{static_cast<int64_t>(state.size()), {}}, 0, true}; }
  Result<Place> save() override {
    Place place = where();
    const auto bytes = std::as_bytes(std::span(state));
    place.states.states.emplace_back(bytes.begin(), bytes.end());
    return place;
  }
  Result<void> restore(const Place &place) override {
    state.clear();
    if (place.states.states.empty())
      return {};
    state.resize(place.states.states[0].size() / sizeof(int32_t));
    std::memcpy(state.data(), place.states.states[0].data(), place.states.states[0].size());
    return {};
  }
  void restart() override { state.clear(); }

private:
  std::vector<double> logits() const {
    uint64_t hash = 1;
    std::string last;
    for (int32_t token : state) {
      hash = mixBits(hash ^ static_cast<uint64_t>(token));
      last += static_cast<char>(token);
    }
    last = last.substr(last.size() - std::min(last.size(), history));
    std::vector<double> counts(256);
    for (size_t c = 0; c < 256; ++c)
      counts[c] = 1e-3 * Rng(hash, 0, c).uniform();
    for (size_t at = text.find(last); at != std::string::npos; at = text.find(last, at + 1))
      if (at + last.size() < text.size())
        counts[static_cast<uint8_t>(text[at + last.size()])] += 1;
    for (double &count : counts)
      count = std::log(count);
    return counts;
  }

  std::string text;
  size_t history, *taken;
  std::vector<int32_t> state;
};

/// Rows of it; one without a token forgets its text.
class FakeTokenRows final : public TokenRows {
public:
  /// `most`: tokens that a row has room for.
  FakeTokenRows(const FakeNextToken &model, size_t rows, int64_t most)
      : texts(rows, model), positions(rows), most(most) {}

  int64_t rows() const override { return static_cast<int64_t>(texts.size()); }
  Session &session() override { std::abort(); }
  bool hasRoom(const NextToken::Place &place) const override {
    return place.isBegun && place.states.position < most;
  }
  Result<void> put(int64_t row, const NextToken::Place &place) override {
    positions[static_cast<size_t>(row)] = place.states.position;
    EXPECT_EQ(place.states.states.size(), 1u) << "this place has no states";
    return texts[static_cast<size_t>(row)].restore(place);
  }
  Result<NextToken::Place> save(int64_t row) override {
    return texts[static_cast<size_t>(row)].save();
  }
  Result<void> step(std::span<const std::optional<int32_t>> tokens, const Visit &visit) override {
    size_t together = 0;
    for (size_t row = 0; row < texts.size(); ++row) {
      FakeNextToken &text = texts[row];
      if (!tokens[row]) {
        text.restart();
        continue;
      }
      EXPECT_LT(positions[row]++, most) << "there was no room";
      ++together;
      auto done = text.take(*tokens[row], [&](size_t, std::span<const double> logits) {
        visit(static_cast<int64_t>(row), logits);
      });
      if (!done)
        return done;
    }
    ++steps;
    mostTogether = std::max(mostTogether, together);
    return {};
  }

  size_t steps = 0, mostTogether = 0;

private:
  std::vector<FakeNextToken> texts;
  std::vector<int64_t> positions;
  int64_t most;
};

/// With a count of the tokens that it has taken.
struct FakeLanguage {
  /// `history`: bytes that it looks back; `count` of rows, each with room for `most` tokens.
  explicit FakeLanguage(std::string text, size_t history = 10, size_t count = 0, int64_t most = 0)
      : model([&] {
          auto next = std::make_unique<FakeNextToken>(std::move(text), history, &taken);
          auto together = count ? std::make_unique<FakeTokenRows>(*next, count, most) : nullptr;
          rows = together.get();
          return LanguageModel(std::move(next), makeByteTokenizer(), "fake", std::move(together));
        }()) {}
  size_t taken = 0;
  FakeTokenRows *rows = nullptr;
  LanguageModel model;
};

} // namespace hybrid::rt
