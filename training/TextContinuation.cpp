//===- TextContinuation.cpp - a text that grows token by token ------------------===//
#include "training/TextContinuation.h"

namespace hybrid::rt {

TextContinuation::TextContinuation(const Tokenizer &tokenizer, std::vector<int32_t> prompt,
                                   const ContinuationOptions &options)
    : options(options), end(tokenizer.endOfText()), all(std::move(prompt)), decoder(tokenizer),
      output(options.stop) {}

Result<TextContinuation> TextContinuation::begin(const Tokenizer &tokenizer,
                                                 std::vector<int32_t> prompt,
                                                 const ContinuationOptions &options) {
  TextContinuation text(tokenizer, std::move(prompt), options);
  for (int32_t token : text.all) // so that the first new token is read behind those before it
    if (auto read = text.decoder.next(token); !read)
      return read.error();
  return text;
}

Result<TextContinuation::Piece> TextContinuation::take(std::span<double> logits) {
  if (options.sampler.repetitionPenalty != 1)
    penaliseRepetition(logits, all, options.sampler.repetitionPenalty);
  Rng rng(options.seed, 0x67656e, static_cast<uint64_t>(count));
  const int32_t next = sampleToken(logits, options.sampler, rng);
  if (next == end && !options.goesPastEnd) {
    ended = true;
    return Piece();
  }
  all.push_back(next);
  ++count;
  auto text = decoder.next(next);
  if (!text)
    return text.error();
  return Piece{next, *text, output.add(*text)};
}

std::string TextContinuation::finish() { return output.add(decoder.finish()) + output.finish(); }

} // namespace hybrid::rt
