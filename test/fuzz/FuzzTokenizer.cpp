//===- FuzzTokenizer.cpp - no bytes crash a tokenizer ----------------------===//
//
// The first line is a tokenizer.json, the rest a text for it. A tokenizer that encodes a text must
// decode what it gave, at once and token by token alike.
//
//===----------------------------------------------------------------------===//
#include "training/tokenizers/Tokenizer.h"
#include <algorithm>
#include <cstdlib>

using namespace hybrid::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view input(reinterpret_cast<const char *>(data), size);
  size_t line = std::min(input.find('\n'), input.size());
  auto tokenizer = tokenizerFromText(input.substr(0, line), "fuzz");
  if (!tokenizer)
    return 0;
  std::string_view text = input.substr(std::min(size, line + 1));
  std::vector<int32_t> ids;
  if (!(*tokenizer)->encode(text, {}, ids))
    return 0;
  ids.resize(std::min<size_t>(ids.size(), 256));
  StreamDecoder stream(**tokenizer);
  for (int32_t id : ids)
    (void)stream.next(id);
  (void)(*tokenizer)->decode(ids, {true, true});
  auto again = tokenizerFromText((*tokenizer)->serialized(), "again");
  if (!again || (*again)->identity() != (*tokenizer)->identity())
    std::abort();
  return 0;
}
