//===- Tokenizer.cpp - text into token numbers and back ---------------------===//
#include "training/tokenizers/Tokenizer.h"
#include "training/tokenizers/Utf8.h"
#include <fmt/format.h>
#include <xxhash.h>

namespace hybrid::rt {

std::string Tokenizer::identity() const {
  std::string text = serialized();
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

int32_t Tokenizer::endOfText() const {
  for (std::string_view name : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<|im_end|>",
                                "[SEP]", "[EOS]", "<|eot_id|>"})
    for (const Special &special : specialTokens())
      if (special.text == name)
        return special.id;
  return -1;
}

Result<std::string> StreamDecoder::next(int32_t id) {
  // What a token gives can depend on those before it (a space is left out at the start). So one
  // earlier token that gave text stays in the window, and only what it does not explain is new.
  window.push_back(id);
  Result<std::string> before = tokenizer.decode(std::span(window).first(shown), options);
  Result<std::string> after = tokenizer.decode(window, options);
  if (!before || !after)
    return before ? after.error() : before.error();
  if (after->size() > before->size()) {
    if (after->starts_with(*before)) {
      held += after->substr(before->size());
      auto fresh = std::span<const int32_t>(window).subspan(shown);
      Result<std::string> alone = tokenizer.decode(fresh, options);
      if (shown > 0 && alone && !alone->empty())
        window.erase(window.begin(), window.begin() + static_cast<ptrdiff_t>(shown));
    }
    shown = window.size();
  }
  std::string text = held.substr(0, held.size() - utf8::incompleteTail(held));
  held.erase(0, text.size());
  return text;
}

std::string StreamDecoder::finish() {
  window.clear();
  shown = 0;
  return std::exchange(held, {});
}

} // namespace hybrid::rt
