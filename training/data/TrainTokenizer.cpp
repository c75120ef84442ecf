//===- TrainTokenizer.cpp - a tokenizer learnt from data --------------------===//
#include "training/data/TrainTokenizer.h"
#include "training/data/Documents.h"

namespace hybrid::rt {

Result<TrainedTokenizer> trainTokenizer(std::span<const std::string> specs,
                                        const TrainBpeOptions &options) {
  auto trainer = BpeTrainer::create(options);
  if (!trainer)
    return trainer.error();
  TrainedTokenizer trained;
  for (const std::string &text : specs) {
    auto spec = DataSpec::parse(text);
    if (!spec)
      return spec.error();
    if (auto known = spec->allowOnly({"separator", "field"}); !known)
      return known.error();
    auto reader = openDocuments(*spec);
    if (!reader)
      return reader.error();
    for (DataDocument document;; ++trained.documents) {
      Result<bool> found = (*reader)->next(document);
      if (!found)
        return found.error();
      if (!*found)
        break;
      trained.bytes += document.text.size();
      if (auto added = (*trainer)->add(document.text); !added)
        return added.error();
    }
  }
  auto json = (*trainer)->train();
  if (!json)
    return json.error();
  trained.json = std::move(*json);
  return trained;
}

} // namespace hybrid::rt
