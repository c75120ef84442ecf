//===- DecodeLaw.h - what decoding gives is what the whole gives --------------===//
#pragma once
#include "runtime/Decoder.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace hybrid::test {

/// Relative, over all outputs of a position.
inline constexpr double decodeTolerance = 1e-9;

/// That the decoder of a session of a model compiled with --decode in f64 gives the first output of
/// `forward` at every position that it stops at: after some tokens at once, and after each one.
/// Tokens are drawn below `vocabulary`.
/// `shares`: whether it carries something that is one for all sequences.
inline void expectDecodingIsForward(rt::Session &session, int64_t vocabulary, bool shares = false) {
  const rt::ProgramInfo *forward = session.executable().findProgram("forward");
  ASSERT_TRUE(forward && forward->inputs.size() == 1);
  const rt::TensorInfo &input = forward->inputs[0];
  const int64_t rows = input.shape[0], length = input.shape[1];
  std::mt19937_64 engine(5);
  std::vector<int32_t> tokens(static_cast<size_t>(rows * length));
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(engine() % static_cast<uint64_t>(vocabulary));
  auto given = session.inputAs<int32_t>("forward", input.name);
  ASSERT_EQ(given.size(), tokens.size());
  std::copy(tokens.begin(), tokens.end(), given.begin());
  ASSERT_TRUE(session.run("forward"));
  auto outputs = session.outputAs<double>("forward", forward->outputs[0].name);
  const std::vector<double> expected(outputs.begin(), outputs.end());

  auto made = rt::Decoder::create(session);
  ASSERT_TRUE(made) << made.error().message;
  rt::Decoder &decoder = *made;
  const int64_t width = decoder.vocabulary();
  ASSERT_EQ(static_cast<int64_t>(expected.size()), rows * length * width);
  // What a row gives now is what `forward` gives for sequence `of` there.
  auto checkRow = [&](int64_t row, int64_t of) {
    std::vector<double> found(static_cast<size_t>(width));
    auto read = decoder.logits(row, found);
    ASSERT_TRUE(read) << read.error().message;
    const int64_t at = decoder.position(row) - 1;
    const double *whole = expected.data() + (of * length + at) * width;
    double difference = 0, norm = 0;
    for (int64_t c = 0; c < width; ++c) {
      const double d = found[static_cast<size_t>(c)] - whole[c];
      difference += d * d, norm += whole[c] * whole[c];
    }
    ASSERT_LE(std::sqrt(difference), decodeTolerance * std::sqrt(norm))
        << "row " << row << ", position " << at;
    ASSERT_GT(norm, 0) << "the output is zero: this tests nothing";
  };
  auto check = [&] {
    for (int64_t row = 0; row < rows; ++row)
      ASSERT_NO_FATAL_FAILURE(checkRow(row, row));
  };
  auto take = [&](int64_t count) {
    std::vector<int32_t> part;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < count; ++i)
        part.push_back(tokens[static_cast<size_t>(row * length + decoder.position() + i)]);
    auto done = decoder.take(part);
    ASSERT_TRUE(done) << done.error().message;
    check();
  };
  // From the start step by step; then from a place in it, at once and on.
  rt::Decoder::Place place;
  for (int64_t t = 0; t < length; ++t) {
    if (t == length / 4) {
      auto saved = decoder.save();
      ASSERT_TRUE(saved) << saved.error().message;
      place = *saved;
    }
    ASSERT_NO_FATAL_FAILURE(take(1)) << "step by step";
  }
  ASSERT_TRUE(decoder.restore(place));
  ASSERT_NO_FATAL_FAILURE(take(length - length / 4)) << "at once, from a place";
  ASSERT_TRUE(decoder.restart());
  ASSERT_NO_FATAL_FAILURE(take(length - 1)) << "at once";
  ASSERT_NO_FATAL_FAILURE(take(1)) << "and on";
  // Back by some tokens, wherever places were saved, and on; not farther than was asked for.
  ASSERT_TRUE(decoder.restart());
  ASSERT_NO_FATAL_FAILURE(take(2));
  ASSERT_TRUE(decoder.remember(length / 2));
  for (int64_t back : {int64_t(1), length / 4, length / 2, int64_t(0)}) {
    while (decoder.position() < length)
      ASSERT_NO_FATAL_FAILURE(take(1)) << "to go back by " << back;
    auto done = decoder.takeBack(back);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(decoder.position(), length - back);
    ASSERT_NO_FATAL_FAILURE(check()) << "back by " << back;
  }
  EXPECT_FALSE(decoder.takeBack(length));

  // Rows that begin one after another, stand still by turns and change places.
  ASSERT_EQ(decoder.areRowsIndependent(), !shares);
  ASSERT_TRUE(decoder.restart());
  if (shares) {
    auto refused = decoder.takeEach(std::vector<std::optional<int32_t>>(static_cast<size_t>(rows)));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("can only go side by side"), std::string::npos);
    return;
  }
  auto start = decoder.saveRow(0);
  ASSERT_TRUE(start) << start.error().message;
  std::vector<rt::Decoder::Place> places(static_cast<size_t>(rows), *start); // by sequence
  for (int64_t t = 0; t < length; ++t) {
    std::vector<std::optional<int32_t>> next(static_cast<size_t>(rows));
    auto sequenceIn = [&](int64_t row) { return (row + t) % rows; };
    auto goesOn = [&](int64_t sequence) {
      return t >= sequence && (sequence % 2 == 0 || t % 3 != 0);
    };
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t sequence = sequenceIn(row);
      const rt::Decoder::Place &place = places[static_cast<size_t>(sequence)];
      if (!goesOn(sequence))
        continue;
      ASSERT_TRUE(decoder.restoreRow(row, place));
      next[static_cast<size_t>(row)] =
          tokens[static_cast<size_t>(sequence * length + place.position)];
    }
    auto done = decoder.takeEach(next);
    ASSERT_TRUE(done) << done.error().message;
    for (int64_t row = 0; row < rows; ++row)
      if (const int64_t sequence = sequenceIn(row); goesOn(sequence)) {
        ASSERT_NO_FATAL_FAILURE(checkRow(row, sequence)) << "sequences at places of their own";
        auto saved = decoder.saveRow(row);
        ASSERT_TRUE(saved) << saved.error().message;
        places[static_cast<size_t>(sequence)] = *saved;
      }
  }
}

} // namespace hybrid::test
